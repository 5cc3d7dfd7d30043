#include "breakwatch/exporters/pushgateway.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "answers.h"
#include "breakwatch/core/exposition.h"
#include "breakwatch/core/gzip.h"
#include "breakwatch/core/json.h"
#include "push_time.h"

namespace breakwatch::exporters {
namespace {

using net::HttpRequest;

// What a gateway reads and checks at least, of the text: a slow one needs 9 s for 20 MB.
constexpr std::size_t kBytesPerSecond = 2u << 20;
// Look at the exposition at every twentieth check: each five minutes.
constexpr int kChecksPerLook = 20;
constexpr std::size_t kLargestExposition = 1u << 30;

class Pushgateway : public MetricExporter {
 public:
  Pushgateway(PushgatewayOptions options, std::unique_ptr<GroupJournal> journal,
              std::unique_ptr<net::HttpSender> sender)
      : options_(std::move(options)),
        journal_(std::move(journal)),
        sender_(std::move(sender)),
        groups_(GroupPaths(options_)) {
    while (options_.url.ends_with('/')) options_.url.pop_back();
  }

  std::string Name() const override { return options_.name; }
  Outcome Export(const Snapshot& snapshot) override;
  TargetCheck CheckTarget() override;

 private:
  Outcome Prepare();
  Outcome DeleteRetired(const std::vector<std::string>& known);
  Result<std::size_t> Fill(const Snapshot& snapshot, Shard shard, HttpRequest& request) const;
  Outcome Put(const Snapshot& snapshot, std::size_t shard);
  HttpRequest Request(const char* method, const std::string& path) const;
  Outcome Delete(const std::string& group);
  std::string StartTime();
  std::string LookForOthers();
  std::optional<std::string> PushTime();

  PushgatewayOptions options_;
  std::unique_ptr<GroupJournal> journal_;
  std::unique_ptr<net::HttpSender> sender_;
  const std::vector<std::string> groups_;
  bool prepared_ = false;         // the journal lists our groups, and all retired ones are deleted
  std::set<std::string> pushed_;  // groups that contain our metrics
  bool published_ = false;
  std::string published_start_;           // the gateway's start_time before the last delivered PUT; empty: unknown
  std::optional<std::string> push_time_;  // of our group, after the last PUT
  int checks_ = 0;                        // since the last PUT
  bool named_others_ = false;
};

Outcome JournalFault(const Error& error) {
  return {Delivery::kTryAgain, "journal of groups: " + error.message, error.after};
}

HttpRequest Pushgateway::Request(const char* method, const std::string& path) const {
  HttpRequest request;
  request.method = method;
  request.url = options_.url + path;
  request.user = options_.user;
  request.password = options_.password;
  request.tls = options_.tls;
  request.connect_timeout = options_.connect_timeout;
  request.timeout = options_.timeout;
  request.max_response_bytes = 1u << 20;  // answers are one line; the status page has all flags
  return request;
}

Outcome Pushgateway::Delete(const std::string& group) {
  const auto answer = sender_->Send(Request("DELETE", group));
  if (answer && answer->status == 404) return {};  // a proxy may answer 404 for a missing group
  return OutcomeOfPush(answer, "DELETE " + group);
}

Outcome Pushgateway::DeleteRetired(const std::vector<std::string>& known) {
  for (const std::string& group : known) {
    if (std::find(groups_.begin(), groups_.end(), group) != groups_.end()) {
      pushed_.insert(group);
      continue;
    }
    Outcome outcome = Delete(group);
    if (outcome.delivery == Delivery::kDelivered) continue;
    outcome.delivery = Delivery::kTryAgain;  // retry: no PUT may precede it
    return outcome;
  }
  return {};
}

// Writes the journal first, so that after a crash it lists at least the groups in the gateway.
Outcome Pushgateway::Prepare() {
  const auto known = journal_->Load();
  if (!known) return JournalFault(known.error());
  std::vector<std::string> all = *known;
  for (const std::string& group : groups_) {
    if (std::find(all.begin(), all.end(), group) == all.end()) all.push_back(group);
  }
  if (all != *known) {
    if (const auto saved = journal_->Save(all); !saved) return JournalFault(saved.error());
  }
  if (Outcome outcome = DeleteRetired(*known); outcome.delivery != Delivery::kDelivered) return outcome;
  if (all != groups_) {
    if (const auto saved = journal_->Save(groups_); !saved) return JournalFault(saved.error());
  }
  prepared_ = true;
  return {};
}

// Compressed while it is written, because the text of a large snapshot takes ten times the memory. Returns the text's
// bytes.
Result<std::size_t> Pushgateway::Fill(const Snapshot& snapshot, Shard shard, HttpRequest& request) const {
  const auto append = [&request](std::string_view piece) { request.body.append(piece); };
  if (!options_.gzip) {
    WriteExposition(snapshot, shard, append);
    return request.body.size();
  }
  request.headers.emplace_back("Content-Encoding", "gzip");
  GzipWriter writer(append);
  WriteExposition(snapshot, shard, [&writer](std::string_view chunk) { writer.Write(chunk); });
  if (auto finished = writer.Finish(); !finished) return finished.error();
  return writer.read_bytes();
}

Outcome Pushgateway::Put(const Snapshot& snapshot, std::size_t shard) {
  const std::string& group = groups_[shard];
  HttpRequest request = Request("PUT", group);
  request.headers.emplace_back("Content-Type", "text/plain; version=0.0.4; charset=utf-8");
  auto bytes = Fill(snapshot, {shard, groups_.size()}, request);
  if (!bytes) return {Delivery::kTryAgain, "PUT " + group + ": " + bytes.error().message};
  request.timeout += *bytes / kBytesPerSecond * std::chrono::seconds(1);
  Outcome outcome = OutcomeOfPush(sender_->Send(request), "PUT " + group);
  if (outcome.delivery == Delivery::kDelivered) {
    pushed_.insert(group);
  } else if (outcome.delivery == Delivery::kRefused && !pushed_.contains(group)) {
    // If the first push is refused, the gateway keeps an empty group with push time 0.
    const Outcome deleted = Delete(group);
    if (deleted.delivery != Delivery::kDelivered) outcome.detail += "; and " + deleted.detail;
  }
  return outcome;
}

Outcome Pushgateway::Export(const Snapshot& snapshot) {
  // Read before the PUT: if the gateway restarts in between, the restart is detected.
  const std::string start = StartTime();
  if (!start.empty() && start != published_start_) pushed_.clear();
  if (!prepared_) {
    if (Outcome outcome = Prepare(); outcome.delivery != Delivery::kDelivered) return outcome;
  }
  for (std::size_t shard = 0; shard < groups_.size(); ++shard) {
    if (Outcome outcome = Put(snapshot, shard); outcome.delivery != Delivery::kDelivered) return outcome;
  }
  published_ = true;
  published_start_ = start;
  push_time_.reset();
  checks_ = 0;
  return {};
}

TargetCheck Pushgateway::CheckTarget() {
  if (!published_) return {};
  const std::string start = StartTime();
  if (start.empty()) return {};
  if (start != published_start_) return {.lost_state = true};
  return {.notice = LookForOthers()};
}

// A gateway accepts pushes of two programs to one group, and each replaces the series of the other. Only its time of
// the last push shows it, which costs a scrape.
std::string Pushgateway::LookForOthers() {
  if (named_others_ || checks_++ % kChecksPerLook != 0) return {};
  const auto time = PushTime();
  if (!time) return {};
  const std::string before = push_time_.value_or(*time);
  push_time_ = time;
  if (*time == before) return {};
  named_others_ = true;
  return "another program pushed to the group " + groups_.front() +
         " after this daemon, and replaced its series. If two daemons push to one gateway, set a different "
         "exporters.pushgateway.pool (or job) in each";
}

std::optional<std::string> Pushgateway::PushTime() {
  PushTimeFinder finder(options_, 0);
  HttpRequest request = Request("GET", "/metrics?name[]=push_time_seconds");  // old gateways send everything
  request.max_response_bytes = kLargestExposition;
  request.on_body = [&finder](std::string_view piece) { return finder.Take(piece); };
  const auto answer = sender_->Send(request);
  return answer && answer->status == 200 ? finder.time() : std::nullopt;
}

// Empty if the gateway is unavailable or does not report it.
std::string Pushgateway::StartTime() {
  HttpRequest request = Request("GET", "/api/v1/status");
  request.timeout = std::min(options_.timeout, std::chrono::milliseconds{5'000});
  const auto answer = sender_->Send(request);
  if (!answer || answer->status != 200 || !CheckJson(answer->body, 1u << 20, 32)) return {};
  const auto status = nlohmann::json::parse(answer->body, nullptr, /*allow_exceptions=*/false);
  const auto start = nlohmann::json::json_pointer("/data/start_time");
  return status.contains(start) && status[start].is_string() ? status[start].get<std::string>() : std::string();
}

}  // namespace

std::unique_ptr<MetricExporter> MakePushgateway(PushgatewayOptions options, std::unique_ptr<GroupJournal> journal,
                                                std::unique_ptr<net::HttpSender> sender) {
  return std::make_unique<Pushgateway>(std::move(options), std::move(journal), std::move(sender));
}

}  // namespace breakwatch::exporters
