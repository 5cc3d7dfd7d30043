#include "breakwatch/core/model_line.h"

#include <gtest/gtest.h>

namespace breakwatch {
namespace {

std::string LineOf(std::vector<std::string> stack, const std::string& file = "transformers/masking_utils.py") {
  BreakSite site;
  site.file = file, site.line = 7, site.function = "helper";
  site.stack = std::move(stack);
  return ModelLine(site);
}

TEST(ModelLineTest, IsTheInnermostLineOfTheModelAboveItsHelpers) {
  EXPECT_EQ(
      LineOf({"transformers/utils/generic.py:9 in wrapper", "transformers/models/bart/modeling_bart.py:12 in forward",
              "transformers/models/bart/modeling_bart.py:40 in encode", "transformers/masking_utils.py:7 in helper",
              "torch/nn/functional.py:3 in softmax"}),
      "transformers/models/bart/modeling_bart.py:40 in encode");
  EXPECT_EQ(LineOf({"transformers/utils/generic.py:9 in wrapper", "net.py:3 in forward", "functools.py:9 in wrapper"}),
            "net.py:3 in forward")
      << "the user's own code";
}

TEST(ModelLineTest, IsEmptyWhereTheSiteIsTheModelsOrTheModelIsNotInTheStack) {
  const std::string own = "transformers/models/bart/modeling_bart.py";
  EXPECT_EQ(LineOf({"transformers/utils/generic.py:9 in wrapper", own + ":7 in helper"}, own), "");
  EXPECT_EQ(LineOf({"transformers/utils/generic.py:9 in wrapper", "<string>:1 in f"}), "");
  EXPECT_EQ(LineOf({}), "");
  EXPECT_EQ(LineOf({own + ":70 in helper"}, own), own + ":70 in helper") << "another line of the same file";
}

}  // namespace
}  // namespace breakwatch
