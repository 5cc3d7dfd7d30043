// Model: a package that was loaded with libtorch. The implementations are the only users of torch's headers.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "breakwatch/core/result.h"
#include "safetensors.h"

namespace breakwatch::artifact {

// Owner and thread: the caller of Load. What torch throws becomes an error, kInvalid with its first line.
class Model {
 public:
  virtual ~Model() = default;

  // Copies them. They are the inputs of each following run.
  virtual Result<void> SetInputs(const std::vector<TensorBytes>& inputs) = 0;
  virtual Result<void> Run() = 0;
  // The outputs of the last run in flat order, valid until the next.
  virtual Result<std::vector<TensorBytes>> Outputs() = 0;
};

enum class ModelFormat { kAotInductor, kTorchScript };

// Reads the whole file; an AOTInductor package is unpacked below $TMPDIR.
Result<std::unique_ptr<Model>> LoadModel(ModelFormat format, const std::string& file);

struct Computing {
  int threads = 1;               // of operators and of compiled code; the process has one number for both
  bool flush_denormals = false;  // to zero, in all of these threads
};

// Before anything is computed: further threads take over the mode of the one that starts them.
void SetUp(const Computing& computing);

}  // namespace breakwatch::artifact
