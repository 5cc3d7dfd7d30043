#include "breakwatch/core/text.h"

#include <gtest/gtest.h>

namespace breakwatch {
namespace {

using std::string_literals::operator""s;

TEST(Utf8Test, KeepsValidTextAsItIs) {
  const std::string text = "graph break \xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80";
  EXPECT_EQ(ToUtf8(text), text);
}

TEST(Utf8Test, ReplacesWhatNoDatabaseAndNoLabelWouldTake) {
  const std::string replacement = "\xEF\xBF\xBD";
  EXPECT_EQ(ToUtf8("a\0b"s), "a" + replacement + "b");
  EXPECT_EQ(ToUtf8("\xFF"), replacement);
  EXPECT_EQ(ToUtf8("\xC0\xAF"), replacement + replacement);                    // overlong
  EXPECT_EQ(ToUtf8("\xED\xA0\x80"), replacement + replacement + replacement);  // surrogate
  EXPECT_EQ(ToUtf8("x\xE2\x82"), "x" + replacement + replacement);             // cut short
}

TEST(TruncateTest, CutsAtACharactersBorder) {
  EXPECT_EQ(Truncate("ab\xC3\xA9", 3), "ab");
  EXPECT_EQ(Truncate("ab\xC3\xA9", 4), "ab\xC3\xA9");
  EXPECT_EQ(Truncate("abc", 0), "");
}

TEST(ShortLineTest, KeepsEverythingOnOneLine) {
  EXPECT_EQ(ShortLine("HTTP 400\r\n\terror\x1b[31m\x7f!\0"s, 80), "HTTP 400   error [31m ! ");
}

TEST(ShortLineTest, IsValidUtf8AndNotLongerThanAsked) {
  EXPECT_EQ(ShortLine("\xFF", 80), "\xEF\xBF\xBD");
  EXPECT_EQ(ShortLine("ab\xC3\xA9"
                      "cd",
                      4),
            "ab\xC3\xA9");
  EXPECT_EQ(ShortLine("ab\xF0\x9F\x98\x80", 3), "ab");
  EXPECT_EQ(ShortLine("abc", 0), "");
}

TEST(TrimTest, DropsTheWhiteSpaceAroundText) {
  EXPECT_EQ(Trim(" \t a b\f\v\r\n"), "a b");
  EXPECT_EQ(Trim(" \n"), "");
}

TEST(FirstLineTest, EndsBeforeTheFirstLineEnd) {
  EXPECT_EQ(FirstLine("ValueError: a\nb\n"), "ValueError: a");
  EXPECT_EQ(FirstLine("one"), "one");
}

TEST(ShellQuotedTest, QuotesWhatAShellWouldChange) {
  EXPECT_EQ(ShellQuoted("--a=/b/c.yaml"), "--a=/b/c.yaml");
  EXPECT_EQ(ShellQuoted(""), "''");
  EXPECT_EQ(ShellQuoted("my file"), "'my file'");
  EXPECT_EQ(ShellQuoted("it's $HOME"), R"('it'\''s $HOME')");
}

TEST(LowerTest, ChangesOnlyTheLettersOfAscii) {
  EXPECT_EQ(Lower("Content-TYPE [\xC3\x89]"), "content-type [\xC3\x89]");
}

TEST(TimeTest, SurvivesTheRoundTripToTheNanosecond) {
  const SystemTime time{std::chrono::nanoseconds(1795222512000000001)};
  EXPECT_EQ(ParseTime(FormatTime(time)), time);
  EXPECT_EQ(FormatTime(SystemTime{}), "1970-01-01T00:00:00.000000000Z");
}

TEST(TimeTest, IsCompactInIdentifiers) {
  EXPECT_EQ(CompactTime(SystemTime{std::chrono::nanoseconds(1795222512000000001)}), "20261121T005512");
}

TEST(TimeTest, ReadsTheHubsMilliseconds) {
  const auto time = ParseTime("2022-03-02T23:29:04.250Z");
  ASSERT_TRUE(time);
  EXPECT_EQ(FormatTime(*time), "2022-03-02T23:29:04.250000000Z");
}

TEST(TimeTest, RejectsInvalidTimes) {
  for (const char* text : {"", "2022-03-02", "2022-13-02T00:00:00Z", "2022-03-02T25:00:00Z", "2022-03-02T00:00:00.Z",
                           "2022-03-02T00:00:00.1234567890Z", "2022-03-02T00:00:00+01:00"}) {
    EXPECT_EQ(ParseTime(text), std::nullopt) << text;
  }
}

TEST(DigestTest, AgreesWithTheStandardsVectors) {
  EXPECT_EQ(Sha256Hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(Sha256Hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(Sha1Hex("abc"), "a9993e364706816aba3e25717850c26c9cd0d89d");
}

TEST(DigestTest, NamesAFileAsGitDoes) {
  EXPECT_EQ(GitBlobId(""), "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391");
  EXPECT_EQ(GitBlobId("hello\n"), "ce013625030ba8dba906f756967f9e9ca394464a");
}

TEST(Base64Test, AgreesWithTheStandardsVectorsWithoutPadding) {
  EXPECT_EQ(Base64Url(""), "");
  EXPECT_EQ(Base64Url("f"), "Zg");
  EXPECT_EQ(Base64Url("fo"), "Zm8");
  EXPECT_EQ(Base64Url("foobar"), "Zm9vYmFy");
  EXPECT_EQ(Base64Url("\xFB\xFF"), "-_8");
  EXPECT_EQ(Base64Url("org/name"), "b3JnL25hbWU");
}

TEST(CommitTest, IsFortyLowerCaseHexDigits) {
  EXPECT_TRUE(IsCommit("0123456789abcdef0123456789abcdef01234567"));
  EXPECT_FALSE(IsCommit("0123456789ABCDEF0123456789abcdef01234567"));
  EXPECT_FALSE(IsCommit("main"));
}

TEST(NearestNameTest, FindsATypingErrorAndNoOtherName) {
  const std::vector<std::string> names = {"url", "job", "timeout"};
  EXPECT_EQ(NearestName("ulr", names), "url");
  EXPECT_EQ(NearestName("time_out", names), "timeout");
  EXPECT_EQ(NearestName("completely", names), std::nullopt);
}

}  // namespace
}  // namespace breakwatch
