// ProgressListener: what a sweep tells whoever watches it. Called on the loop thread; must not block.
#pragma once

#include <cstddef>
#include <string_view>

#include "breakwatch/core/plan.h"
#include "breakwatch/core/result.h"
#include "breakwatch/core/sweep.h"

namespace breakwatch {

class ProgressListener {
 public:
  virtual ~ProgressListener() = default;
  virtual void OnListing(int resolved, int total) { (void)resolved, (void)total; }
  virtual void OnPlan(const Plan& plan, std::size_t already_done) { (void)plan, (void)already_done; }
  virtual void OnStarted(std::string_view model) { (void)model; }
  virtual void OnResult(const ModelResult& result, std::size_t done, std::size_t total) { (void)result, (void)done, (void)total; }
  virtual void OnFinished(const Sweep& sweep) { (void)sweep; }
  virtual void OnFailed(const Error& error) { (void)error; }  // the sweep ended without finishing
};

}  // namespace breakwatch
