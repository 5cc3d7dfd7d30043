#include "safetensors.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <nlohmann/json.hpp>

#include "breakwatch/core/json.h"
#include "breakwatch/core/text.h"

namespace breakwatch::artifact {
namespace {

using nlohmann::json;

constexpr std::size_t kLengthBytes = 8;
constexpr std::uint64_t kMostHeaderBytes = 16u << 20;
constexpr std::size_t kMostFileBytes = 1ull << 40;
constexpr std::size_t kMostTensors = 65'536, kMostDimensions = 64, kNameBytes = 200;
constexpr int kDepth = 4;  // the object, a tensor, its shape

static_assert(std::endian::native == std::endian::little, "the format is little-endian, as the elements in memory");

Error Invalid(const std::string& what) { return {ErrorCode::kInvalid, "not a safetensors file: " + what}; }

struct Placed {
  NamedTensor tensor;
  std::uint64_t begin = 0, end = 0;
};

// The bytes of all elements; nullopt beyond 2^63.
std::optional<std::uint64_t> ByteCount(const TensorBytes& tensor) {
  std::uint64_t count = tensor.dtype->bytes;
  for (const std::int64_t size : tensor.shape) {
    if (__builtin_mul_overflow(count, static_cast<std::uint64_t>(size), &count) || count >> 63 != 0)
      return std::nullopt;
  }
  return count;
}

bool IsCount(const json& value) { return value.is_number_unsigned() && value.get<std::uint64_t>() >> 63 == 0; }

bool AreCounts(const json& value, std::size_t most) {
  return value.is_array() && value.size() <= most && std::all_of(value.begin(), value.end(), IsCount);
}

Result<Placed> ReadEntry(const std::string& name, const json& entry) {
  const std::string label = "tensor " + ShortLine(name, kNameBytes);
  if (!entry.is_object() || entry.size() != 3 || !entry.contains("dtype") || !entry["dtype"].is_string() ||
      !entry.contains("shape") || !AreCounts(entry["shape"], kMostDimensions) || !entry.contains("data_offsets") ||
      !AreCounts(entry["data_offsets"], 2) || entry["data_offsets"].size() != 2) {
    return Invalid(label + " has no dtype, shape and data_offsets");
  }
  Placed placed{{name, {}}, entry["data_offsets"][0], entry["data_offsets"][1]};
  TensorBytes& tensor = placed.tensor.tensor;
  const auto& dtype = entry["dtype"].get_ref<const std::string&>();
  tensor.dtype = DTypeOfFile(dtype);
  if (tensor.dtype == nullptr) return Invalid(label + " has the unknown dtype " + ShortLine(dtype, kNameBytes));
  tensor.shape = entry["shape"].get<std::vector<std::int64_t>>();
  const auto wanted = ByteCount(tensor);
  if (placed.end < placed.begin || !wanted || placed.end - placed.begin != *wanted) {
    return Invalid(label + " does not have the bytes of its shape");
  }
  return placed;
}

// Sets the bytes of each tensor. Together they must be the whole of `data`.
Result<void> PlaceAll(std::vector<Placed>* placed, std::string_view data) {
  std::stable_sort(placed->begin(), placed->end(), [](const Placed& a, const Placed& b) {
    return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
  });
  std::uint64_t at = 0;
  for (Placed& item : *placed) {
    if (item.begin != at || item.end > data.size()) {
      return Invalid("tensor " + ShortLine(item.tensor.name, kNameBytes) + " is not where the one before it ends");
    }
    item.tensor.tensor.bytes = data.substr(item.begin, item.end - item.begin);
    at = item.end;
  }
  if (at != data.size()) return Invalid(std::to_string(data.size() - at) + " bytes after the last tensor");
  return {};
}

std::string NameAt(std::size_t index) {
  std::string digits = std::to_string(index);
  return std::string(4 - std::min<std::size_t>(4, digits.size()), '0') + digits;
}

}  // namespace

Result<std::vector<NamedTensor>> ParseSafetensors(std::string_view file) {
  if (file.size() < kLengthBytes) return Invalid("it is shorter than 8 bytes");
  std::uint64_t header_bytes = 0;
  std::memcpy(&header_bytes, file.data(), kLengthBytes);
  if (header_bytes > std::min<std::uint64_t>(kMostHeaderBytes, file.size() - kLengthBytes)) {
    return Invalid("its header has " + std::to_string(header_bytes) + " bytes");
  }
  const std::string_view header = file.substr(kLengthBytes, header_bytes);
  if (auto checked = CheckJson(header, kMostHeaderBytes, kDepth); !checked) return checked.error().Within("header");
  const json entries = json::parse(header, nullptr, false);
  if (!entries.is_object()) return Invalid("its header is not an object");
  if (entries.size() > kMostTensors) return Invalid("more than 65,536 tensors");
  std::vector<Placed> placed;
  for (const auto& [name, entry] : entries.items()) {
    if (name == "__metadata__") continue;
    auto read = ReadEntry(name, entry);
    if (!read) return read.error();
    placed.push_back(*std::move(read));
  }
  if (auto all = PlaceAll(&placed, file.substr(kLengthBytes + header_bytes)); !all) return all.error();
  std::vector<NamedTensor> tensors;
  for (Placed& item : placed) tensors.push_back(std::move(item.tensor));
  std::sort(tensors.begin(), tensors.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  return tensors;
}

Result<TensorFile> TensorFile::Open(const std::string& path) {
  auto mapped = MappedFile::Open(path, kMostFileBytes);
  if (!mapped) return mapped.error();
  TensorFile file(*std::move(mapped));
  auto tensors = ParseSafetensors(file.file_.bytes());
  if (!tensors) return tensors.error().Within(path);
  for (std::size_t i = 0; i < tensors->size(); ++i) {
    if ((*tensors)[i].name != NameAt(i)) {
      return Error{ErrorCode::kInvalid, path + ": tensor " + ShortLine((*tensors)[i].name, kNameBytes) +
                                            " instead of " + NameAt(i) + ": the names must be positions"};
    }
    file.tensors_.push_back(std::move((*tensors)[i].tensor));
  }
  return file;
}

}  // namespace breakwatch::artifact
