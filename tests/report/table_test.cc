#include "breakwatch/report/table.h"

#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "csv_reader.h"
#include "escape.h"

namespace breakwatch::report {
namespace {

Table Small() {
  return {
      .title = "Things",
      .columns = {{"name", "NAME", false, 8}, {"count", "COUNT", true}, {"share", "SHARE", true, 0, 2}, {"hidden", ""}},
      .rows = {{std::string("first"), std::int64_t{1}, 0.5, true},
               {std::string("模型 longer"), std::int64_t{-20}, std::monostate{}, false}},
      .when_empty = "none"};
}

TEST(TableTest, AlignsColumnsForPeople) {
  EXPECT_EQ(Render(Small(), Format::kText),
            "Things\n"
            "NAME      COUNT  SHARE\n"
            "first         1   0.50\n"
            "模型 lo…    -20\n");
}

TEST(TableTest, NarrowsItsWidestBoundedColumnsToTheTerminal) {
  Table table{.title = {},
              .columns = {{"a", "A", false, 40}, {"b", "B"}, {"c", "C", false, 40}},
              .rows = {{std::string(30, 'a'), std::string(20, 'b'), std::string(50, 'c')}}};
  EXPECT_EQ(Render(table, Format::kText, {.color = false, .width = 60}),
            "A" + std::string(19, ' ') + "B" + std::string(21, ' ') + "C\n" + std::string(17, 'a') + "…  " +
                std::string(20, 'b') + "  " + std::string(17, 'c') + "…\n");
}

TEST(TableTest, TheLastColumnHasTheRestOfTheWidth) {
  Table table{.title = {}, .columns = {{"a", "A"}, {"b", "B"}}, .rows = {{std::string("left"), std::string(100, 'x')}}};
  EXPECT_EQ(Render(table, Format::kText, {.color = false, .width = 30}),
            "A     B\n"
            "left  " +
                std::string(23, 'x') + "…\n");
}

TEST(TableTest, WritesALinePerValueWhereTheTerminalIsTooNarrowForColumns) {
  Table table{.title = "Things",
              .columns = {{"model", "MODEL"}, {"status", "STATUS"}, {"graphs", "GRAPHS", true}, {"note", "NOTE"}},
              .rows = {{std::string("org/a-model-of-a-long-name"), std::string("full_graph"), std::int64_t{1},
                        std::string("two words")},
                       {std::string("b"), std::string("timeout"), std::monostate{}, std::string()}}};
  EXPECT_EQ(Render(table, Format::kText, {.color = false, .width = 24}),
            "Things\n"
            "MODEL   org/a-model-of-a\n"
            "        -long-name\n"
            "STATUS  full_graph\n"
            "GRAPHS  1\n"
            "NOTE    two words\n"
            "\n"
            "MODEL   b\n"
            "STATUS  timeout\n");
}

TEST(TableTest, NeverExceedsTheWidthOfTheTerminal) {
  Table table{.title = {},
              .columns = {{"a", "A LONG TITLE"}, {"b", "B", true}, {"c", "C", false, 40}, {"d", "D"}},
              .rows = {{std::string("模型 and some words"), std::int64_t{123456789}, std::string(50, 'c'),
                        std::string("blank separated text of some length")}}};
  for (std::size_t width = 4; width < 120; ++width) {
    const std::string text = Render(table, Format::kText, {.color = false, .width = width});
    for (std::size_t begin = 0; begin < text.size();) {
      const std::size_t end = text.find('\n', begin);
      EXPECT_LE(DisplayWidth(std::string_view(text).substr(begin, end - begin)), width) << text;
      begin = end + 1;
    }
  }
}

TEST(TableTest, ColorsAStatusOnlyOnRequest) {
  Table table{.title = {}, .columns = {{"status", "STATUS"}}, .rows = {{std::string("full_graph")}}};
  EXPECT_EQ(Render(table, Format::kText).find('\x1b'), std::string::npos);
  EXPECT_NE(Render(table, Format::kText, {.color = true, .width = 0}).find("\x1b[32mfull_graph\x1b[0m"),
            std::string::npos);
}

TEST(TableTest, WritesMarkdown) {
  EXPECT_EQ(Render(Small(), Format::kMarkdown),
            "## Things\n\n"
            "| NAME | COUNT | SHARE |\n"
            "| --- | ---: | ---: |\n"
            "| first | 1 | 0.50 |\n"
            "| 模型 longer | -20 |  |\n");
}

TEST(TableTest, WritesTypedJsonWithEveryColumn) {
  const auto json = nlohmann::json::parse(Render(Small(), Format::kJson));
  EXPECT_EQ(json[0], (nlohmann::json{{"name", "first"}, {"count", 1}, {"share", 0.5}, {"hidden", true}}));
  EXPECT_TRUE(json[1]["share"].is_null());
}

TEST(TableTest, WritesCsvWithEveryColumn) {
  EXPECT_EQ(Render(Small(), Format::kCsv),
            "name,count,share,hidden\n"
            "first,1,0.5,true\n"
            "模型 longer,-20,,false\n");
}

TEST(TableTest, ReportsThatItIsEmpty) {
  Table table = Small();
  table.rows.clear();
  EXPECT_EQ(Render(table, Format::kText), "Things\nnone\n");
  EXPECT_EQ(Render(table, Format::kMarkdown), "## Things\n\nnone\n");
  EXPECT_EQ(Render(table, Format::kJson), "[]\n");
  EXPECT_EQ(Render(table, Format::kCsv), "name,count,share,hidden\n");
}

TEST(TableTest, SurvivesBytesThatAreNoTextAndNumbersThatAreNone) {
  Table table{.title = {},
              .columns = {{"a", "A"}, {"b", "B"}},
              .rows = {{std::string("\xff\x00|,\"\n", 6), std::numeric_limits<double>::quiet_NaN()}}};
  for (const Format format : {Format::kText, Format::kJson, Format::kMarkdown, Format::kCsv}) {
    const std::string text = Render(table, format);
    EXPECT_EQ(text.find('\xff'), std::string::npos);
    EXPECT_EQ(text.find('\0'), std::string::npos);
    EXPECT_EQ(text.find("nan"), std::string::npos);
  }
  EXPECT_TRUE(nlohmann::json::parse(Render(table, Format::kJson))[0]["b"].is_null());
  EXPECT_EQ(ParseCsv(Render(table, Format::kCsv))[1].size(), 2u);
}

TEST(FormatTest, IsParsedByName) {
  EXPECT_EQ(ParseFormat("md"), std::optional(Format::kMarkdown));
  EXPECT_EQ(ParseFormat("html"), std::nullopt);
}

}  // namespace
}  // namespace breakwatch::report
