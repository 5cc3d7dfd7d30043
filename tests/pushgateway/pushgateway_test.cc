// The exporter with a scripted gateway: its requests, and its outcome for every kind of answer.
#include "breakwatch/exporters/pushgateway.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <mutex>

#include "breakwatch/core/exposition.h"
#include "fakes/bad_answers.h"
#include "fakes/exposition_reader.h"
#include "fakes/sample_snapshot.h"
#include "net/scripted_server.h"
#include "push_time.h"

namespace breakwatch::exporters {
namespace {

using breakwatch::testing::Reply;
using breakwatch::testing::ScriptedServer;
using breakwatch::testing::SeenRequest;
using fakes::SampleSnapshot;
using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kStatus[] = R"({"status":"success","data":{"start_time":"2026-11-21T02:00:00.1Z"}})";

std::string Gunzip(const std::string& bytes) {
  z_stream stream{};
  inflateInit2(&stream, 16 + MAX_WBITS);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  std::string out(1 << 20, '\0');
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(inflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  inflateEnd(&stream);
  return out;
}

// A journal that a test can read, set and make fail.
struct JournalState {
  std::vector<std::string> groups;
  std::vector<std::vector<std::string>> saved;
  bool broken = false;
};

class SharedJournal : public GroupJournal {
 public:
  explicit SharedJournal(std::shared_ptr<JournalState> state) : state_(std::move(state)) {}
  Result<std::vector<std::string>> Load() override {
    if (state_->broken) return Error{ErrorCode::kStore, "disk full", true};
    return state_->groups;
  }
  Result<void> Save(const std::vector<std::string>& groups) override {
    state_->groups = groups;
    state_->saved.push_back(groups);
    return {};
  }

 private:
  std::shared_ptr<JournalState> state_;
};

class PushgatewayTest : public ::testing::Test {
 protected:
  std::unique_ptr<MetricExporter> Make() { return Make(options); }
  std::unique_ptr<MetricExporter> Make(PushgatewayOptions made) {
    made.url = server_.Url() + "/";
    return MakePushgateway(std::move(made), std::make_unique<SharedJournal>(journal),
                           net::MakeHttpSender("breakwatch/test"));
  }
  std::vector<std::string> Changes() const {
    std::vector<std::string> changes;
    for (const SeenRequest& request : server_.Requests()) {
      if (request.method != "GET") changes.push_back(request.method + " " + request.target);
    }
    return changes;
  }
  Outcome ExportWith(Reply reply) {
    Answer([reply](const SeenRequest&) { return reply; });
    return Make()->Export(SampleSnapshot());
  }
  void Answer(std::function<Reply(const SeenRequest&)> answer) {
    const std::lock_guard lock(script_mutex_);
    answer_ = std::move(answer);
  }
  void ShowStatus(Reply status) {
    const std::lock_guard lock(script_mutex_);
    status_ = std::move(status);
  }

  PushgatewayOptions options;
  std::shared_ptr<JournalState> journal = std::make_shared<JournalState>();

 private:
  std::mutex script_mutex_;  // the test changes it between two requests, and the server's threads read it
  std::function<Reply(const SeenRequest&)> answer_;
  Reply status_{200, {}, kStatus};

 protected:
  // Every PUT and DELETE is answered by `answer_`, the status page by `status_`.
  ScriptedServer server_{[this](const SeenRequest& request) {
    const std::lock_guard lock(script_mutex_);
    if (request.method == "GET") return status_;
    return answer_ ? answer_(request) : Reply{};
  }};
};

TEST_F(PushgatewayTest, PutsTheWholeSnapshotCompressedIntoOneGroup) {
  options.user = "sre";
  options.password = "secret";
  ASSERT_EQ(Make()->Export(SampleSnapshot()).delivery, Delivery::kDelivered);
  EXPECT_THAT(Changes(), ElementsAre("PUT /metrics/job/breakwatch"));
  const SeenRequest put = server_.Requests().back();
  EXPECT_EQ(put.Header("content-encoding"), "gzip");
  EXPECT_THAT(put.Header("content-type"), HasSubstr("text/plain"));
  EXPECT_EQ(put.Header("authorization"), "Basic c3JlOnNlY3JldA==");
  EXPECT_EQ(put.Header("user-agent"), "breakwatch/test");
  EXPECT_EQ(Gunzip(put.body), Exposition(SampleSnapshot()));
}

TEST_F(PushgatewayTest, SendsPlainTextWhenCompressionIsOff) {
  options.gzip = false;
  Make()->Export(SampleSnapshot());
  EXPECT_EQ(server_.Requests().back().body, Exposition(SampleSnapshot()));
}

TEST(GroupPathsTest, EncodesWhatAPathCannotCarry) {
  PushgatewayOptions options;
  const auto path = [&](std::string pool) {
    options.pool = std::move(pool);
    return GroupPaths(options).front();
  };
  EXPECT_EQ(path(""), "/metrics/job/breakwatch");
  EXPECT_EQ(path("gpu-a.1"), "/metrics/job/breakwatch/pool/gpu-a.1");
  EXPECT_EQ(path("eu/1"), "/metrics/job/breakwatch/pool@base64/ZXUvMQ");
  EXPECT_EQ(path(".."), "/metrics/job/breakwatch/pool@base64/Li4");
  EXPECT_EQ(path("a b?"), "/metrics/job/breakwatch/pool@base64/YSBiPw");
  options.job = "";
  EXPECT_EQ(path(""), "/metrics/job@base64/=");
}

TEST(GroupPathsTest, HoldsNoLabelThatASeriesUses) {
  for (const auto& [name, series] : fakes::ExpositionReader::Read(Exposition(SampleSnapshot()))) {
    for (const auto& [labels, value] : series) {
      for (const char* grouping : {"job", "instance", "pool", "shard"}) EXPECT_FALSE(labels.contains(grouping)) << name;
    }
  }
}

TEST_F(PushgatewayTest, SplitsIntoExactlyTheConfiguredShards) {
  options.shards = 3;
  options.gzip = false;
  ASSERT_EQ(Make()->Export(SampleSnapshot()).delivery, Delivery::kDelivered);
  EXPECT_THAT(Changes(), ElementsAre("PUT /metrics/job/breakwatch/shard/0", "PUT /metrics/job/breakwatch/shard/1",
                                     "PUT /metrics/job/breakwatch/shard/2"));
  EXPECT_EQ(journal->groups, GroupPaths(options));
}

TEST_F(PushgatewayTest, DeletesRetiredGroupsBeforeTheFirstPut) {
  journal->groups = {"/metrics/job/breakwatch/shard/0", "/metrics/job/breakwatch/shard/1"};
  const auto exporter = Make();
  ASSERT_EQ(exporter->Export(SampleSnapshot()).delivery, Delivery::kDelivered);
  exporter->Export(SampleSnapshot());
  EXPECT_THAT(Changes(), ElementsAre("DELETE /metrics/job/breakwatch/shard/0", "DELETE /metrics/job/breakwatch/shard/1",
                                     "PUT /metrics/job/breakwatch", "PUT /metrics/job/breakwatch"));
  ASSERT_EQ(journal->saved.size(), 2u);
  EXPECT_EQ(journal->saved.front().size(), 3u) << "old and new groups, before anything was sent";
  EXPECT_THAT(journal->groups, ElementsAre("/metrics/job/breakwatch"));
}

TEST_F(PushgatewayTest, PutsNothingWhileARetiredGroupCannotBeDeleted) {
  journal->groups = {"/metrics/job/old"};
  Answer([](const SeenRequest& request) { return Reply{request.method == "DELETE" ? 503 : 200}; });
  EXPECT_EQ(Make()->Export(SampleSnapshot()).delivery, Delivery::kTryAgain);
  EXPECT_THAT(Changes(), ElementsAre("DELETE /metrics/job/old"));
  EXPECT_THAT(journal->groups, ElementsAre("/metrics/job/old", "/metrics/job/breakwatch"));
}

TEST_F(PushgatewayTest, SendsNothingThatItCannotJournal) {
  journal->broken = true;
  const Outcome outcome = Make()->Export(SampleSnapshot());
  EXPECT_EQ(outcome.delivery, Delivery::kTryAgain);
  EXPECT_THAT(outcome.detail, HasSubstr("disk full"));
  EXPECT_TRUE(Changes().empty());
}

TEST_F(PushgatewayTest, DeletesTheGroupThatARefusedFirstPushLeaves) {
  Answer([](const SeenRequest& request) {
    return request.method == "PUT" ? Reply{400, {}, "pushed metrics are invalid or inconsistent:\n collected before"}
                                   : Reply{202};
  });
  const Outcome outcome = Make()->Export(SampleSnapshot());
  EXPECT_EQ(outcome.delivery, Delivery::kRefused);
  EXPECT_THAT(outcome.detail, HasSubstr("inconsistent:  collected before"));
  EXPECT_THAT(Changes(), ElementsAre("PUT /metrics/job/breakwatch", "DELETE /metrics/job/breakwatch"));
}

TEST_F(PushgatewayTest, KeepsTheGroupWhenALaterPushIsRefused) {
  const auto exporter = Make();
  ASSERT_EQ(exporter->Export(SampleSnapshot()).delivery, Delivery::kDelivered);
  Answer([](const SeenRequest&) { return Reply{400}; });
  EXPECT_EQ(exporter->Export(SampleSnapshot()).delivery, Delivery::kRefused);
  EXPECT_THAT(Changes(), ElementsAre("PUT /metrics/job/breakwatch", "PUT /metrics/job/breakwatch"));
}

TEST_F(PushgatewayTest, RetriesAfterTheTimeThatTheGatewayRequests) {
  for (const int busy : {408, 429, 500, 503}) {
    const Outcome outcome = ExportWith({busy, {{"Retry-After", "7"}}});
    EXPECT_EQ(outcome.delivery, Delivery::kTryAgain) << busy;
    EXPECT_EQ(outcome.after, seconds{7}) << busy;
  }
  EXPECT_EQ(ExportWith({500}).after, std::nullopt);
}

TEST_F(PushgatewayTest, WaitsLongIfAPersonMustFixTheCause) {
  for (const int wrong : {204, 302, 401, 403, 404, 405}) {
    const Outcome outcome = ExportWith({wrong});
    EXPECT_EQ(outcome.delivery, Delivery::kTryAgain) << wrong;
    EXPECT_GE(outcome.after.value_or(seconds{0}), seconds{60}) << wrong;
    EXPECT_THAT(outcome.detail, HasSubstr(std::to_string(wrong)));
  }
  EXPECT_EQ(ExportWith({413}).delivery, Delivery::kRefused);
  EXPECT_EQ(ExportWith({202}).delivery, Delivery::kDelivered);
  for (const int page : {200, 202, 203}) {
    const Outcome outcome = ExportWith({page, {{"Content-Type", "text/html"}}, "<html>Please sign in</html>"});
    EXPECT_EQ(outcome.delivery, Delivery::kTryAgain) << page;
    EXPECT_THAT(outcome.detail, HasSubstr("not an answer of a Pushgateway"));
    EXPECT_THAT(outcome.detail, HasSubstr("text/html: <html>Please sign in</html>"));
  }
}

TEST_F(PushgatewayTest, RetriesIfTheGatewayHangsClosesTheConnectionOrSendsTooMuch) {
  options.timeout = milliseconds{300};
  Reply hang, hang_up, cut;
  hang.hang = true;
  hang_up.hang_up = true;
  cut.cut_short = true;
  cut.body = std::string(1000, 'x');
  for (const Reply& fault : {hang, hang_up, cut, Reply{200, {}, std::string(2u << 20, 'x')}}) {
    const Outcome outcome = ExportWith(fault);
    EXPECT_EQ(outcome.delivery, Delivery::kTryAgain);
    EXPECT_FALSE(outcome.detail.empty());
  }
}

TEST_F(PushgatewayTest, KeepsTheSnapshotAfterEveryBadAnswer) {
  options.timeout = milliseconds{500};
  const auto exporter = Make();
  for (const auto& [name, reply, needs_person, detail] : fakes::BadAnswers()) {
    Answer([&reply = reply](const SeenRequest&) { return reply; });
    const Outcome outcome = exporter->Export(SampleSnapshot());
    EXPECT_EQ(outcome.delivery, Delivery::kTryAgain) << name;
    EXPECT_EQ(outcome.needs_person, needs_person) << name << ": " << outcome.detail;
    EXPECT_EQ(outcome.after.value_or(seconds{0}) >= seconds{60}, needs_person) << name;
    EXPECT_THAT(outcome.detail, HasSubstr(detail)) << name;
    EXPECT_THAT(outcome.detail, Not(HasSubstr("secret"))) << name;
    EXPECT_LT(outcome.detail.size(), fakes::kMaxDetailBytes) << name;
    EXPECT_EQ(outcome.detail.find('\n'), std::string::npos) << name;
  }
  Answer([](const SeenRequest&) { return Reply{}; });
  EXPECT_EQ(exporter->Export(SampleSnapshot()).delivery, Delivery::kDelivered);
}

TEST_F(PushgatewayTest, SaysWhatToDoIfAnotherGroupHasItsSeries) {
  const Outcome outcome = ExportWith(
      {400,
       {},
       "pushed metrics are invalid or inconsistent with existing metrics: collected metric \"compile_graphs\" "
       "{ ... } was collected before with the same name and label values\n"});
  EXPECT_EQ(outcome.delivery, Delivery::kRefused);
  EXPECT_THAT(outcome.detail, HasSubstr("set a different exporters.pushgateway.pool in each"));
}

// Sends nothing, and notes how long each request may take.
class TimedSender : public net::HttpSender {
 public:
  explicit TimedSender(std::vector<std::pair<std::string, milliseconds>>& timeouts) : timeouts_(timeouts) {}
  Result<net::HttpResponse> Send(const net::HttpRequest& request) override {
    timeouts_.emplace_back(request.method, request.timeout);
    return net::HttpResponse{200, {}, request.method == "GET" ? kStatus : ""};
  }

 private:
  std::vector<std::pair<std::string, milliseconds>>& timeouts_;
};

TEST_F(PushgatewayTest, GivesALongPushMoreTime) {
  Snapshot large = SampleSnapshot();
  while (Exposition(large).size() < (6u << 20)) {
    for (int i = 0; i < 1'000; ++i)
      large.models.push_back(fakes::MakeModel("org/" + std::to_string(large.models.size()), fakes::Commit('a'), {}));
  }
  for (const bool gzip : {true, false}) {
    std::vector<std::pair<std::string, milliseconds>> timeouts;
    options.url = "http://gateway";
    options.gzip = gzip;
    const auto exporter =
        MakePushgateway(options, std::make_unique<SharedJournal>(journal), std::make_unique<TimedSender>(timeouts));
    ASSERT_EQ(exporter->Export(SampleSnapshot()).delivery, Delivery::kDelivered);
    EXPECT_EQ(timeouts.back(), std::pair(std::string("PUT"), options.timeout));
    ASSERT_EQ(exporter->Export(large).delivery, Delivery::kDelivered);
    EXPECT_EQ(timeouts.back(), std::pair(std::string("PUT"), milliseconds(options.timeout + seconds{3})));
  }
}

TEST_F(PushgatewayTest, DetectsThatTheGatewayRestarted) {
  const auto exporter = Make();
  EXPECT_FALSE(exporter->CheckTarget().lost_state) << "nothing was published yet";
  ASSERT_EQ(exporter->Export(SampleSnapshot()).delivery, Delivery::kDelivered);
  EXPECT_FALSE(exporter->CheckTarget().lost_state);
  ShowStatus({200, {}, R"({"status":"success","data":{"start_time":"2026-11-21T03:00:00Z"}})"});
  EXPECT_TRUE(exporter->CheckTarget().lost_state);
  EXPECT_TRUE(exporter->CheckTarget().lost_state) << "until it is pushed again";
  ASSERT_EQ(exporter->Export(SampleSnapshot()).delivery, Delivery::kDelivered);
  EXPECT_FALSE(exporter->CheckTarget().lost_state);
}

class PushTimeFinderTest : public PushgatewayTest {
 protected:
  // What is found in a text that comes in pieces of `step` bytes.
  std::optional<std::string> Find(const std::string& text, std::size_t step) {
    PushTimeFinder finder(options, 0);
    for (std::size_t at = 0; at < text.size(); at += step) {
      if (!finder.Take(std::string_view(text).substr(at, step))) break;
    }
    return finder.time();
  }
};

TEST_F(PushTimeFinderTest, FindsTheTimeOfItsGroupInPiecesOfAnySize) {
  options.pool = "a\"b";
  const std::string text = "# TYPE push_time_seconds gauge\npush_time_seconds{instance=\"\",job=\"breakwatch\"} 1\n" +
                           std::string(200'000, 'x') +
                           "\npush_time_seconds{instance=\"\",job=\"breakwatch\",pool=\"a\\\"b\"} 2.5e+09\n";
  for (const std::size_t step : {1u, 7u, 4096u, 1u << 20}) EXPECT_EQ(Find(text, step), "2.5e+09") << step;
  EXPECT_EQ(Find(text.substr(0, text.size() - 1), 100), std::nullopt) << "a line without its end";
}

TEST_F(PushTimeFinderTest, TakesNoOtherGroup) {
  options.shards = 2;
  EXPECT_EQ(Find("push_time_seconds{instance=\"\",job=\"breakwatch\"} 1\n"
                 "push_time_seconds{instance=\"\",job=\"breakwatch\",shard=\"1\"} 2\n",
                 5),
            std::nullopt);
}

TEST_F(PushgatewayTest, IgnoresAnInvalidStatusPage) {
  const auto exporter = Make();
  ASSERT_EQ(exporter->Export(SampleSnapshot()).delivery, Delivery::kDelivered);
  for (const char* body : {"", "[]", "{", R"({"data":{"start_time":5}})", R"({"data":[]})", "\xff"}) {
    ShowStatus({200, {}, body});
    EXPECT_FALSE(exporter->CheckTarget().lost_state) << body;
  }
  ShowStatus(Reply{503});
  EXPECT_FALSE(exporter->CheckTarget().lost_state);
}

}  // namespace
}  // namespace breakwatch::exporters
