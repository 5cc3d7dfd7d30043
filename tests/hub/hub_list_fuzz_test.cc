#include "fuzz/hub_list_fuzz.h"

#include <gtest/gtest.h>

#include <random>

namespace breakwatch::fuzz {
namespace {

const std::string kSeed =
    R"([{"_id":"6","id":"a/b","sha":"0123456789012345678901234567890123456789","downloads":7,"gated":"auto",)"
    R"("trendingScore":0.7000000000000001,"tags":["x",null],"config":{"model_type":"bert","auto_map":{"A":"b.C"}},)"
    R"("safetensors":{"parameters":{"F32":1e99},"total":NaN}},{"modelId":"c","likes":-1}])";

TEST(HubListFuzzTest, SurvivesEveryPrefix) {
  for (std::size_t size = 0; size <= kSeed.size(); ++size) ReadHubBytes(std::string_view(kSeed).substr(0, size));
}

TEST(HubListFuzzTest, SurvivesChangedBytes) {
  std::minstd_rand random(7);
  for (int round = 0; round < 3000; ++round) {
    std::string bytes = kSeed;
    for (int change = 0; change < 1 + round % 6; ++change) {
      static constexpr std::string_view kBytes = "[]{}\",:\\0-+eE.tfnNI \n\x00\x7f\x80\xff<>;=/@";
      bytes[random() % bytes.size()] = kBytes[random() % kBytes.size()];
    }
    ReadHubBytes(bytes);
  }
}

TEST(HubListFuzzTest, SurvivesHostileShapes) {
  ReadHubBytes(std::string(1'000'000, '['));
  ReadHubBytes("{\"a\":" + std::string(1'000'000, '9') + "}");
  ReadHubBytes("[" + std::string(500'000, ' ') + "]");
  ReadHubBytes(std::string(1'000'000, '\xff'));
  ReadHubBytes("<" + std::string(100'000, '<'));
  ReadHubBytes(std::string(100'000, ';'));
}

}  // namespace
}  // namespace breakwatch::fuzz
