#include "url.h"

#include <gtest/gtest.h>

namespace breakwatch::net {
namespace {

TEST(PrintableUrlTest, DropsUserPartQueryAndFragment) {
  EXPECT_EQ(PrintableUrl("https://user:p%40ss@host:9091/metrics/job/a?sig=secret#x"),
            "https://host:9091/metrics/job/a");
}

TEST(PrintableUrlTest, DropsAPasswordThatHoldsAnAt) {
  EXPECT_EQ(PrintableUrl("http://user:p@ss@host/path@2"), "http://host/path@2");
}

TEST(PrintableUrlTest, KeepsTextThatIsNotAUrl) {
  EXPECT_EQ(PrintableUrl("localhost"), "localhost");
  EXPECT_EQ(PrintableUrl(""), "");
}

}  // namespace
}  // namespace breakwatch::net
