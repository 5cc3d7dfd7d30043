#include "escape.h"

#include <gtest/gtest.h>

#include "breakwatch/core/text.h"
#include "csv_reader.h"

namespace breakwatch::report {
namespace {

TEST(OneLineTest, EscapesControlSequencesOfTerminals) {
  EXPECT_EQ(OneLine("a\nb\tc\r"), "a b c ");
  EXPECT_EQ(OneLine("\x1b[31mred\x07"), "\xEF\xBF\xBD[31mred\xEF\xBF\xBD");
  EXPECT_EQ(OneLine("\xC2\x9B"
                    "31m"),
            "\xEF\xBF\xBD"
            "31m");  // the one-character form of the same
  EXPECT_EQ(OneLine("a\xE2\x80\xAE"
                    "b"),
            "a\xEF\xBF\xBD"
            "b");  // right-to-left override
  EXPECT_EQ(OneLine("\xFF"), "\xEF\xBF\xBD");
  EXPECT_EQ(OneLine("Größe 模型"), "Größe 模型");
}

TEST(MarkdownTextTest, EscapesWhatMarkdownAndHtmlActOn) {
  EXPECT_EQ(MarkdownText("a|b"), "a\\|b");
  EXPECT_EQ(MarkdownText("<script>&"), "&lt;script&gt;&amp;");
  EXPECT_EQ(MarkdownText("__init__ my_model"), "\\_\\_init\\_\\_ my_model");
  EXPECT_EQ(MarkdownText("`x` *y* [z](u) ~~w~~"), "\\`x\\` \\*y\\* \\[z\\](u) \\~\\~w\\~\\~");
  EXPECT_EQ(MarkdownText("@someone\nb"), "&#64;someone b");
  EXPECT_EQ(MarkdownText("\\|"), "\\\\\\|");
}

TEST(CsvFieldTest, QuotesAndDisarmsFormulas) {
  EXPECT_EQ(CsvField("plain"), "plain");
  EXPECT_EQ(CsvField("a,b"), "\"a,b\"");
  EXPECT_EQ(CsvField("say \"x\"\n"), "\"say \"\"x\"\"\n\"");
  for (const char* text : {"=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "＝1+1", "＋1", "－1", "＠SUM(A1)"})
    EXPECT_EQ(ParseCsv(CsvField(text) + "\n")[0][0][0], '\'');
  EXPECT_EQ(CsvField("a=b"), "a=b");
}

TEST(CsvFieldTest, EscapesControlSequencesOfTerminals) {
  EXPECT_EQ(CsvField("a\x1b[31m\rb"), "a\\u001b[31m\\u000db");
  EXPECT_EQ(CsvField("\xC2\x9B"
                     "31m"),
            "\\u009b31m");
}

TEST(CsvFieldTest, AReaderReturnsEveryTextUnchanged) {
  // Deterministic texts from the characters that matter.
  const std::string alphabet = "a,\"\n;'| \xC3\xA4\t=";
  unsigned state = 1;
  for (int round = 0; round < 2000; ++round) {
    std::string text = "x";
    for (int length = 0; length < round % 12; ++length) {
      state = state * 1664525u + 1013904223u;
      text += alphabet[state / 65536 % alphabet.size()];
    }
    text = ToUtf8(text);
    const auto rows = ParseCsv(CsvField(text) + "," + CsvField(text) + "\n");
    ASSERT_EQ(rows.size(), 1u) << text;
    EXPECT_EQ(rows[0], (std::vector<std::string>{text, text}));
  }
}

TEST(DisplayWidthTest, KnowsWideAndCombiningCharacters) {
  EXPECT_EQ(DisplayWidth("abc"), 3u);
  EXPECT_EQ(DisplayWidth("äöü"), 3u);
  EXPECT_EQ(DisplayWidth("模型"), 4u);
  EXPECT_EQ(DisplayWidth("e\xCC\x81"), 1u);
  EXPECT_EQ(DisplayWidth("🤗"), 2u);
}

TEST(FitTest, NeverExceedsItsColumns) {
  for (const char* text : {"", "a", "abcdef", "模型模型",
                           "e\xCC\x81"
                           "e\xCC\x81",
                           "a模b"}) {
    for (std::size_t columns = 0; columns < 8; ++columns) {
      EXPECT_LE(DisplayWidth(Fit(text, columns)), columns) << text << columns;
      EXPECT_EQ(DisplayWidth(Pad(text, columns, true)), columns) << text << columns;
      EXPECT_EQ(ToUtf8(Fit(text, columns)), Fit(text, columns));
    }
  }
  EXPECT_EQ(Fit("abcdef", 4), "abc…");
  EXPECT_EQ(Fit("abcd", 4), "abcd");
}

}  // namespace
}  // namespace breakwatch::report
