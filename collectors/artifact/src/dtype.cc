#include "dtype.h"

#include <algorithm>
#include <iterator>

namespace breakwatch::artifact {
namespace {

constexpr DType kTypes[] = {
    {"F64", "float64", 8, NumberKind::kFloat},   {"F32", "float32", 4, NumberKind::kFloat},
    {"F16", "float16", 2, NumberKind::kFloat},   {"BF16", "bfloat16", 2, NumberKind::kFloat},
    {"I64", "int64", 8, NumberKind::kSigned},    {"I32", "int32", 4, NumberKind::kSigned},
    {"I16", "int16", 2, NumberKind::kSigned},    {"I8", "int8", 1, NumberKind::kSigned},
    {"U64", "uint64", 8, NumberKind::kUnsigned}, {"U32", "uint32", 4, NumberKind::kUnsigned},
    {"U16", "uint16", 2, NumberKind::kUnsigned}, {"U8", "uint8", 1, NumberKind::kUnsigned},
    {"BOOL", "bool", 1, NumberKind::kBool},      {"C64", "complex64", 8, NumberKind::kComplex},
};

const DType* Find(std::string_view name, std::string_view DType::*field) {
  const auto found =
      std::find_if(std::begin(kTypes), std::end(kTypes), [&](const DType& type) { return type.*field == name; });
  return found == std::end(kTypes) ? nullptr : found;
}

}  // namespace

const DType* DTypeOfFile(std::string_view file_name) { return Find(file_name, &DType::file_name); }
const DType* DTypeOfTorch(std::string_view torch_name) { return Find(torch_name, &DType::torch_name); }

}  // namespace breakwatch::artifact
