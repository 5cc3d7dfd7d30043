// Queries: the read-only interface to the store. The wiring gives it its own store session.
#pragma once

#include <string>
#include <vector>

#include "breakwatch/core/plan.h"
#include "breakwatch/core/result.h"
#include "breakwatch/core/sweep.h"

namespace breakwatch::api {

// Thread: any; an implementation serialises. Error: kStore, or kNotFound for a named thing.
class Queries {
 public:
  virtual ~Queries() = default;
  virtual Result<std::vector<Sweep>> Sweeps(int limit) = 0;                           // newest first
  virtual Result<Sweep> FindSweep(const std::string& id) = 0;                         // or "latest"
  virtual Result<std::vector<ModelResult>> Results(const std::string& sweep_id) = 0;  // in plan order
  // The newest of each mode and toolchain, those of the primary toolchain first; empty for an unknown model.
  virtual Result<std::vector<ModelResult>> ResultsOf(const std::string& model) = 0;
};

}  // namespace breakwatch::api
