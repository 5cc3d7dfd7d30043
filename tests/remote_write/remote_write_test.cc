// The exporter with a stand-in for a receiver: what is stored, what a query would show, and each kind of answer.
#include "breakwatch/exporters/remote_write.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "breakwatch/core/exposition.h"
#include "fakes/exposition_reader.h"
#include "fakes/fake_clock.h"
#include "fakes/sample_snapshot.h"
#include "remote_write/fake_receiver.h"

namespace breakwatch::exporters {
namespace {

using fakes::Commit;
using fakes::MakeModel;
using fakes::ReceivedWrite;
using fakes::SampleSnapshot;
using fakes::SeriesKey;
using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// What a scrape of the exposition gives, with the labels that Prometheus drops because they are empty dropped.
std::map<SeriesKey, double> Scraped(const Snapshot& snapshot, const SeriesKey& more = {{"job", "breakwatch"}}) {
  std::map<SeriesKey, double> out;
  for (const auto& [name, series] : fakes::ExpositionReader::Read(Exposition(snapshot))) {
    for (const auto& [labels, value] : series) {
      SeriesKey key = labels;
      std::erase_if(key, [](const auto& label) { return label.second.empty(); });
      key["__name__"] = name;
      key.insert(more.begin(), more.end());
      out.emplace(std::move(key), value);
    }
  }
  return out;
}

class RemoteWriteTest : public ::testing::Test {
 protected:
  RemoteWriteTest() {
    options_.url = "http://receiver/api/v1/write";
    options_.labels = {{"job", "breakwatch"}};
    snapshot_ = SampleSnapshot();
  }
  MetricExporter& Exporter() {
    if (!exporter_) exporter_ = MakeRemoteWrite(options_, receiver_.MakeSender(), clock_);
    return *exporter_;
  }
  Outcome Export() { return Exporter().Export(snapshot_); }
  // As the engine does it a minute later, with a newer snapshot if it was changed.
  Outcome ExportLater(std::chrono::nanoseconds later = minutes(1)) {
    clock_.Advance(later);
    return Export();
  }
  void Change() { snapshot_.taken_at += seconds(1); }
  void RemoveLastModel() { snapshot_.models.pop_back(), Change(); }
  // The times of all samples of the writes.
  std::set<std::int64_t> Times() const {
    std::set<std::int64_t> times;
    for (const ReceivedWrite& write : receiver_.Writes())
      for (const auto& sample : write.body.samples) times.insert(sample.time_ms);
    return times;
  }
  std::size_t Markers() const {
    std::size_t markers = 0;
    for (const ReceivedWrite& write : receiver_.Writes())
      for (const auto& sample : write.body.samples) markers += sample.IsMarker();
    return markers;
  }

  RemoteWriteOptions options_;
  fakes::FakeClock clock_;
  fakes::FakeReceiver receiver_;
  Snapshot snapshot_;
  std::unique_ptr<MetricExporter> exporter_;
};

// --- what is sent

TEST_F(RemoteWriteTest, WritesTheSeriesThatAScrapeGives) {
  ASSERT_EQ(Export().delivery, Delivery::kDelivered);
  EXPECT_EQ(receiver_.Visible(), Scraped(snapshot_));
  EXPECT_THAT(Times(), ::testing::ElementsAre(1'767'225'600'000)) << "one time for all, that of the export";
}

TEST_F(RemoteWriteTest, SendsTheHeadersOfTheProtocol) {
  options_.tenant = "team-a";
  options_.headers = {{"X-Key", "k"}};
  options_.bearer_token = "secret";
  Export();
  const net::HttpRequest& request = receiver_.Writes().front().request;
  EXPECT_EQ(request.method, "POST");
  EXPECT_EQ(request.url, "http://receiver/api/v1/write");
  EXPECT_EQ(request.bearer_token, "secret");
  EXPECT_THAT(request.headers,
              ::testing::UnorderedElementsAre(std::pair("Content-Encoding", "snappy"),
                                              std::pair("Content-Type", "application/x-protobuf"),
                                              std::pair("X-Prometheus-Remote-Write-Version", "0.1.0"),
                                              std::pair("X-Scope-OrgID", "team-a"), std::pair("X-Key", "k")));
}

TEST_F(RemoteWriteTest, AddsTheLabelsOfTheSettings) {
  options_.labels = {{"job", "nightly"}, {"pool", "gpu-a"}, {"instance", ""}, {"cluster", "eu"}};
  Export();
  EXPECT_EQ(receiver_.Visible(), Scraped(snapshot_, {{"job", "nightly"}, {"pool", "gpu-a"}, {"cluster", "eu"}}));
}

TEST_F(RemoteWriteTest, SplitsIntoRequestsOfBoundedSize) {
  options_.batch_series = 7;
  ASSERT_EQ(Export().delivery, Delivery::kDelivered);
  std::size_t samples = 0;
  for (const ReceivedWrite& write : receiver_.Writes()) {
    EXPECT_LE(write.body.samples.size(), 7u);
    EXPECT_TRUE(write.body.samples.empty() || write.body.metadata.empty());
    samples += write.body.samples.size();
  }
  EXPECT_EQ(samples, Scraped(snapshot_).size());
  EXPECT_EQ(receiver_.Visible(), Scraped(snapshot_));
}

TEST_F(RemoteWriteTest, SendsTypeAndHelpOnceInFiveMinutes) {
  const auto metadata = [this] {
    std::size_t count = 0;
    for (const ReceivedWrite& write : receiver_.Writes()) count += write.body.metadata.size();
    return count;
  };
  Export();
  std::set<std::string> names;
  for (const auto& [labels, value] : Scraped(snapshot_)) names.insert(labels.at("__name__"));
  EXPECT_EQ(metadata(), names.size());
  ExportLater(minutes(4));
  EXPECT_EQ(metadata(), names.size());
  ExportLater(minutes(1));
  EXPECT_EQ(metadata(), 2 * names.size());
}

TEST_F(RemoteWriteTest, DeliversToAReceiverThatRefusesMetadata) {
  receiver_.decide = [](const ReceivedWrite& write) -> std::optional<net::HttpResponse> {
    if (write.body.metadata.empty()) return std::nullopt;
    return net::HttpResponse{400, {}, "no metadata"};
  };
  EXPECT_EQ(Export().delivery, Delivery::kDelivered);
  const std::size_t writes = receiver_.Writes().size();
  EXPECT_EQ(ExportLater(minutes(10)).delivery, Delivery::kDelivered);
  EXPECT_EQ(receiver_.Writes().size(), writes + writes - 1) << "not sent again";
}

TEST_F(RemoteWriteTest, IsRepeatedAfterItsInterval) {
  options_.interval = seconds(30);
  EXPECT_EQ(Exporter().RepeatEvery(), seconds(30));
  Export();
  ASSERT_EQ(ExportLater(seconds(30)).delivery, Delivery::kDelivered);
  EXPECT_THAT(Times(), ::testing::ElementsAre(1'767'225'600'000, 1'767'225'630'000));
  EXPECT_EQ(Markers(), 0u);
}

// --- series that leave

TEST_F(RemoteWriteTest, MarksTheSeriesOfAModelThatLeft) {
  Export();
  ASSERT_GT(receiver_.VisibleOf("org/unresolved"), 0u);
  RemoveLastModel();
  ASSERT_EQ(ExportLater().delivery, Delivery::kDelivered);
  EXPECT_EQ(receiver_.VisibleOf("org/unresolved"), 0u);
  EXPECT_EQ(receiver_.Visible(), Scraped(snapshot_));
  const std::size_t markers = Markers();
  ExportLater();
  EXPECT_EQ(Markers(), markers) << "once";
}

TEST_F(RemoteWriteTest, NeverShowsTheOldAndTheNewCommitTogether) {
  options_.batch_series = 3;
  Export();
  snapshot_.models.Own(0) = MakeModel("org/breaking", Commit('e'), {{"Print", "GB0059", "supportable", 1, 1}});
  Change();
  receiver_.decide = [this](const ReceivedWrite&) -> std::optional<net::HttpResponse> {
    std::set<std::string> commits;  // as a query between two requests sees it
    for (const auto& [labels, value] : receiver_.Visible())
      if (labels.at("__name__") == "compile_breaks_total" && labels.at("model") == "org/breaking")
        commits.insert(labels.at("commit"));
    EXPECT_LE(commits.size(), 1u);
    return std::nullopt;
  };
  ASSERT_EQ(ExportLater().delivery, Delivery::kDelivered);
  EXPECT_EQ(receiver_.Visible(), Scraped(snapshot_));
}

TEST_F(RemoteWriteTest, SendsSamplesAgainForAModelThatReturns) {
  const Snapshot all = snapshot_;
  Export();
  RemoveLastModel();
  ExportLater();
  snapshot_ = all;
  snapshot_.taken_at += minutes(5);
  ASSERT_EQ(ExportLater().delivery, Delivery::kDelivered);
  EXPECT_EQ(receiver_.Visible(), Scraped(all));
}

TEST_F(RemoteWriteTest, MarksWhatAnIncompleteExportStored) {
  Export();
  const Snapshot before = snapshot_;
  snapshot_.models.push_back(MakeModel("org/visitor", Commit('d'), {}, 9));
  Change();
  options_.batch_series = 10;
  int requests = 0;
  receiver_.decide = [&](const ReceivedWrite&) -> std::optional<net::HttpResponse> {
    if (++requests < 4) return std::nullopt;
    return net::HttpResponse{503, {}, ""};
  };
  exporter_ = MakeRemoteWrite(options_, receiver_.MakeSender(), clock_);
  ASSERT_EQ(ExportLater().delivery, Delivery::kTryAgain);
  ASSERT_GT(receiver_.VisibleOf("org/visitor"), 0u) << "stored in part";
  receiver_.decide = nullptr;
  snapshot_ = before;
  snapshot_.taken_at += minutes(1);
  ASSERT_EQ(ExportLater().delivery, Delivery::kDelivered);
  EXPECT_EQ(receiver_.VisibleOf("org/visitor"), 0u);
  EXPECT_EQ(receiver_.Visible(), Scraped(snapshot_));
}

TEST_F(RemoteWriteTest, MarksSeriesOfDeliveryThatEndWhileTheModelsStay) {
  Export();
  snapshot_.delivery.pop_back();  // the same models and time: the engine adds the state of delivery when it sends
  ASSERT_EQ(ExportLater().delivery, Delivery::kDelivered);
  EXPECT_EQ(receiver_.Visible(), Scraped(snapshot_));
}

// --- failures

TEST_F(RemoteWriteTest, ContinuesWithTheSameBytesAfterAFailure) {
  options_.batch_series = 10;
  int requests = 0;
  receiver_.decide = [&](const ReceivedWrite&) -> std::optional<net::HttpResponse> {
    if (++requests != 3) return std::nullopt;
    return net::HttpResponse{429, {{"retry-after", "7"}}, "slow down"};
  };
  const Outcome limited = Export();
  EXPECT_EQ(limited.delivery, Delivery::kTryAgain);
  EXPECT_EQ(limited.after, seconds(7));
  ASSERT_EQ(receiver_.Writes().size(), 3u);
  ASSERT_EQ(ExportLater(seconds(7)).delivery, Delivery::kDelivered);
  EXPECT_EQ(receiver_.Writes()[3].request.body, receiver_.Writes()[2].request.body);
  EXPECT_THAT(Times(), ::testing::SizeIs(1)) << "all samples of one export have one time";
  EXPECT_EQ(receiver_.Visible(), Scraped(snapshot_));
}

TEST_F(RemoteWriteTest, GetsThroughToAReceiverThatTakesOneRequestAtATime) {
  options_.batch_series = 5;
  bool take = false;
  receiver_.decide = [&](const ReceivedWrite&) -> std::optional<net::HttpResponse> {
    take = !take;
    if (take) return std::nullopt;
    return net::HttpResponse{429, {}, ""};
  };
  int exports = 1;
  while (ExportLater(seconds(1)).delivery == Delivery::kTryAgain && exports < 100) ++exports;
  EXPECT_LT(exports, 100);
  EXPECT_EQ(receiver_.Visible(), Scraped(snapshot_));
}

TEST_F(RemoteWriteTest, SendsANewerSnapshotFromItsStartWithALaterTime) {
  options_.batch_series = 10;
  receiver_.AnswerNext(net::HttpResponse{204, {}, ""});
  receiver_.AnswerNext(net::HttpResponse{503, {}, ""});
  ASSERT_EQ(Export().delivery, Delivery::kTryAgain);
  Change();
  receiver_.Forget();
  ASSERT_EQ(ExportLater(seconds(5)).delivery, Delivery::kDelivered);
  EXPECT_THAT(Times(), ::testing::ElementsAre(1'767'225'605'000));
  EXPECT_EQ(receiver_.Visible(), Scraped(snapshot_));
}

TEST_F(RemoteWriteTest, StartsAgainIfItsSamplesBecameOld) {
  options_.batch_series = 10;
  receiver_.AnswerNext(net::HttpResponse{204, {}, ""});
  receiver_.AnswerNext(Error{ErrorCode::kUnavailable, "connection refused", true, {}});
  ASSERT_EQ(Export().delivery, Delivery::kTryAgain);
  receiver_.Forget();
  ASSERT_EQ(ExportLater(minutes(30)).delivery, Delivery::kDelivered);
  EXPECT_THAT(Times(), ::testing::ElementsAre(1'767'225'600'000 + 30 * 60'000));
}

TEST_F(RemoteWriteTest, EndsAnExportThatTakesTooLong) {
  options_.batch_series = 5;
  receiver_.decide = [this](const ReceivedWrite&) -> std::optional<net::HttpResponse> {
    clock_.Advance(minutes(1));
    return std::nullopt;
  };
  const Outcome outcome = Export();
  EXPECT_EQ(outcome.delivery, Delivery::kTryAgain);
  EXPECT_THAT(outcome.detail, HasSubstr("4 minutes only 25 samples"));
}

TEST_F(RemoteWriteTest, SendsWhatWasStoredAgainWithoutAConflict) {
  receiver_.LoseNextAnswer();
  ASSERT_EQ(Export().delivery, Delivery::kTryAgain);
  EXPECT_EQ(ExportLater(seconds(1)).delivery, Delivery::kDelivered);
  receiver_.LoseNextAnswer();
  ASSERT_EQ(ExportLater().delivery, Delivery::kTryAgain);
  RemoveLastModel();
  EXPECT_EQ(ExportLater(seconds(1)).delivery, Delivery::kDelivered);
  EXPECT_EQ(receiver_.Visible(), Scraped(snapshot_));
}

TEST_F(RemoteWriteTest, NeverGoesBackInTimeWithTheClock) {
  Export();
  ASSERT_EQ(ExportLater(-seconds(20)).delivery, Delivery::kDelivered);
  ASSERT_EQ(ExportLater(seconds(0)).delivery, Delivery::kDelivered);
  EXPECT_THAT(Times(), ::testing::ElementsAre(1'767'225'600'000, 1'767'225'600'001, 1'767'225'600'002));
}

TEST_F(RemoteWriteTest, FollowsAClockThatWasHoursAhead) {
  Export();
  const Outcome outcome = ExportLater(-std::chrono::hours(5));
  EXPECT_EQ(outcome.delivery, Delivery::kRefused);
  EXPECT_THAT(outcome.detail, HasSubstr("out of order sample"));
  EXPECT_EQ(ExportLater(std::chrono::hours(6)).delivery, Delivery::kDelivered) << "the receiver's time has come";
}

TEST_F(RemoteWriteTest, HalvesRequestsThatAreTooLarge) {
  options_.batch_series = 32;
  receiver_.decide = [](const ReceivedWrite& write) -> std::optional<net::HttpResponse> {
    if (write.body.samples.size() <= 9) return std::nullopt;
    return net::HttpResponse{413, {}, "too large"};
  };
  EXPECT_THAT(Export().detail, HasSubstr("16 series"));
  EXPECT_THAT(Export().detail, HasSubstr("8 series"));
  EXPECT_EQ(Export().delivery, Delivery::kDelivered);
  EXPECT_EQ(receiver_.Visible(), Scraped(snapshot_));
}

// --- answers

TEST_F(RemoteWriteTest, SendsTheRestOfASnapshotAfterARefusedRequest) {
  options_.batch_series = 10;
  int requests = 0;
  receiver_.decide = [&](const ReceivedWrite&) -> std::optional<net::HttpResponse> {
    if (++requests != 2) return std::nullopt;
    return net::HttpResponse{400, {}, "out of order sample\n"};
  };
  const Outcome outcome = Export();
  EXPECT_EQ(outcome.delivery, Delivery::kRefused);
  EXPECT_THAT(outcome.detail, HasSubstr("1 of "));
  EXPECT_THAT(outcome.detail, HasSubstr("out of order sample"));
  EXPECT_THAT(outcome.detail, HasSubstr("set another pool or instance"));
  EXPECT_EQ(receiver_.Visible().size() + 10, Scraped(snapshot_).size());
  EXPECT_EQ(ExportLater().delivery, Delivery::kDelivered) << "the next export heals it";
  EXPECT_EQ(receiver_.Visible(), Scraped(snapshot_));
}

TEST_F(RemoteWriteTest, RefusesOnlyWhatIsAboutSamples) {
  for (const int refusal : {400, 409, 422}) {
    receiver_.AnswerNext(net::HttpResponse{refusal, {}, "err-mimir-max-series-per-user"});
    const Outcome outcome = ExportLater();
    EXPECT_EQ(outcome.delivery, Delivery::kRefused) << refusal;
    EXPECT_THAT(outcome.detail, HasSubstr("metrics.drop")) << refusal;
  }
}

TEST_F(RemoteWriteTest, RetriesSlowlyAndSaysWhatToChange) {
  const std::pair<int, const char*> kWrong[] = {{302, "redirect"},      {401, "bearer token"},
                                                {403, "tenant"},        {404, "--web.enable-remote-write-receiver"},
                                                {405, "check the URL"}, {415, "remote write 1.0"}};
  for (const auto& [status, advice] : kWrong) {
    receiver_.AnswerNext(net::HttpResponse{status, {}, "text of the receiver"});
    const Outcome outcome = ExportLater();
    EXPECT_EQ(outcome.delivery, Delivery::kTryAgain) << status;
    EXPECT_GE(outcome.after.value_or(seconds(0)), seconds(60)) << status;
    EXPECT_THAT(outcome.detail, HasSubstr(advice));
    EXPECT_THAT(outcome.detail, HasSubstr("text of the receiver"));
  }
}

TEST_F(RemoteWriteTest, RetriesSoonIfTheReceiverRecovers) {
  for (const int fault : {408, 429, 500, 502, 503, 504}) {
    receiver_.AnswerNext(net::HttpResponse{fault, {}, ""});
    const Outcome outcome = ExportLater();
    EXPECT_EQ(outcome.delivery, Delivery::kTryAgain) << fault;
    EXPECT_EQ(outcome.after, std::nullopt) << fault;
  }
}

TEST_F(RemoteWriteTest, AcceptsEverySuccessButAPage) {
  for (const int success : {200, 202, 204}) {
    for (int request = 0; request < 2; ++request) receiver_.AnswerNext(net::HttpResponse{success, {}, ""});
    EXPECT_EQ(ExportLater(minutes(6)).delivery, Delivery::kDelivered) << success;
  }
  receiver_.AnswerNext(net::HttpResponse{200, {{"content-type", "text/html; charset=utf-8"}}, "<html>Sign in</html>"});
  const Outcome page = ExportLater();
  EXPECT_EQ(page.delivery, Delivery::kTryAgain);
  EXPECT_THAT(page.detail, HasSubstr("check the URL"));
  EXPECT_THAT(page.detail, HasSubstr("Sign in"));
}

}  // namespace
}  // namespace breakwatch::exporters
