#include "breakwatch/core/printable.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace breakwatch {
namespace {

TEST(PrintableTest, EscapesControlSequences) {
  EXPECT_EQ(Printable("a\x1b[2J\x07\r\x7f"), "a\\u001b[2J\\u0007\\u000d\\u007f");
  EXPECT_EQ(Printable("\xC2\x9B"
                      "31m"),
            "\\u009b31m");
  EXPECT_EQ(Printable("a\xE2\x80\xAE\xE2\x81\xA9"
                      "b"),
            "a\\u202e\\u2069b");
  EXPECT_EQ(Printable("Größe 模型 … € \xE2\x81\xBF"), "Größe 模型 … € \xE2\x81\xBF");
  EXPECT_EQ(Printable("\xFF\x9B"), "\xEF\xBF\xBD\xEF\xBF\xBD");
}

TEST(PrintableTest, LeavesNothingOfEveryTwoBytes) {
  for (int a = 0; a < 256; ++a) {
    for (int b = 0; b < 256; ++b) {
      const std::string shown = Printable(std::string{static_cast<char>(a), static_cast<char>(b)});
      for (std::size_t i = 0; i < shown.size(); ++i) {
        const auto byte = static_cast<unsigned char>(shown[i]);
        ASSERT_TRUE(byte >= 0x20 || byte == '\n' || byte == '\t') << a << " " << b;
        ASSERT_NE(byte, 0x7F);
        if (byte == 0xC2) ASSERT_GE(static_cast<unsigned char>(shown[i + 1]), 0xA0);
      }
    }
  }
}

TEST(PrintableTest, KeepsLinesOrEscapesThem) {
  EXPECT_EQ(Printable("a\n\tb"), "a\n\tb");
  EXPECT_EQ(Printable("a\n\tb", Lines::kEscape), "a\\n\\tb");
}

TEST(PrintableTest, LeavesJsonTheSameJson) {
  const nlohmann::json value = {{"a", "\x1b[31m \xC2\x9B \xE2\x80\xAE \x7f \n"}};
  const std::string shown = Printable(value.dump(2));
  EXPECT_EQ(nlohmann::json::parse(shown), value);
  EXPECT_EQ(shown.find('\x7f'), std::string::npos);
}

TEST(PrintableTest, LetsOnlyOurColorsThrough) {
  EXPECT_EQ(PrintableInColor("\x1b[32mok\x1b[0m \x1b[2J"), "\x1b[32mok\x1b[0m \\u001b[2J");
}

}  // namespace
}  // namespace breakwatch
