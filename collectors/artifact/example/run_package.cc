// Loads a package of BERT and runs it: run_package package.pt2. Needs libtorch, and no Python.
#include <ATen/ATen.h>
#include <torch/csrc/inductor/aoti_package/model_package_loader.h>

#include <cstdio>

int main(int argc, char** argv) try {
  if (argc != 2) {
    std::fputs("usage: run_package package.pt2\n", stderr);
    return 64;
  }
  const c10::InferenceMode no_gradients;
  torch::inductor::AOTIModelPackageLoader package(argv[1]);

  // The inputs in the order of manifest.json: input_ids and attention_mask, a batch of two texts with 16 tokens.
  const at::Tensor input_ids = at::arange(32, at::kLong).reshape({2, 16});
  const at::Tensor attention_mask = at::ones({2, 16}, at::kLong);
  const std::vector<at::Tensor> outputs = package.run({input_ids, attention_mask});

  // The outputs in the order of manifest.json: of BertForMaskedLM, the logits.
  for (const at::Tensor& output : outputs) {
    std::printf("%s %.6f\n", c10::str(output.sizes()).c_str(), output.abs().mean().item<double>());
  }
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
