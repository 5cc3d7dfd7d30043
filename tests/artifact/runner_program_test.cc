#include <gmock/gmock.h>
#include <sys/wait.h>

#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>

namespace breakwatch::artifact {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

class RunnerProgramTest : public testing::Test {
 protected:
  struct Run {
    int code;
    std::string output;
  };

  void SetUp() override {
    if (kProgram.empty()) GTEST_SKIP() << "breakwatch-runner was not built: no torch in .venv";
  }

  Run Call(const std::string& arguments) {
    FILE* pipe = popen(("'" + kProgram + "' " + arguments + " 2>&1").c_str(), "re");
    std::string output;
    char buffer[4096];
    while (std::size_t n = fread(buffer, 1, sizeof buffer, pipe)) output.append(buffer, n);
    return {WEXITSTATUS(pclose(pipe)), output};
  }

  const std::string kProgram = BREAKWATCH_RUNNER;
};

TEST_F(RunnerProgramTest, PrintsItsVersionAndThoseOfItsLibraries) {
  const Run run = Call("--version");
  EXPECT_EQ(run.code, 0) << run.output;
  EXPECT_THAT(run.output, AllOf(StartsWith("breakwatch-runner "), HasSubstr("\ntorch "), HasSubstr("\nabi cxx11\n"),
                                HasSubstr("\ncomputes yes\n")));
}

TEST_F(RunnerProgramTest, PrintsTheSameAsJson) {
  const Run run = Call("--version --json");
  EXPECT_EQ(run.code, 0) << run.output;
  const auto object = nlohmann::json::parse(run.output, nullptr, false);
  ASSERT_TRUE(object.is_object()) << run.output;
  EXPECT_EQ(object["torch"], object["torch_headers"]);
  EXPECT_EQ(object["healthy"], true);
  EXPECT_FALSE(object["cpu_capability"].get<std::string>().empty());
}

TEST_F(RunnerProgramTest, RejectsUnknownArguments) {
  for (const char* arguments : {"", "--version --verbose", "check", "bench --package a.pt2",
                                "bench --threads 0 .", "check . --limit-s -1"}) {
    const Run run = Call(arguments);
    EXPECT_EQ(run.code, 64) << arguments;
    EXPECT_THAT(run.output, HasSubstr("usage: ")) << arguments;
  }
}

}  // namespace
}  // namespace breakwatch::artifact
