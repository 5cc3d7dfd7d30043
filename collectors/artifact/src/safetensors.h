// Reads safetensors files: a length, a JSON header with the place of each tensor, and their bytes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "breakwatch/core/result.h"
#include "dtype.h"
#include "mapped_file.h"

namespace breakwatch::artifact {

struct TensorBytes {
  const DType* dtype = nullptr;
  std::vector<std::int64_t> shape;
  std::string_view bytes;  // of all elements, in the order of the last dimension first; owned by the file or the model
};

struct NamedTensor {
  std::string name;
  TensorBytes tensor;
};

// The tensors by name. Pure: it reads `file` only. Error: kInvalid for any header that does not describe every byte of
// the file exactly once.
Result<std::vector<NamedTensor>> ParseSafetensors(std::string_view file);

// The tensors of a file whose names are "0000", "0001", ...: arguments or outputs in flat order.
class TensorFile {
 public:
  static Result<TensorFile> Open(const std::string& path);

  const std::vector<TensorBytes>& tensors() const { return tensors_; }  // they refer to this object

 private:
  explicit TensorFile(MappedFile file) : file_(std::move(file)) {}

  MappedFile file_;
  std::vector<TensorBytes> tensors_;
};

}  // namespace breakwatch::artifact
