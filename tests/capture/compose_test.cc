#include "breakwatch/capture/compose.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <set>

namespace breakwatch::capture {
namespace {

namespace fs = std::filesystem;

class ComposeTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("breakwatch-compose-" + std::to_string(getpid()));
    fs::remove_all(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  // An environment with packages of these versions.
  std::string Environment(const std::string& name, const std::string& torch, const std::string& transformers,
                          const std::string& python = "python3.11") {
    const fs::path site = folder_ / name / "lib" / python / "site-packages";
    for (const std::string& entry : {"torch-" + torch + ".dist-info", std::string("torch"), std::string("nvidia"),
                                     "transformers-" + transformers + ".dist-info", std::string("transformers"),
                                     std::string("numpy"), std::string("__pycache__")}) {
      fs::create_directories(site / entry);
      std::ofstream(site / entry / "of") << name;
    }
    fs::create_directories(folder_ / name / "bin");
    std::ofstream(folder_ / name / "bin" / "python") << "#!/bin/sh\n";
    std::ofstream(folder_ / name / "pyvenv.cfg") << "home = /usr/bin\n";
    return (folder_ / name).string();
  }
  std::set<std::string> Entries(const fs::path& site) {
    std::set<std::string> names;
    for (const auto& entry : fs::directory_iterator(site)) names.insert(entry.path().filename());
    return names;
  }
  std::string Text(const fs::path& path) {
    std::ifstream file(path);
    std::string text;
    std::getline(file, text);
    return text;
  }

  fs::path folder_;
};

TEST_F(ComposeTest, TakesTorchFromOneAndTheRestFromTheOther) {
  const std::string old = Environment("old", "2.13.0", "5.8.0"), latest = Environment("new", "2.15.0", "5.23.0");
  const fs::path mixed = folder_ / "made" / "mixed";
  const auto made = ComposeToolchain(old, latest, mixed);
  ASSERT_TRUE(made) << made.error().message;
  const fs::path site = mixed / "lib/python3.11/site-packages";
  EXPECT_EQ(Entries(site), (std::set<std::string>{"torch-2.13.0.dist-info", "torch", "nvidia", "numpy",
                                                  "transformers-5.23.0.dist-info", "transformers"}));
  EXPECT_EQ(Text(site / "torch/of"), "old");
  EXPECT_EQ(Text(site / "nvidia/of"), "old");
  EXPECT_EQ(Text(site / "numpy/of"), "new");
  EXPECT_EQ(Text(mixed / "bin/python"), "#!/bin/sh");
  EXPECT_EQ(Text(mixed / "pyvenv.cfg"), "home = /usr/bin");
  EXPECT_EQ(ComposedOf(mixed), (std::vector<std::string>{old, latest}));
  EXPECT_TRUE(ComposedOf(old).empty());
}

TEST_F(ComposeTest, ReplacesWhatWasMadeBefore) {
  const std::string old = Environment("old", "2.13.0", "5.8.0"), latest = Environment("new", "2.15.0", "5.23.0");
  const fs::path mixed = folder_ / "mixed";
  ASSERT_TRUE(ComposeToolchain(old, latest, mixed));
  ASSERT_TRUE(ComposeToolchain(latest, old, mixed));
  EXPECT_TRUE(fs::exists(mixed / "lib/python3.11/site-packages/torch-2.15.0.dist-info"));
  EXPECT_FALSE(fs::exists(mixed / "lib/python3.11/site-packages/torch-2.13.0.dist-info"));
  EXPECT_TRUE(fs::exists(fs::path(old) / "lib/python3.11/site-packages/torch/of")) << "the sources stay";
}

TEST_F(ComposeTest, ReportsWhyTwoToolchainsCannotBeCombined) {
  const std::string old = Environment("old", "2.13.0", "5.8.0");
  const std::string other = Environment("other", "2.15.0", "5.23.0", "python3.12");
  const auto python = ComposeToolchain(old, other, folder_ / "mixed");
  ASSERT_FALSE(python);
  EXPECT_NE(python.error().message.find("python3.12"), std::string::npos);
  EXPECT_EQ(ComposeToolchain(old, folder_ / "none", folder_ / "mixed").error().code, ErrorCode::kNotFound);
  EXPECT_FALSE(fs::exists(folder_ / "mixed"));
}

TEST(BelongsToTorchTest, KnowsWhatIsBuiltAgainstTorch) {
  for (const char* entry : {"torch", "torch-2.15.0.dist-info", "torchvision.libs", "nvidia_nccl_cu13-2.30.dist-info",
                            "triton", "timm-1.0.31.dist-info", "sympy", "isympy.py", "cuda_bindings-13.5.dist-info"}) {
    EXPECT_TRUE(BelongsToTorch(entry)) << entry;
  }
  for (const char* entry : {"transformers", "transformers-5.23.0.dist-info", "numpy.libs", "torchlike", "PIL",
                            "tokenizers", "distutils-precedence.pth", "_yaml"}) {
    EXPECT_FALSE(BelongsToTorch(entry)) << entry;
  }
}

}  // namespace
}  // namespace breakwatch::capture
