#include "breakwatch/exporters/loki.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "answers.h"
#include "breakwatch/core/text.h"
#include "push.h"
#include "refusal.h"

namespace breakwatch::exporters {
namespace {

using std::chrono::nanoseconds;

// For so long an answer about age holds for other events, which are not sent then. Afterwards Loki is asked again,
// because its settings may have changed.
constexpr std::chrono::seconds kAgeHolds{60};
// How much younger than the limit an event becomes, so that it is accepted also after some retries.
constexpr nanoseconds kRestampMargin = std::chrono::minutes(10);
// Queries look for younger entries among those that Loki has not written to its store yet (query_ingesters_within).
constexpr nanoseconds kQueriesSee = std::chrono::hours(2);
constexpr int kMaxPushes = 4;  // of one batch; each settles some events or changes how the rest is sent

class Loki : public EventExporter {
 public:
  Loki(LokiOptions options, std::unique_ptr<net::HttpSender> sender, const Clock& clock)
      : options_(std::move(options)),
        clock_(clock),
        client_(options_, std::move(sender)),
        metadata_(options_.structured_metadata != StructuredMetadata::kOff) {}

  std::string Name() const override { return options_.name; }
  Outcome Export(std::span<const StoredEvent> batch) override;

 private:
  struct AgeLimit {
    std::int64_t oldest_ns = 0;
    std::string detail;
  };
  using Entries = std::vector<PushEntry>;

  AgeLimit Limit() const;
  void RemoveTooOld(Entries& entries, Outcome& out);
  bool SettleTooOld(PushEntry& entry, const std::string& detail, Outcome& out);
  std::optional<std::vector<bool>> AskWhatLokiHas(const Entries& entries);
  std::optional<Refusal> Explain(const net::HttpResponse& answer, const Entries& entries);
  Entries Settle(const Refusal& refusal, const Entries& entries, Outcome& out);
  void Learn(const Refusal& refusal, Outcome& out);

  const LokiOptions options_;
  const Clock& clock_;
  LokiClient client_;
  bool metadata_;
  // Loki may have events of the batch. True at the start: an earlier process may have ended before it noted a delivery.
  bool unsure_ = true;
  AgeLimit learned_;  // from an answer
  SteadyTime learned_at_{};
  std::map<std::int64_t, std::int64_t> restamped_;  // times by event of the current batch: resends are identical
  std::int64_t last_restamp_ns_ = 0, newest_sent_ns_ = 0;
  bool dropping_ = false, warned_of_others_ = false;
};

void AddNotice(Outcome& out, const std::string& text) { out.notice += (out.notice.empty() ? "" : "; ") + text; }

Loki::AgeLimit Loki::Limit() const {
  AgeLimit limit;
  if (options_.max_age) {
    limit.oldest_ns = (clock_.Now() - *options_.max_age).time_since_epoch().count();
    limit.detail = "older than exporters.loki.max_age";
  }
  const bool holds = learned_.oldest_ns != 0 && clock_.Steady() - learned_at_ < kAgeHolds;
  return holds && learned_.oldest_ns > limit.oldest_ns ? learned_ : limit;
}

// True if the entry is to be sent, with another time.
bool Loki::SettleTooOld(PushEntry& entry, const std::string& detail, Outcome& out) {
  switch (options_.too_old) {
    case TooOld::kDeadLetter:
      out.refused.push_back({entry.place, detail});
      return false;
    case TooOld::kDrop:
      if (!std::exchange(dropping_, true))
        AddNotice(out, "drops events that are too old, as exporters.loki.too_old requests; the first is event " +
                           std::to_string(entry.event->id) + ": " + detail);
      return false;
    case TooOld::kRestamp:
      break;
  }
  std::int64_t& ts_ns = restamped_[entry.event->id];
  if (ts_ns <= entry.ts_ns) {
    const std::int64_t accepted = std::max(Limit().oldest_ns, entry.ts_ns) + kRestampMargin.count();
    ts_ns = last_restamp_ns_ = std::max(accepted, last_restamp_ns_ + 1);
  }
  entry.ts_ns = ts_ns;
  return true;
}

void Loki::RemoveTooOld(Entries& entries, Outcome& out) {
  const AgeLimit limit = Limit();
  Entries kept;
  for (PushEntry& entry : entries) {
    if (const auto known = restamped_.find(entry.event->id); known != restamped_.end())
      entry.ts_ns = std::max(entry.ts_ns, known->second);
    if (entry.ts_ns >= limit.oldest_ns || SettleTooOld(entry, limit.detail, out)) kept.push_back(entry);
  }
  if (kept.size() == entries.size()) dropping_ = false;
  entries = std::move(kept);
  std::ranges::sort(entries, {}, &PushEntry::ts_ns);
}

std::optional<std::vector<bool>> Loki::AskWhatLokiHas(const Entries& entries) {
  const std::int64_t seen_ns = (clock_.Now() - kQueriesSee).time_since_epoch().count();
  if (entries.empty() || entries.front().ts_ns < seen_ns) return std::nullopt;
  return client_.Has(entries);
}

// What Loki refused of a push, from its answer; or, if the answer does not name it, from what Loki has now.
std::optional<Refusal> Loki::Explain(const net::HttpResponse& answer, const Entries& entries) {
  std::vector<SentEntry> sent;
  for (const PushEntry& entry : entries) sent.push_back(Sent(entry, metadata_));
  auto refusal = ReadRefusal(answer.body, sent);
  if (refusal) return refusal;
  // Entries over a rate are not refused for good.
  if (Lower(answer.body).find("rate limit") != std::string::npos) return std::nullopt;
  const auto has = AskWhatLokiHas(entries);
  if (!has || std::ranges::count(*has, true) == 0) return std::nullopt;  // it may refuse the whole push
  refusal.emplace();
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (!(*has)[i]) refusal->entries.push_back({i, RefusedFor::kOther, ShortLine(Trim(answer.body), 400)});
  }
  return refusal;
}

void Loki::Learn(const Refusal& refusal, Outcome& out) {
  for (const auto& [place, why, detail] : refusal.entries) {
    const bool of_stream = why == RefusedFor::kStreamAge;
    const auto oldest = of_stream ? refusal.stream_oldest_ns : refusal.oldest_ns;
    if ((!of_stream && why != RefusedFor::kAge) || !oldest) continue;
    learned_ = {*oldest, "older than Loki accepts: " + detail};
    learned_at_ = clock_.Steady();
    // The newest entry of the stream is even younger.
    if (!of_stream || newest_sent_ns_ >= *oldest || std::exchange(warned_of_others_, true)) continue;
    AddNotice(out,
              "the stream has newer entries than this daemon sent. If two daemons send with the same labels, set a "
              "different exporters.loki.pool in each: " +
                  detail);
  }
}

// Returns the entries to push again.
Loki::Entries Loki::Settle(const Refusal& refusal, const Entries& entries, Outcome& out) {
  Learn(refusal, out);
  Entries again;
  for (const auto& [place, why, detail] : refusal.entries) {
    PushEntry entry = entries.at(place);
    if (why == RefusedFor::kAge || why == RefusedFor::kStreamAge) {
      if (SettleTooOld(entry, "push to Loki: 400: " + detail, out)) again.push_back(entry);
    } else if (why == RefusedFor::kMetadata && options_.structured_metadata == StructuredMetadata::kAuto) {
      if (std::exchange(metadata_, false))
        AddNotice(out, "Loki refuses structured metadata; events are sent without it from now on: " + detail);
      again.push_back(entry);
    } else {
      out.refused.push_back({entry.place, "push to Loki: 400: " + detail});
    }
  }
  return again;
}

Outcome Loki::Export(std::span<const StoredEvent> batch) {
  Outcome out;
  Entries entries;
  for (std::size_t i = 0; i < batch.size(); ++i) entries.push_back({i, batch[i].ts_ns, &batch[i]});
  RemoveTooOld(entries, out);
  if (unsure_) {
    const auto has = AskWhatLokiHas(entries);
    for (std::size_t i = entries.size(); has && i-- > 0;) {
      if ((*has)[i]) entries.erase(entries.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }
  for (int pushes = 1; !entries.empty(); ++pushes) {
    const auto answer = client_.Push(entries, metadata_);
    Outcome outcome = OutcomeOfPush(answer, entries.size());
    if (outcome.delivery == Delivery::kDelivered) {
      newest_sent_ns_ = std::max(newest_sent_ns_, entries.back().ts_ns);
      break;
    }
    std::optional<Refusal> refusal;
    if (outcome.delivery == Delivery::kRefused && pushes < kMaxPushes) refusal = Explain(*answer, entries);
    // Without structured metadata Loki refuses every event, so this is not about single ones.
    const bool all = refusal && refusal->metadata_disallowed && options_.structured_metadata == StructuredMetadata::kOn;
    if (!refusal || all) {
      unsure_ = unsure_ || outcome.delivery == Delivery::kRefused || MayHaveStored(answer);
      outcome.notice = std::move(out.notice);
      outcome.refuses_all = all;
      return outcome;
    }
    entries = Settle(*refusal, entries, out);
    std::ranges::sort(entries, {}, &PushEntry::ts_ns);
  }
  unsure_ = false;
  restamped_.clear();
  std::ranges::sort(out.refused, {}, &RefusedEvent::place);
  return out;
}

}  // namespace

std::unique_ptr<EventExporter> MakeLoki(LokiOptions options, std::unique_ptr<net::HttpSender> sender,
                                        const Clock& clock) {
  return std::make_unique<Loki>(std::move(options), std::move(sender), clock);
}

}  // namespace breakwatch::exporters
