#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <torch/csrc/inductor/aoti_package/model_package_loader.h>
#include <torch/csrc/jit/serialization/import.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "breakwatch/core/text.h"
#include "model.h"

namespace breakwatch::artifact {
namespace {

constexpr std::size_t kErrorBytes = 1000;

constexpr std::pair<std::string_view, at::ScalarType> kScalarTypes[] = {
    {"F64", at::kDouble}, {"F32", at::kFloat}, {"F16", at::kHalf},  {"BF16", at::kBFloat16},    {"I64", at::kLong},
    {"I32", at::kInt},    {"I16", at::kShort}, {"I8", at::kChar},   {"U64", at::kUInt64},       {"U32", at::kUInt32},
    {"U16", at::kUInt16}, {"U8", at::kByte},   {"BOOL", at::kBool}, {"C64", at::kComplexFloat},
};

// One line. Errors of a TorchScript program end in the reason, below the program's stack.
std::string_view ReasonOf(std::string_view text) {
  while (!text.empty() && text.back() == '\n') text.remove_suffix(1);
  const bool script = text.starts_with("The following operation failed in the TorchScript interpreter");
  return script ? text.substr(text.rfind('\n') + 1) : FirstLine(text);
}

// Runs `call`, which may throw anything that torch and the package's code throw.
template <class Call>
auto Guarded(const std::string& what, Call call) -> decltype(call()) {
  const auto failed = [&](std::string_view text) {
    return Error{ErrorCode::kInvalid, what + ": " + ShortLine(ReasonOf(text), kErrorBytes)};
  };
  try {
    return call();
  } catch (const c10::Error& error) {
    return failed(error.what_without_backtrace());
  } catch (const std::exception& error) {
    return failed(error.what());
  } catch (...) {
    return failed("an exception of unknown type");
  }
}

at::Tensor Copied(const TensorBytes& from) {
  const auto* found = std::find_if(std::begin(kScalarTypes), std::end(kScalarTypes),
                                   [&](const auto& entry) { return entry.first == from.dtype->file_name; });
  at::Tensor tensor = at::empty(from.shape, at::TensorOptions().dtype(found->second));
  if (!from.bytes.empty()) std::memcpy(tensor.data_ptr(), from.bytes.data(), from.bytes.size());
  return tensor;
}

Result<TensorBytes> Described(const at::Tensor& tensor) {
  const auto* found = std::find_if(std::begin(kScalarTypes), std::end(kScalarTypes),
                                   [&](const auto& entry) { return entry.second == tensor.scalar_type(); });
  if (found == std::end(kScalarTypes)) {
    return Error{ErrorCode::kInvalid,
                 std::string("an output has the unsupported type ") + at::toString(tensor.scalar_type())};
  }
  return TensorBytes{DTypeOfFile(found->first),
                     tensor.sizes().vec(),
                     {static_cast<const char*>(tensor.const_data_ptr()), tensor.nbytes()}};
}

class TorchModel : public Model {
 public:
  Result<void> SetInputs(const std::vector<TensorBytes>& inputs) override {
    return Guarded("inputs", [&]() -> Result<void> {
      inputs_.clear();
      for (const TensorBytes& input : inputs) inputs_.push_back(Copied(input));
      return {};
    });
  }

  Result<void> Run() override {
    return Guarded("run", [&]() -> Result<void> {
      const at::NoGradGuard no_grad;
      outputs_ = Call(inputs_);
      return {};
    });
  }

  Result<std::vector<TensorBytes>> Outputs() override {
    return Guarded("outputs", [&]() -> Result<std::vector<TensorBytes>> {
      std::vector<TensorBytes> described;
      for (at::Tensor& output : outputs_) {
        output = output.contiguous();
        auto one = Described(output);
        if (!one) return one.error();
        described.push_back(*std::move(one));
      }
      return described;
    });
  }

 private:
  virtual std::vector<at::Tensor> Call(const std::vector<at::Tensor>& inputs) = 0;

  std::vector<at::Tensor> inputs_, outputs_;
};

class CompiledModel : public TorchModel {
 public:
  explicit CompiledModel(const std::string& file) : loader_(file) {}

 private:
  std::vector<at::Tensor> Call(const std::vector<at::Tensor>& inputs) override { return loader_.run(inputs); }

  torch::inductor::AOTIModelPackageLoader loader_;
};

void AppendTensors(const c10::IValue& value, std::vector<at::Tensor>* out) {
  if (value.isTensor()) {
    out->push_back(value.toTensor());
  } else if (value.isTuple()) {
    for (const c10::IValue& item : value.toTupleRef().elements()) AppendTensors(item, out);
  } else if (value.isList()) {
    for (const c10::IValue& item : value.toListRef()) AppendTensors(item, out);
  } else if (value.isGenericDict()) {
    for (const auto& item : value.toGenericDict()) AppendTensors(item.value(), out);
  }
}

class ScriptModel : public TorchModel {
 public:
  explicit ScriptModel(const std::string& file) : module_(torch::jit::load(file, at::kCPU)) { module_.eval(); }

 private:
  std::vector<at::Tensor> Call(const std::vector<at::Tensor>& inputs) override {
    std::vector<at::Tensor> outputs;
    AppendTensors(module_.forward({inputs.begin(), inputs.end()}), &outputs);
    return outputs;
  }

  torch::jit::Module module_;
};

}  // namespace

Result<std::unique_ptr<Model>> LoadModel(ModelFormat format, const std::string& file) {
  return Guarded(file, [&]() -> Result<std::unique_ptr<Model>> {
    if (format == ModelFormat::kTorchScript) return std::unique_ptr<Model>(std::make_unique<ScriptModel>(file));
    return std::unique_ptr<Model>(std::make_unique<CompiledModel>(file));
  });
}

void SetUp(const Computing& computing) {
  at::globalContext().setFlushDenormal(computing.flush_denormals);
  at::set_num_threads(computing.threads);
}

}  // namespace breakwatch::artifact
