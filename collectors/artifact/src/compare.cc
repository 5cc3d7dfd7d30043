#include "compare.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "breakwatch/core/text.h"

namespace breakwatch::artifact {
namespace {

template <class T>
T Load(std::string_view bytes, std::size_t index) {
  T value;
  std::memcpy(&value, bytes.data() + index * sizeof(T), sizeof(T));
  return value;
}

double FromHalf(std::uint16_t bits) {
  const int exponent = bits >> 10 & 0x1f, fraction = bits & 0x3ff;
  const double sign = bits >> 15 != 0 ? -1.0 : 1.0;
  if (exponent == 0x1f) return fraction == 0 ? sign * INFINITY : NAN;
  return exponent == 0 ? sign * std::ldexp(fraction, -24) : sign * std::ldexp(fraction + 1024, exponent - 25);
}

// Each floating-point format: its bits, and their value.
struct Double {
  using Bits = std::uint64_t;
  static double Value(Bits bits) { return std::bit_cast<double>(bits); }
};
struct Single {
  using Bits = std::uint32_t;
  static double Value(Bits bits) { return std::bit_cast<float>(bits); }
};
struct Brain {
  using Bits = std::uint16_t;
  static double Value(Bits bits) { return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16); }
};
struct Half {
  using Bits = std::uint16_t;
  static double Value(Bits bits) { return FromHalf(bits); }
};

// The place of a number among all numbers of its format, so that neighbours differ by one; both zeros are at 0.
template <class Bits>
std::int64_t Place(Bits bits) {
  constexpr Bits kSign = Bits{1} << (8 * sizeof(Bits) - 1);
  const auto magnitude = static_cast<std::int64_t>(bits & static_cast<Bits>(~kSign));
  return (bits & kSign) != 0 ? -magnitude : magnitude;
}

std::uint64_t Distance(std::int64_t a, std::int64_t b) {
  return a > b ? static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b)
               : static_cast<std::uint64_t>(b) - static_cast<std::uint64_t>(a);
}

std::vector<std::int64_t> Indices(std::size_t flat, const std::vector<std::int64_t>& shape) {
  std::vector<std::int64_t> indices(shape.size());
  for (std::size_t i = shape.size(); i-- > 0;) {
    indices[i] = static_cast<std::int64_t>(flat % static_cast<std::size_t>(shape[i]));
    flat /= static_cast<std::size_t>(shape[i]);
  }
  return indices;
}

// Collects the differences of one output, element by element.
class Differences {
 public:
  explicit Differences(const Tolerance& tolerance) : tolerance_(tolerance) {}

  void Add(std::size_t index, double expected, double actual, std::uint64_t ulp) {
    if (std::isnan(expected) || std::isnan(actual)) {
      const bool equal = std::isnan(expected) == std::isnan(actual);
      nan_equal_ = nan_equal_ && equal;
      return Judge(index, equal ? 0.0 : INFINITY);
    }
    max_ulp_ = std::max(max_ulp_, ulp);
    // Equal infinities do not differ.
    AddNumbers(index, expected, actual, expected == actual ? 0.0 : std::fabs(actual - expected));
  }

  // `abs` is the difference, which is exact where the two numbers were rounded.
  void AddNumbers(std::size_t index, double expected, double actual, double abs) {
    max_abs_ = std::fmax(max_abs_, abs);
    if (abs != 0) max_rel_ = std::fmax(max_rel_, expected == 0 ? INFINITY : abs / std::fabs(expected));
    dot_ += expected * actual, expected_2_ += expected * expected, actual_2_ += actual * actual;
    if (abs == 0) return;
    const double allowed = tolerance_.atol + tolerance_.rtol * std::fabs(expected);
    const bool finite = std::isfinite(abs) && std::isfinite(allowed);
    Judge(index, finite && allowed > 0 ? abs / allowed : INFINITY);
  }

  Comparison Found(const std::vector<std::int64_t>& shape, bool floating) const {
    Comparison found;
    found.within = worst_ <= 1.0;
    found.nan_positions_equal = nan_equal_;
    if (std::isfinite(max_abs_)) found.max_abs = max_abs_;
    if (std::isfinite(max_rel_)) found.max_rel = max_rel_;
    if (floating) found.max_ulp = max_ulp_;
    const double cosine = dot_ / std::sqrt(expected_2_) / std::sqrt(actual_2_);
    if (std::isfinite(cosine)) found.cosine = std::fmin(1.0, cosine);
    if (worst_ > 0) found.worst = Indices(worst_index_, shape);
    return found;
  }

 private:
  // `badness`: the difference as a part of the allowed one.
  void Judge(std::size_t index, double badness) {
    if (badness > worst_) worst_ = badness, worst_index_ = index;
  }

  const Tolerance tolerance_;
  double max_abs_ = 0, max_rel_ = 0, dot_ = 0, expected_2_ = 0, actual_2_ = 0, worst_ = 0;
  std::uint64_t max_ulp_ = 0;
  std::size_t worst_index_ = 0;
  bool nan_equal_ = true;
};

template <class Format>
void AddFloats(std::string_view expected, std::string_view actual, Differences* differences) {
  using Bits = typename Format::Bits;
  for (std::size_t i = 0; i < expected.size() / sizeof(Bits); ++i) {
    const auto a = Load<Bits>(expected, i), b = Load<Bits>(actual, i);
    differences->Add(i, Format::Value(a), Format::Value(b), Distance(Place(a), Place(b)));
  }
}

// Integers of 64 bits are compared before they become doubles, which would round them.
template <class T>
void AddIntegers(std::string_view expected, std::string_view actual, Differences* differences) {
  for (std::size_t i = 0; i < expected.size() / sizeof(T); ++i) {
    const T a = Load<T>(expected, i), b = Load<T>(actual, i);
    const auto x = static_cast<double>(a), y = static_cast<double>(b);
    differences->AddNumbers(i, x, y, a == b ? 0.0 : std::fmax(1.0, std::fabs(x - y)));
  }
}

using AddAll = void (*)(std::string_view, std::string_view, Differences*);
struct Adder {
  std::string_view dtype;
  AddAll add;
};
constexpr Adder kAdders[] = {
    {"F64", AddFloats<Double>},          {"F32", AddFloats<Single>},          {"F16", AddFloats<Half>},
    {"BF16", AddFloats<Brain>},          {"C64", AddFloats<Single>},          {"I64", AddIntegers<std::int64_t>},
    {"I32", AddIntegers<std::int32_t>},  {"I16", AddIntegers<std::int16_t>},  {"I8", AddIntegers<std::int8_t>},
    {"U64", AddIntegers<std::uint64_t>}, {"U32", AddIntegers<std::uint32_t>}, {"U16", AddIntegers<std::uint16_t>},
    {"U8", AddIntegers<std::uint8_t>},   {"BOOL", AddIntegers<std::uint8_t>},
};

std::string ShapeText(const TensorBytes& tensor) {
  std::string text(tensor.dtype->torch_name);
  text += " [";
  for (std::size_t i = 0; i < tensor.shape.size(); ++i) text += (i == 0 ? "" : ", ") + std::to_string(tensor.shape[i]);
  return text + "]";
}

}  // namespace

Comparison Compare(const TensorBytes& expected, const TensorBytes& actual, const Tolerance& tolerance) {
  if (expected.dtype != actual.dtype || expected.shape != actual.shape) {
    Comparison other;
    other.why = "it is " + ShapeText(actual) + " instead of " + ShapeText(expected);
    return other;
  }
  const NumberKind kind = expected.dtype->kind;
  const bool floating = kind == NumberKind::kFloat || kind == NumberKind::kComplex;
  Differences differences(floating ? tolerance : Tolerance{});
  for (const Adder& adder : kAdders) {
    if (adder.dtype == expected.dtype->file_name) adder.add(expected.bytes, actual.bytes, &differences);
  }
  std::vector<std::int64_t> shape = expected.shape;
  if (kind == NumberKind::kComplex) shape.push_back(2);  // real and imaginary part
  Comparison found = differences.Found(shape, floating);
  if (!found.nan_positions_equal) {
    found.why = "NaN in other places";
  } else if (!found.within) {
    found.why = floating ? "a difference above the tolerance" : "elements that are not equal";
  }
  return found;
}

}  // namespace breakwatch::artifact
