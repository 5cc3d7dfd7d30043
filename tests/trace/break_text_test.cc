#include "break_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "breakwatch/core/text.h"
#include "trace/sample_trace.h"

namespace breakwatch::trace {
namespace {

using testing::ElementsAre;
using testing::StartsWith;

constexpr char kWhile[] = "\n\n*** While handling this graph break, another graph break occurred: ***\n\n";
const std::string kLoopMessage =
    "graph break in loop\n  Explanation: torch.compile detected a graph break in a for/while loop.\n"
    "  Hint: This graph break may have been caused by an earlier graph break. Resolving it may resolve this one.\n\n"
    "  Developer debug context: frame skipped: forward\n\n For more details about this graph break, please visit: "
    "https://meta-pytorch.github.io/compile-graph-break-site/gb/gb7000.html";

BreakSite Parse(const std::string& text) {
  UserFiles files;
  const auto site = ParseBreak(text, "", files);
  EXPECT_TRUE(site.has_value()) << text;
  return site.value_or(BreakSite{});
}

TEST(BreakTextTest, TakesTheReasonApartByItsGrammar) {
  const BreakSite site = Parse(BreakText(Tracing(kPrintMessage)));
  EXPECT_EQ(site.reason, "Failed to trace builtin operator");
  EXPECT_EQ(site.gb_id, "GB0059");
  EXPECT_EQ(site.explanation,
            "Dynamo does not know how to trace builtin operator `print`\nwith argument types ['str']");
  EXPECT_THAT(site.hints, ElementsAre("Avoid calling builtin `print`.", StartsWith("This graph break is fundamental")));
  EXPECT_EQ(site.context, "builtin print [<class 'ConstantVariable'>] False");
  EXPECT_EQ(site.fixability, "fundamental");
  EXPECT_EQ(site.wrapped_in, "");
}

TEST(BreakTextTest, TakesThePlaceFromTheInnermostUserFrame) {
  const BreakSite site = Parse(BreakText(Tracing(kPrintMessage)));
  EXPECT_EQ(site.file, "net.py");
  EXPECT_EQ(site.frame, "user");
  EXPECT_EQ(site.line, 239);
  EXPECT_EQ(site.function, "inner");
  EXPECT_EQ(site.source_line, "print(\"seen\")");
}

TEST(BreakTextTest, TakesTheCallsAboveThePlaceTheInnermostOnes) {
  std::string text = BreakText(Tracing(kPrintMessage));
  const std::size_t first = text.find("  File \"");
  std::string above;
  for (int i = 0; i < 40; ++i)
    above += "  File \"/home/job/main.py\", line " + std::to_string(i) + ", in step\n    model(x)\n";
  text.insert(first, above);
  const BreakSite site = Parse(text);
  ASSERT_EQ(site.stack.size(), 32u);
  EXPECT_EQ(site.stack.back(), "net.py:239 in inner");
  EXPECT_EQ(site.stack_source.back(), "print(\"seen\")");
  EXPECT_EQ(site.stack_source.front(), "model(x)");
  EXPECT_EQ(site.line, 239) << "the calls above do not move the site";
}

TEST(BreakTextTest, TheCallsBeginAtTheModelThatIsTraced) {
  std::string text = BreakText(Tracing(kPrintMessage));
  const std::string torch = "  File \"/opt/torch/";
  text.insert(text.find("  File \"/home/job/net.py\""),
              torch + "_dynamo/eval_frame.py\", line 2, in compile_wrapper\n    fn()\n" + torch +
                  "nn/modules/module.py\", line 3, in _call_impl\n    forward_call()\n"
                  "  File \"/home/job/net.py\", line 200, in forward\n    x = self.a(x)\n"
                  "  File \"/home/job/net.py\", line 201, in torch_dynamo_resume_in_forward_at_200\n    inner(x)\n");
  EXPECT_THAT(Parse(text).stack, ElementsAre("net.py:201 in forward", "net.py:239 in inner"));
}

TEST(BreakTextTest, NamesASiteByWhatTheWorkerNamesItBy) {
  const std::string key = std::string("GB0059") + '\0' + "net.py" + '\0' + "inner" + '\0' + "print(\"seen\")";
  EXPECT_EQ(Parse(BreakText(Tracing(kPrintMessage))).site_id, Sha256Hex(key).substr(0, 16));
  // The line's number is not part of it.
  EXPECT_EQ(Parse(BreakText(Tracing(kPrintMessage), 7)).site_id, Sha256Hex(key).substr(0, 16));
}

TEST(BreakTextTest, FindsTheReasonInsideItsWrappers) {
  const BreakSite site =
      Parse(BreakText("Failed to handle graph break gracefully. Skipping the function and falling back to eager. "
                      "Graph break encountered:\n\n" +
                      kPrintMessage + kWhile + kLoopMessage));
  EXPECT_EQ(site.reason, "Failed to trace builtin operator");
  EXPECT_EQ(site.gb_id, "GB0059");
  EXPECT_EQ(site.wrapped_in, "graph break in loop / frame skipped");
  EXPECT_THAT(site.explanation, StartsWith("Dynamo does not know"));
}

TEST(BreakTextTest, KeepsTheOuterReasonWhereTheInnerOneHasNoEntry) {
  const BreakSite site = Parse(BreakText(
      "Encountered graph break that we cannot resume from. Compiling up to the previous resumable state, then skipping "
      "the rest of the function. Graph break encountered:\n\nsomething private at 0x7f" +
      std::string(kWhile) + kLoopMessage));
  EXPECT_EQ(site.reason, "graph break in loop");
  EXPECT_EQ(site.gb_id, "GB7000");
  EXPECT_EQ(site.wrapped_in, "cannot resume");
}

TEST(BreakTextTest, NamesAnExceptionWithoutATypeByItsClass) {
  std::string text = BreakText("at 0x7f001234");
  text = text.substr(0, text.find("torch._dynamo.exc.Unsupported")) + "torch._dynamo.exc.UserError: at 0x7f001234\n";
  EXPECT_EQ(Parse(text).reason, "User error");
  EXPECT_EQ(Parse(text).gb_id, "");
  EXPECT_EQ(Parse(text).fixability, "none");
}

TEST(BreakTextTest, TakesTheCauseWhereAnErrorOfTheUserBecameABreak) {
  const std::string text = BreakText(Tracing(kPrintMessage));
  const std::size_t traceback = text.find("Traceback (most");
  const std::string caused = text.substr(0, traceback) +
                             "Traceback (most recent call last):\n  File \"a.py\", line 1, in f\n    g()\n"
                             "torch._dynamo.exc.UserError: dynamic\n\n"
                             "The above exception was the direct cause of the following exception:\n\n" +
                             text.substr(traceback);
  EXPECT_EQ(Parse(caused).reason, "User error");
  EXPECT_EQ(Parse(caused).wrapped_in, "Failed to trace builtin operator");
  EXPECT_EQ(Parse(caused).explanation, "dynamic");
}

TEST(BreakTextTest, IsNotABreakIfAFrameIsReportedAsReturnedToPython) {
  UserFiles files;
  EXPECT_FALSE(ParseBreak("WON'T CONVERT forward /home/job/net.py line 12\ndue to: \nTraceback", "", files));
  EXPECT_FALSE(ParseBreak("Graph break: torch.compile cannot properly resume from this graph break", "", files));
  EXPECT_FALSE(ParseBreak("", "", files));
}

TEST(BreakTextTest, KnowsPackagesByTheirFolders) {
  const auto in = [](const std::string& path, const char* root = "") {
    std::string text = BreakText(Tracing(kPrintMessage));
    for (std::size_t at = 0; (at = text.find("/home/job/net.py", at)) != std::string::npos;) text.replace(at, 16, path);
    UserFiles files;
    const auto site = ParseBreak(text, root, files);
    return site->file + " " + site->frame;
  };
  EXPECT_EQ(in("/v/lib/python3.11/site-packages/transformers/a.py"), "transformers/a.py library");
  EXPECT_EQ(in("/v/lib/python3.11/site-packages/torch/nn/a.py"), "torch/nn/a.py torch");
  EXPECT_EQ(in("/usr/lib/python3.12/logging/__init__.py"), "logging/__init__.py library");
  EXPECT_EQ(in("/src/pytorch/torch/nn/a.py", "/src/pytorch/"), "torch/nn/a.py torch");
  EXPECT_EQ(in("/src/pytorch/torch/nn/a.py"), "a.py user");
}

TEST(BreakTextTest, DistinguishesFilesOfOneNameByTheirPaths) {
  UserFiles files;
  EXPECT_EQ(files.Name("/job/one/layer.py"), "layer.py");
  EXPECT_EQ(files.Name("/job/two/layer.py"), "two/layer.py");
  EXPECT_EQ(files.Name("/other/two/layer.py"), "other/two/layer.py");
  EXPECT_EQ(files.Name("/job/one/layer.py"), "layer.py");
  EXPECT_EQ(files.Name("/job/two/layer.py"), "two/layer.py");
  EXPECT_EQ(files.Name("layer.py"), "layer.py");
  for (const char* odd : {"", "/", "//", "/layer.py"}) (void)files.Name(odd);
}

TEST(BreakTextTest, RemembersABoundedNumberOfBoundedPaths) {
  UserFiles files;
  const std::string deep = "/" + std::string(UserFiles::kMaxPathBytes, 'd') + "/layer.py";
  EXPECT_EQ(files.Name(deep), "layer.py");
  EXPECT_EQ(files.Name("/one/layer.py"), "layer.py");  // the first that is remembered
  for (std::size_t n = 1; n < UserFiles::kMaxPaths; ++n) {
    const std::string folder = "f" + std::to_string(n);
    EXPECT_EQ(files.Name("/" + folder + "/layer.py"), folder + "/layer.py");
  }
  EXPECT_EQ(files.Name("/more/layer.py"), "layer.py");
}

TEST(BreakTextTest, CallsAResumedFunctionByTheUsersName) {
  EXPECT_EQ(Parse(BreakText(Tracing(kPrintMessage), 9, "torch_dynamo_resume_in_forward_at_8")).function, "forward");
}

TEST(BreakTextTest, BoundsWhatItTakes) {
  const BreakSite site = Parse(BreakText(Tracing(std::string(5000, 'r') + "\n  Explanation: " + std::string(9000, 'e') +
                                                 "\n\n  Developer debug context: " + std::string(9000, 'c'))));
  EXPECT_EQ(site.reason.size(), 120u);
  EXPECT_EQ(site.explanation.size(), 2000u);
  EXPECT_EQ(site.context.size(), 2000u);
}

}  // namespace
}  // namespace breakwatch::trace
