#include "buffers.h"

#include <gtest/gtest.h>

namespace breakwatch::capture {
namespace {

TEST(LineBufferTest, CutsLinesWhereverTheBytesWereSplit) {
  LineBuffer lines(10);
  lines.Append("on");
  EXPECT_FALSE(lines.Next());
  lines.Append("e\n\ntw");
  EXPECT_EQ(lines.Next(), "one");
  EXPECT_EQ(lines.Next(), "");
  EXPECT_FALSE(lines.Next());
  lines.Append("o\n");
  EXPECT_EQ(lines.Next(), "two");
  EXPECT_FALSE(lines.Overflowed());
}

TEST(LineBufferTest, TakesALineOfTheBoundAndNoLonger) {
  LineBuffer lines(4);
  lines.Append("1234\n12345");
  EXPECT_EQ(lines.Next(), "1234");
  EXPECT_FALSE(lines.Next());
  EXPECT_TRUE(lines.Overflowed());
  lines.Append("\nshort\n");
  EXPECT_FALSE(lines.Next()) << "where the next line begins is no longer known";
}

TEST(LineBufferTest, RefusesACompleteLineOverTheBound) {
  LineBuffer lines(4);
  lines.Append("12345\n");
  EXPECT_FALSE(lines.Next());
  EXPECT_TRUE(lines.Overflowed());
}

TEST(TailBufferTest, KeepsTheEndFromALinesStart) {
  TailBuffer tail(16);
  tail.Append("the first line\n");
  tail.Append("the second\n");
  tail.Append("third\n");
  EXPECT_EQ(tail.Text(100), "third");
  EXPECT_EQ(tail.Text(9), "third");
}

TEST(TailBufferTest, KeepsTheEndOfALineThatIsLongerThanItself) {
  TailBuffer tail(4);
  for (char c = 'a'; c <= 'z'; ++c) tail.Append(std::string(1, c));
  EXPECT_EQ(tail.Text(100), "wxyz");
}

TEST(TailBufferTest, RepairsACutCharacter) {
  TailBuffer tail(3);
  tail.Append("ää");  // four bytes
  EXPECT_EQ(tail.Text(3), "\xEF\xBF\xBDä");
}

}  // namespace
}  // namespace breakwatch::capture
