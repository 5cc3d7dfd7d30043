#include "breakwatch/exporters/remote_write.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <unordered_set>
#include <utility>

#include "answers.h"
#include "breakwatch/core/series.h"
#include "breakwatch/core/text.h"
#include "fingerprints.h"
#include "write_request.h"

namespace breakwatch::exporters {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;

// After this time Prometheus and the like no longer show a series that got no sample (lookback delta).
constexpr minutes kForgotten{5};
// An export that takes longer starts again with new samples: at its end, its first ones would almost be forgotten.
constexpr minutes kMaxRun{4};
// Mimir forgets metadata that it does not get for ten minutes. Prometheus ignores it.
constexpr minutes kMetadataEvery{5};
// Exports of this many different snapshots may fail halfway and still be followed up by markers.
constexpr std::size_t kMaxPartial = 8;
// By how much the clock may go back without samples going back. After a larger step, it was wrong before.
constexpr milliseconds kClockStep{60'000};

// One export: its samples, and how many of them the receiver has answered for.
struct Run {
  Snapshot snapshot;  // shares the models of the original
  std::int64_t time_ms = 0;
  SteadyTime began{};
  std::size_t done = 0;       // samples, in their order; refused ones too
  bool maybe_stored = false;  // some of them
  std::size_t requests = 0, refused = 0;
  std::string refusal;  // the first
};

// True if no series can have left between the two.
bool HaveSameSeries(const Snapshot& a, const Snapshot& b) {
  return a.taken_at == b.taken_at && a.delivery.empty() && b.delivery.empty() && a.models.shared() == b.models.shared();
}

class RemoteWrite : public MetricExporter {
 public:
  RemoteWrite(RemoteWriteOptions options, std::unique_ptr<net::HttpSender> sender, const Clock& clock)
      : options_(std::move(options)),
        sender_(std::move(sender)),
        clock_(clock),
        batch_(std::max<std::size_t>(1, options_.batch_series)),
        request_(options_.labels),
        metadata_(options_.labels) {}

  std::string Name() const override { return options_.name; }
  Outcome Export(const Snapshot& snapshot) override;
  std::optional<milliseconds> RepeatEvery() const override { return options_.interval; }

 private:
  bool Continues(const Snapshot& snapshot) const;
  void Begin(const Snapshot& snapshot);
  std::int64_t NextTime();
  void AddMarkers();
  void AddSamples();
  void Add(const Series& series, double value);
  void Flush();
  void SendMetadata();
  Outcome Finish();
  bool IsLate() const { return clock_.Steady() - run_->began > kMaxRun; }
  Result<net::HttpResponse> Send(const WriteRequest& body);

  const RemoteWriteOptions options_;
  const std::unique_ptr<net::HttpSender> sender_;
  const Clock& clock_;
  std::size_t batch_;  // series of a request; smaller than configured after a 413

  std::optional<Run> run_;             // not complete
  std::optional<Snapshot> published_;  // by the last complete export
  std::vector<Run> partial_;           // the later ones that were not completed, perhaps stored in part
  std::int64_t last_time_ms_ = 0;

  // While an export runs.
  WriteRequest request_, metadata_;
  std::size_t place_ = 0;  // of the next sample in the run
  std::optional<Outcome> failure_;

  std::optional<SteadyTime> metadata_sent_;
  bool takes_metadata_ = true;
};

Outcome RemoteWrite::Export(const Snapshot& snapshot) {
  if (!Continues(snapshot)) Begin(snapshot);
  place_ = 0;
  failure_.reset();
  request_.Clear();
  AddMarkers();
  AddSamples();
  Flush();
  if (failure_) return *failure_;
  SendMetadata();
  return Finish();
}

// The same bytes again, where the export before ended. What a receiver has already is then no conflict for it.
bool RemoteWrite::Continues(const Snapshot& snapshot) const {
  return run_ && run_->snapshot.taken_at == snapshot.taken_at && !IsLate();
}

void RemoteWrite::Begin(const Snapshot& snapshot) {
  const SteadyTime now = clock_.Steady();
  if (run_ && run_->maybe_stored) partial_.push_back(*std::move(run_));
  std::erase_if(partial_, [&](const Run& run) { return now - run.began > kMaxRun + kForgotten; });
  if (partial_.size() > kMaxPartial) partial_.erase(partial_.begin());
  run_.emplace(Run{.snapshot = snapshot, .time_ms = NextTime(), .began = now, .refusal = {}});
}

std::int64_t RemoteWrite::NextTime() {
  const std::int64_t now = std::chrono::floor<milliseconds>(clock_.Now()).time_since_epoch().count();
  const bool is_later = now > last_time_ms_ || last_time_ms_ - now > kClockStep.count();
  return last_time_ms_ = is_later ? now : last_time_ms_ + 1;
}

// Of the series that earlier exports sent and this one does not.
void RemoteWrite::AddMarkers() {
  std::vector<const Snapshot*> before;
  if (published_ && !HaveSameSeries(*published_, run_->snapshot)) before.push_back(&*published_);
  for (const Run& run : partial_) before.push_back(&run.snapshot);
  if (before.empty()) return;
  const Fingerprints now(run_->snapshot);
  std::unordered_set<std::uint64_t> marked;
  for (const Snapshot* snapshot : before) {
    EachSeries(*snapshot, {}, [&](const Series& series) {
      const std::uint64_t fingerprint = Fingerprint(series);
      if (now.Contains(fingerprint) || !marked.insert(fingerprint).second) return;
      Add(series, std::bit_cast<double>(kStaleMarkerBits));
    });
  }
}

void RemoteWrite::AddSamples() {
  metadata_.Clear();
  std::string name;
  EachSeries(run_->snapshot, {}, [&](const Series& series) {
    if (series.name != name) name = series.name, metadata_.AddMetadata(series);
    Add(series, series.value);
  });
}

void RemoteWrite::Add(const Series& series, double value) {
  if (failure_ || place_++ < run_->done) return;
  request_.Add(series, {value, run_->time_ms});
  if (request_.size() >= batch_) Flush();
}

void RemoteWrite::Flush() {
  if (failure_ || request_.size() == 0) return;
  if (IsLate()) {
    failure_ = {Delivery::kTryAgain, "remote write: after " + std::to_string(kMaxRun.count()) + " minutes only " +
                                         Counted(run_->done, "sample") + " sent; starting again"};
    return;
  }
  const auto answer = Send(request_);
  Outcome outcome = OutcomeOfWrite(answer);
  if (outcome.delivery == Delivery::kTryAgain) {
    run_->maybe_stored |= WriteMayBeStored(answer);
    if (outcome.smaller && batch_ > 1) {
      batch_ /= 2;
      outcome.detail += "; sending " + std::to_string(batch_) + " series at once from now on";
    }
    failure_ = std::move(outcome);
    return;
  }
  ++run_->requests;
  if (outcome.delivery == Delivery::kRefused && run_->refused++ == 0) run_->refusal = std::move(outcome.detail);
  run_->done += request_.size();
  run_->maybe_stored = true;
  request_.Clear();
}

// Nothing depends on it: a receiver that refuses it does not get it again, and otherwise the next export sends it.
void RemoteWrite::SendMetadata() {
  const SteadyTime now = clock_.Steady();
  if (!takes_metadata_ || metadata_.size() == 0 || (metadata_sent_ && now - *metadata_sent_ < kMetadataEvery)) return;
  const Outcome outcome = OutcomeOfWrite(Send(metadata_));
  takes_metadata_ = outcome.delivery != Delivery::kRefused;
  if (outcome.delivery == Delivery::kDelivered) metadata_sent_ = now;
}

Outcome RemoteWrite::Finish() {
  Outcome outcome;
  if (run_->refused > 0) {
    outcome.delivery = Delivery::kRefused;
    outcome.detail = std::to_string(run_->refused) + " of " + Counted(run_->requests, "request") +
                     " refused, first: " + run_->refusal;
  }
  published_ = std::move(run_->snapshot);
  run_.reset();
  partial_.clear();
  return outcome;
}

Result<net::HttpResponse> RemoteWrite::Send(const WriteRequest& body) {
  net::HttpRequest request;
  request.method = "POST";
  request.url = options_.url;
  request.headers = options_.headers;
  request.headers.emplace_back("Content-Encoding", "snappy");
  request.headers.emplace_back("Content-Type", "application/x-protobuf");
  request.headers.emplace_back("X-Prometheus-Remote-Write-Version", "0.1.0");
  if (!options_.tenant.empty()) request.headers.emplace_back("X-Scope-OrgID", options_.tenant);
  request.body = body.Compressed();
  request.user = options_.user;
  request.password = options_.password;
  request.bearer_token = options_.bearer_token;
  request.tls = options_.tls;
  request.connect_timeout = options_.connect_timeout;
  request.timeout = options_.timeout;
  request.max_response_bytes = 1u << 20;  // an answer is a line of text
  return sender_->Send(request);
}

}  // namespace

std::unique_ptr<MetricExporter> MakeRemoteWrite(RemoteWriteOptions options, std::unique_ptr<net::HttpSender> sender,
                                                const Clock& clock) {
  return std::make_unique<RemoteWrite>(std::move(options), std::move(sender), clock);
}

}  // namespace breakwatch::exporters
