// The element types of tensors in a package, by their names in safetensors files and in torch.
#pragma once

#include <cstddef>
#include <string_view>

namespace breakwatch::artifact {

enum class NumberKind { kFloat, kSigned, kUnsigned, kBool, kComplex };

struct DType {
  std::string_view file_name;   // "F32"
  std::string_view torch_name;  // "float32"
  std::size_t bytes;            // of one element
  NumberKind kind;
};

// nullptr for a name that no package uses.
const DType* DTypeOfFile(std::string_view file_name);
const DType* DTypeOfTorch(std::string_view torch_name);

}  // namespace breakwatch::artifact
