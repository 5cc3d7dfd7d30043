#include <gtest/gtest.h>

#include <random>

#include "fuzz/otlp_answer_fuzz.h"

namespace breakwatch::fuzz {
namespace {

const std::string kSeeds[] = {
    std::string("\x0a\x0a\x08\x05\x12\x06reason", 12), std::string("\x08\x03\x12\x06reason", 10),
    R"({"partialSuccess":{"rejectedLogRecords":"5","errorMessage":"reason"}})", R"({"code":3,"message":"reason"})"};

TEST(OtlpAnswersFuzzTest, SurviveEveryPrefix) {
  for (const std::string& seed : kSeeds)
    for (std::size_t size = 0; size <= seed.size(); ++size) ReadOtlpAnswer(std::string_view(seed).substr(0, size));
}

TEST(OtlpAnswersFuzzTest, SurviveChangedBytes) {
  std::minstd_rand random(7);
  for (int round = 0; round < 4000; ++round) {
    std::string bytes = kSeeds[random() % std::size(kSeeds)];
    for (int change = 0; change < 1 + round % 4; ++change)
      bytes[random() % bytes.size()] = static_cast<char>(random() % 256);
    ReadOtlpAnswer(bytes);
  }
}

TEST(OtlpAnswersFuzzTest, SurviveHostileShapes) {
  ReadOtlpAnswer(std::string(200'000, '['));
  ReadOtlpAnswer(R"({"partialSuccess":)" + std::string(100'000, '{'));
  ReadOtlpAnswer("\x0a\xff\xff\xff\xff\x0f");
  ReadOtlpAnswer(std::string(100'000, '\x0b'));  // groups
}

}  // namespace
}  // namespace breakwatch::fuzz
