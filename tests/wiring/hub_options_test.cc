#include "hub_options.h"

#include <gtest/gtest.h>

#include <chrono>

#include "fakes/environment_variable.h"

namespace breakwatch::wiring {
namespace {

using std::chrono::seconds;

TEST(HubOptionsOf, TakesTheTimeoutOfTheClientsWhereNoneIsSet) {
  const fakes::EnvironmentVariable set("HF_HUB_DOWNLOAD_TIMEOUT", "7");
  const auto options = HubOptionsOf(config::Settings{});
  EXPECT_EQ(options.timeout, seconds(7));
  EXPECT_EQ(options.listing_timeout, std::chrono::minutes(10));
}

TEST(HubOptionsOf, TakesTheTimeoutThatIsSetWhateverTheDefaultIs) {
  const fakes::EnvironmentVariable set("HF_HUB_DOWNLOAD_TIMEOUT", "7");
  config::Settings settings;
  settings.hub.timeout = std::chrono::minutes(10);
  const auto options = HubOptionsOf(settings);
  EXPECT_EQ(options.timeout, std::chrono::minutes(10));
  EXPECT_EQ(options.listing_timeout, std::chrono::minutes(10));
}

}  // namespace
}  // namespace breakwatch::wiring
