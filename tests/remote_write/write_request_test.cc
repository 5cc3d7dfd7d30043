// The bytes of a request, read by another reader.
#include "write_request.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <limits>

#include "fingerprints.h"
#include "remote_write/fake_receiver.h"

namespace breakwatch::exporters {
namespace {

using fakes::WriteBody;
using ::testing::ElementsAre;
using ::testing::Pair;

using Labels = std::vector<std::pair<std::string, std::string>>;

class WriteRequestTest : public ::testing::Test {
 protected:
  static Series Of(const std::vector<SeriesLabel>& labels, std::string_view name = "compile_graphs") {
    return {name, "Graphs.", SeriesType::kGauge, labels, 0};
  }
  WriteBody Written(const std::vector<SeriesLabel>& labels, Sample sample = {1, 1'767'225'600'000}) {
    WriteRequest request(common_);
    request.Add(Of(labels), sample);
    EXPECT_EQ(request.size(), 1u);
    return WriteBody::Read(request.Compressed());
  }

  Labels common_;
};

TEST_F(WriteRequestTest, SortsLabelsAndOmitsEmptyOnes) {
  common_ = {{"job", "breakwatch"}, {"instance", ""}, {"Cluster", "a"}};
  const WriteBody body = Written({{"model", "org/a"}, {"family", "nlp"}, {"commit", ""}});
  ASSERT_EQ(body.samples.size(), 1u) << "read by a reader that accepts only sorted labels";
  EXPECT_THAT(body.samples[0].labels,
              ElementsAre(Pair("Cluster", "a"), Pair("__name__", "compile_graphs"), Pair("family", "nlp"),
                          Pair("job", "breakwatch"), Pair("model", "org/a")));
}

TEST_F(WriteRequestTest, KeepsTheLabelOfASeriesBeforeACommonOne) {
  common_ = {{"model", "common"}};
  EXPECT_EQ(Written({{"model", "own"}}).samples[0].labels.at("model"), "own");
  EXPECT_EQ(Written({{"model", ""}}).samples[0].labels.at("model"), "common");
}

TEST_F(WriteRequestTest, CarriesEveryByteOfALabel) {
  const std::string text = "org/a\"b\\c\nd é漢" + std::string(300, 'x');
  EXPECT_EQ(Written({{"model", text}}).samples[0].labels.at("model"), text);
}

TEST_F(WriteRequestTest, CarriesEveryValueBitByBit) {
  using Limits = std::numeric_limits<double>;
  for (const double value : {0.0, -0.0, 1.5, 1e300, Limits::infinity(), -Limits::infinity(), Limits::quiet_NaN(),
                             std::bit_cast<double>(kStaleMarkerBits)}) {
    const auto sample = Written({}, {value, 7}).samples[0];
    EXPECT_EQ(std::bit_cast<std::uint64_t>(sample.value), std::bit_cast<std::uint64_t>(value));
    EXPECT_EQ(sample.IsMarker(), std::bit_cast<std::uint64_t>(value) == 0x7ff0000000000002);
  }
  for (const std::int64_t time :
       {std::int64_t{0}, std::int64_t{127}, std::int64_t{128}, Limits::max() > 0 ? INT64_MAX : 0})
    EXPECT_EQ(Written({}, {1, time}).samples[0].time_ms, time);
}

TEST_F(WriteRequestTest, CarriesTypeAndHelpOfAMetric) {
  WriteRequest request(common_);
  request.AddMetadata({"compile_breaks_total", "Break events.", SeriesType::kCounter, {}, 0});
  request.AddMetadata({"compile_graphs", "Graphs.", SeriesType::kGauge, {}, 0});
  const WriteBody body = WriteBody::Read(request.Compressed());
  ASSERT_EQ(body.metadata.size(), 2u);
  EXPECT_EQ(body.metadata[0].type, 1);
  EXPECT_EQ(body.metadata[0].name, "compile_breaks_total");
  EXPECT_EQ(body.metadata[0].help, "Break events.");
  EXPECT_EQ(body.metadata[1].type, 2);
}

TEST(FingerprintTest, DiffersIfNameOrAnyLabelDiffers) {
  const auto of = [](std::string_view name, std::vector<SeriesLabel> labels) {
    return Fingerprint({name, "", SeriesType::kGauge, labels, 0});
  };
  const auto base = of("a", {{"x", "1"}, {"y", "2"}});
  EXPECT_EQ(of("a", {{"x", "1"}, {"y", "2"}}), base);
  EXPECT_EQ(of("a", {{"x", "1"}, {"y", "2"}, {"z", ""}}), base) << "an empty label equals none";
  EXPECT_NE(of("b", {{"x", "1"}, {"y", "2"}}), base);
  EXPECT_NE(of("a", {{"x", "1"}, {"y", "3"}}), base);
  EXPECT_NE(of("a", {{"x", "2"}, {"y", "1"}}), base);
  EXPECT_NE(of("a", {{"x", "1"}}), base);
  EXPECT_NE(of("a", {{"x", "x"}, {"y", "y"}}), of("a", {{"x", "y"}, {"y", "x"}}));
}

}  // namespace
}  // namespace breakwatch::exporters
