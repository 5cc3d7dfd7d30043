#include "breakwatch/core/host_port.h"

#include <gtest/gtest.h>

namespace breakwatch {
namespace {

TEST(HostPortTest, ReadsHostAndPort) {
  EXPECT_EQ(ParseHostPort("example.org"), (HostPort{"example.org", std::nullopt}));
  EXPECT_EQ(ParseHostPort("127.0.0.1:0"), (HostPort{"127.0.0.1", 0}));
  EXPECT_EQ(ParseHostPort("[::1]:9723"), (HostPort{"::1", 9723}));
  EXPECT_EQ(ParseHostPort("[fe80::2]"), (HostPort{"fe80::2", std::nullopt}));
}

TEST(HostPortTest, RefusesWhatIsNoAddress) {
  for (const char* text : {"", ":", ":9723", "host:", "host:65536", "host:-1", "host:+1", "host:1x", "::1", "[]",
                           "[]:1", "[::1", "::1]:1", "[[::1]]:1", "[::1]x:1", "a:b:1"}) {
    EXPECT_FALSE(ParseHostPort(text)) << text;
  }
}

TEST(HostPortTest, KnowsTheLoopback) {
  for (const char* host : {"127.0.0.1", "127.1.2.3", "localhost", "::1"}) EXPECT_TRUE(IsLoopback(host)) << host;
  for (const char* host : {"0.0.0.0", "128.0.0.1", "localhost.example.org", "127.example.org", "::"})
    EXPECT_FALSE(IsLoopback(host)) << host;
}

}  // namespace
}  // namespace breakwatch
