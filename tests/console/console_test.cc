#include "breakwatch/exporters/console.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "fakes/sample_snapshot.h"

namespace breakwatch::exporters {
namespace {

using fakes::Commit;
using fakes::MakeModel;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(ConsoleTest, PrintsTotalsBesideHowManyModelsTheyAreOf) {
  std::ostringstream out;
  EXPECT_EQ(MakeConsoleMetrics({}, out)->Export(fakes::SampleSnapshot()).delivery, Delivery::kDelivered);
  EXPECT_EQ(out.str(),
            "family                   models with numbers  full graph   breaks    sites\n"
            "nlp                           4            2           1        8        5\n"
            "all                           4            2           1        8        5\n"
            "  breaks   models  reason\n"
            "       6        1  Data-dependent branching (GB0170)\n"
            "       2        1  Unsupported \"call\" (GB0059)\n");
}

TEST(ConsoleTest, PrintsNothingWhenOnlyTheStateOfDeliveryChanged) {
  std::ostringstream out;
  const auto exporter = MakeConsoleMetrics({}, out);
  Snapshot snapshot = fakes::SampleSnapshot();
  exporter->Export(snapshot);
  const std::string once = out.str();
  snapshot.delivery.clear();
  EXPECT_EQ(exporter->Export(snapshot).delivery, Delivery::kDelivered);
  EXPECT_EQ(out.str(), once);
  snapshot.models.pop_back();
  exporter->Export(snapshot);
  EXPECT_GT(out.str().size(), once.size());
}

TEST(ConsoleTest, PrintsAtMostTheConfiguredReasonsAndNoControlCharacters) {
  Snapshot snapshot;
  snapshot.toolchain_key = fakes::SampleToolchain().Key();
  snapshot.models = {MakeModel("m", Commit('a'), {{"first\x1b[2J\n", "", "", 9, 1}, {"second", "", "", 1, 1}})};
  std::ostringstream out;
  MakeConsoleMetrics({.top_reasons = 1}, out)->Export(snapshot);
  EXPECT_THAT(out.str(), HasSubstr("first\\u001b[2J\\n\n"));
  EXPECT_THAT(out.str(), Not(HasSubstr("second")));
}

TEST(ConsoleTest, PrintsEventsAsTheirLines) {
  std::ostringstream out;
  const std::vector<StoredEvent> events = {{1, 1, "", "", "", R"({"msg":"a"})"}, {2, 2, "", "", "", R"({"msg":"b"})"}};
  EXPECT_EQ(MakeConsoleEvents({}, out)->Export(events).delivery, Delivery::kDelivered);
  EXPECT_EQ(out.str(), "{\"msg\":\"a\"}\n{\"msg\":\"b\"}\n");
}

// Fails all writes while `broken`, like a redirection to a full disk.
class FlakyBuffer : public std::stringbuf {
 public:
  bool broken = true;

 protected:
  std::streamsize xsputn(const char* text, std::streamsize size) override {
    return broken ? 0 : std::stringbuf::xsputn(text, size);
  }
};

TEST(ConsoleTest, TriesAgainWhenTheStreamFailsAndRecovers) {
  FlakyBuffer buffer;
  std::ostream out(&buffer);
  const auto exporter = MakeConsoleEvents({}, out);
  const std::vector<StoredEvent> events = {{1, 1, "", "", "", "{}"}};
  EXPECT_EQ(exporter->Export(events).delivery, Delivery::kTryAgain);
  buffer.broken = false;
  EXPECT_EQ(exporter->Export(events).delivery, Delivery::kDelivered);
  EXPECT_EQ(buffer.str(), "{}\n");
}

}  // namespace
}  // namespace breakwatch::exporters
