#include <gmock/gmock.h>

#include <set>

#include "pip_steps.h"
#include "pip_words.h"

namespace breakwatch::capture {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Words = std::vector<std::string>;

// As a lock file is: versions, markers, hashes on lines below.
constexpr const char* kLock =
    "numpy==2.3.5 \\\n    --hash=sha256:aa\n"
    "nvidia-cublas==13.0 ; sys_platform == 'linux' \\\n    --hash=sha256:bb \\\n    --hash=sha256:cc\n"
    "torch==2.15.0 \\\n    --hash=sha256:dd\n    # via -r requirements.in\n"
    "torchvision==0.30.0 \\\n    --hash=sha256:ee\n"
    "triton==3.9.0 \\\n    --hash=sha256:ff\n";

EnvironmentRecipe Locked() {
  EnvironmentRecipe recipe;
  recipe.target = "/opt/t";
  recipe.python = "/usr/bin/python3";
  recipe.lock = "/opt/requirements.lock";
  return recipe;
}

TEST(PipPlanOf, InstallsTheLockFileWithItsHashesAndNothingElse) {
  const PipPlan plan = PipPlanOf(Locked(), kLock, "/opt/t-1");
  EXPECT_THAT(plan.steps, ElementsAre(Words{"--require-hashes", "-r", "/opt/requirements.lock"}));
  EXPECT_EQ(plan.rest_of_lock, "");
}

TEST(PipPlanOf, TakesTorchFromAnotherIndexAndTheRestWithHashes) {
  EnvironmentRecipe recipe = Locked();
  recipe.torch_index = "https://packages.example/cpu";
  const PipPlan plan = PipPlanOf(recipe, kLock, "/opt/t-1");
  EXPECT_THAT(plan.steps, ElementsAre(Words{"--index-url=https://packages.example/cpu", "--no-deps", "torch==2.15.0",
                                            "torchvision==0.30.0"},
                                      Words{"--no-deps", "--require-hashes", "-r", "/opt/t-1/lock.txt"}));
  EXPECT_EQ(plan.rest_of_lock, "numpy==2.3.5 \\\n    --hash=sha256:aa\n");
}

TEST(PipPlanOf, InstallsAPairOfVersionsAsPipResolvesIt) {
  EnvironmentRecipe recipe = Locked();
  recipe.torch = "2.13.0", recipe.transformers = "5.8.0", recipe.packages = {"scipy", "numpy<2.3"};
  EXPECT_THAT(PipPlanOf(recipe, "", "/opt/t-1").steps,
              ElementsAre(Words{"torch==2.13.0", "transformers==5.8.0", "scipy", "numpy<2.3"}));
}

TEST(KeyText, DiffersForEveryPartOfARecipe) {
  std::vector<EnvironmentRecipe> recipes(6, Locked());
  recipes[1].torch_index = "https://packages.example/cpu";
  recipes[2].python = "/usr/bin/python3.13";
  recipes[3].torch = "2.13.0", recipes[3].transformers = "5.8.0";
  recipes[4] = recipes[3], recipes[4].packages = {"scipy"};
  recipes[5] = recipes[3], recipes[5].transformers = "5.9.0";
  std::set<std::string> keys;
  for (const EnvironmentRecipe& recipe : recipes) keys.insert(KeyText(recipe, kLock));
  EXPECT_EQ(keys.size(), recipes.size());
}

TEST(RequirementsIn, AreTheLinesThatBeginOne) {
  EXPECT_THAT(RequirementsIn(kLock), ElementsAre("numpy==2.3.5", "nvidia-cublas==13.0", "torch==2.15.0",
                                                 "torchvision==0.30.0", "triton==3.9.0"));
  EXPECT_TRUE(RequirementsIn("").empty());
}

TEST(PipWords, CountsPackagesAndKnowsTheSizeOfTheFileThatIsDownloaded) {
  PipWords words;
  for (const char* line : {"Looking in indexes: https://packages.example", "Collecting torch==2.15.0",
                           "  Downloading https://packages.example/torch-2.15.0-cp311.whl (915.7 MB)"}) {
    words.Read(line);
  }
  EXPECT_EQ(words.collected(), 1u);
  EXPECT_EQ(words.package(), "torch-2.15.0-cp311.whl");
  EXPECT_EQ(words.file_bytes(), 915'700'000);
  words.Read("Collecting sympy>=1.13");
  EXPECT_EQ(words.package(), "sympy");
  EXPECT_EQ(words.file_bytes(), 0);
  EXPECT_FALSE(words.installs());
  words.Read("Installing collected packages: torch, sympy");
  EXPECT_TRUE(words.installs());
}

TEST(PipWords, KeepsLittleOfALongOrBrokenLine) {
  PipWords words;
  words.Read("Collecting " + std::string(1 << 16, 'x'));
  words.Read("Downloading torch.whl (1e300 MB)");
  words.Read("Downloading torch.whl (-5 MB)");
  EXPECT_EQ(words.file_bytes(), 0);
  words.Read("ERROR: \x1b[31mred\xff " + std::string(1 << 16, 'y'));
  const Error error = words.Failure();
  EXPECT_LT(error.message.size(), 600u);
  EXPECT_EQ(error.message.find('\x1b'), std::string::npos);
}

struct Said {
  const char* line;
  ErrorCode code;
  const char* advice;
};
class PipFailureTest : public testing::TestWithParam<Said> {};

TEST_P(PipFailureTest, HasItsCauseAndWhatToDo) {
  PipWords words;
  words.Read("Collecting torch==2.15.0");
  words.Read(GetParam().line);
  words.Read("ERROR: the last line is not always the cause");
  const Error error = words.Failure();
  EXPECT_EQ(error.code, GetParam().code);
  EXPECT_THAT(error.message, HasSubstr(GetParam().advice));
}

INSTANTIATE_TEST_SUITE_P(
    Causes, PipFailureTest,
    testing::Values(
        Said{"ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE.", ErrorCode::kInvalid,
             "not the one in the lock file"},
        Said{"ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device",
             ErrorCode::kStore, "the disk is full"},
        Said{"Failed to establish a new connection: [Errno -3] Temporary failure in name resolution",
             ErrorCode::kUnavailable, "cannot be reached"},
        Said{"ERROR: No matching distribution found for torch==9.9", ErrorCode::kInvalid, "no such version"},
        Said{"SSLError(SSLCertVerificationError(1, 'certificate verify failed'))", ErrorCode::kUnavailable, "PIP_CERT"},
        Said{"ERROR: something new", ErrorCode::kInternal, "pip failed"}));

}  // namespace
}  // namespace breakwatch::capture
