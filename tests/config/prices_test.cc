#include "breakwatch/config/prices.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "fakes/temporary_directory.h"

namespace breakwatch::config {
namespace {

using testing::HasSubstr;

class PricesTest : public testing::Test {
 protected:
  Result<Prices> Read(const std::string& text) {
    std::ofstream(path_) << text;
    return ReadPrices(path_);
  }
  std::string Problem(const std::string& text) {
    const auto read = Read(text);
    return read ? "" : read.error().message;
  }

  const fakes::TemporaryDirectory directory_;
  const std::string path_ = directory_ / "prices.yaml";
};

TEST_F(PricesTest, ReadsMachinesAndTheCurrency) {
  const auto prices = Read("currency: USD\nmachines:\n- {name: small, price_per_hour: 3.6, threads: 4}\n");
  ASSERT_TRUE(prices) << prices.error().message;
  EXPECT_EQ(prices->currency, "USD");
  ASSERT_EQ(prices->machines.size(), 1u);
  // Two copies with two threads each; a call of 8 items takes 4 ms: 0.25 ms each, at 0.001 a second.
  EXPECT_DOUBLE_EQ(CostPerMillion(prices->machines[0], 0.004, 8, 2), 0.25);
  EXPECT_DOUBLE_EQ(CostPerMillion(prices->machines[0], 0.004, 8, 16), 0.5) << "at least one copy runs";
}

TEST_F(PricesTest, TheExampleIsValid) { EXPECT_TRUE(ReadPrices(BREAKWATCH_SOURCE_DIR "/config/prices.example.yaml")); }

TEST_F(PricesTest, NamesWhatIsWrongAndWhere) {
  EXPECT_THAT(Problem("machines: []\n"), HasSubstr("prices.yaml:1:1: no \"currency\""));
  EXPECT_THAT(Problem("machines: []\n"), HasSubstr("expected a list of 1 to 64 machines"));
  EXPECT_THAT(Problem("currency: USD\nmachines:\n- {name: a, price_per_hour: x, threads: 0}\n"),
              testing::AllOf(HasSubstr("prices.yaml:3:29: price_per_hour: expected a price from 0"),
                             HasSubstr("threads: expected a number from 1 to 4096")));
  EXPECT_THAT(Problem("currency: USD\nmachines:\n- {name: a, price_per_hour: 1}\n"), HasSubstr("3:3: no \"threads\""));
  EXPECT_THAT(Problem("currency: USD\nmachines:\n- {name: a, price_per_hour: 1, threads: 1}\n"
                      "- {name: a, price_per_hour: 1, threads: 1}\n"),
              HasSubstr("machine \"a\" is listed twice"));
  EXPECT_THAT(Problem("currency: USD\ncurrency: EUR\n"), HasSubstr("\"currency\" is set twice"));
  EXPECT_THAT(Problem("currenzy: USD\n"), HasSubstr("unknown key \"currenzy\""));
  EXPECT_NE(Problem("- ["), "");
  EXPECT_THAT(ReadPrices("/nowhere").error().message, HasSubstr("/nowhere cannot be read"));
}

}  // namespace
}  // namespace breakwatch::config
