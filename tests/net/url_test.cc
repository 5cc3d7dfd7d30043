#include "breakwatch/net/url.h"

#include <gtest/gtest.h>

namespace breakwatch::net {
namespace {

using std::string_literals::operator""s;

std::string OriginOf(std::string_view url) {
  const auto parsed = ParseUrl(url);
  return parsed ? parsed->Origin() : "none";
}

TEST(UrlTest, HasTheParts) {
  const auto url = ParseUrl("HTTPS://user:p%40ss@Hub.Example:8443/a/./b/../c?x=%3d&y#z");
  ASSERT_TRUE(url);
  EXPECT_EQ(url->scheme, "https");
  EXPECT_EQ(url->host, "hub.example");
  EXPECT_EQ(url->port, "8443");
  EXPECT_EQ(url->path, "/a/c");
  EXPECT_EQ(url->query, "x=%3d&y");
  EXPECT_TRUE(url->has_user);
  EXPECT_EQ(url->Origin(), "https://hub.example:8443");
  EXPECT_EQ(url->Target(), "/a/c?x=%3d&y");
}

TEST(UrlTest, TakesWhatMayBeMissing) {
  const auto url = ParseUrl("http://h");
  ASSERT_TRUE(url);
  EXPECT_EQ(url->Origin(), "http://h");
  EXPECT_EQ(url->Target(), "/");
  EXPECT_FALSE(url->has_user);
  EXPECT_TRUE(ParseUrl("http://@h")->has_user);
}

TEST(UrlTest, OriginIsTheServerThatARequestGoesTo) {
  EXPECT_EQ(OriginOf("https://h:443/"), "https://h");
  EXPECT_EQ(OriginOf("http://h:443/"), "http://h:443");
  EXPECT_EQ(OriginOf("http://h:0080/"), "http://h");
  EXPECT_EQ(OriginOf("http://0x7f.1/"), "http://127.0.0.1");
  EXPECT_EQ(OriginOf("http://%48%4f/"), "http://ho");
  EXPECT_EQ(OriginOf("https://huggingface.co@evil.example/"), "https://evil.example");
  EXPECT_EQ(OriginOf("https://huggingface.co:x@evil.example/"), "https://evil.example");
  EXPECT_EQ(OriginOf("http://h?@evil.example/"), "http://h");
  EXPECT_EQ(OriginOf("http://h#@evil.example/"), "http://h");
}

TEST(UrlTest, ReadsIpv6Addresses) {
  EXPECT_EQ(OriginOf("http://[::1]:9091/metrics"), "http://[::1]:9091");
  EXPECT_EQ(OriginOf("http://user@[FE80::1%25eth0]/"), "http://[fe80::1%25eth0]");
  for (const char* bad : {"http://[::1/", "http://::1/", "http://[]/", "http://[::g]/", "http://[::1]x/"}) {
    EXPECT_FALSE(ParseUrl(bad)) << bad;
  }
}

TEST(UrlTest, RefusesWhatIsNoHttpUrl) {
  for (const char* bad : {"", "h", "/path", "h:80", "ftp://h/", "file:///etc/passwd", "javascript:x",
                          "http:", "http://", "http:///", "http:////", "https://user@/", "http://:80/",
                          "http://h:65536/", "http://h:x/", "http://h:80:80/", "http://h:-1/"}) {
    EXPECT_FALSE(ParseUrl(bad)) << bad;
  }
}

TEST(UrlTest, RefusesWhatParsersReadDifferently) {
  for (const auto& bad : {"http://a b/"s, "http://h\t/"s, "http://h/a b"s, "http://h\r\nX: y/"s, " http://h/"s,
                          "http://h\\/"s, "http://evil.example\\@h/"s, "http://u:p\\@h/"s, "http://u@v@h/"s,
                          "http://h\0.evil.example/"s, "http://h%00/"s, "http://h%2f.evil.example/"s}) {
    EXPECT_FALSE(ParseUrl(bad)) << bad;
  }
}

TEST(UrlTest, ResolvesReferences) {
  const char* base = "https://h:1/a/b/c?q=1";
  EXPECT_EQ(ResolveUrl(base, "d/e?x=%2F"), "https://h:1/a/b/d/e?x=%2F");
  EXPECT_EQ(ResolveUrl(base, "../d"), "https://h:1/a/d");
  EXPECT_EQ(ResolveUrl(base, "../../../../d"), "https://h:1/d");
  EXPECT_EQ(ResolveUrl(base, "/d?x=http://evil.example/"), "https://h:1/d?x=http://evil.example/");
  EXPECT_EQ(ResolveUrl(base, "?q=2"), "https://h:1/a/b/c?q=2");
  EXPECT_EQ(ResolveUrl(base, "//[::1]:2/d"), "https://[::1]:2/d");
  EXPECT_EQ(ResolveUrl(base, "http://o/d:e"), "http://o/d:e");
}

TEST(UrlTest, ResolvesToNoOtherProtocol) {
  for (const auto& bad : {""s, "file:///etc/passwd"s, "ftp://h/"s, "javascript:x"s, "http://"s, "//"s, "//a b/"s,
                          "//evil.example\\@h/"s, "/d\0e"s}) {
    EXPECT_EQ(ResolveUrl("https://h/a", bad), std::nullopt) << bad;
  }
  EXPECT_EQ(ResolveUrl("/a", "/b"), std::nullopt);
  EXPECT_EQ(ResolveUrl("", "http://h/"), std::nullopt);
}

TEST(PercentEncodeTest, EncodesWhatIsNotPlain) {
  EXPECT_EQ(PercentEncode("refs/pr/1 ü"), "refs%2Fpr%2F1%20%C3%BC");
  EXPECT_EQ(PercentEncode("org/name-1._~", "/"), "org/name-1._~");
  EXPECT_EQ(PercentEncode("%\0?"s), "%25%00%3F");
  EXPECT_EQ(PercentEncode(""), "");
}

TEST(PrintableUrlTest, DropsUserPartQueryAndFragment) {
  EXPECT_EQ(PrintableUrl("https://user:p%40ss@host:9091/metrics/job/a?sig=secret#x"),
            "https://host:9091/metrics/job/a");
}

TEST(PrintableUrlTest, DropsAPasswordThatHoldsAnAt) {
  EXPECT_EQ(PrintableUrl("http://user:p@ss@host/path@2"), "http://host/path@2");
}

TEST(PrintableUrlTest, DropsThePasswordOfAUrlThatLibcurlRejects) {
  EXPECT_EQ(PrintableUrl("http://user:p@ss:word@ho st:x/path"), "http://ho st:x/path");
}

TEST(PrintableUrlTest, KeepsTextThatIsNotAUrl) {
  EXPECT_EQ(PrintableUrl("localhost"), "localhost");
  EXPECT_EQ(PrintableUrl(""), "");
}

}  // namespace
}  // namespace breakwatch::net
