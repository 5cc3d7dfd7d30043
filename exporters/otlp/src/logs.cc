#include <algorithm>
#include <utility>

#include "breakwatch/core/text.h"
#include "client.h"
#include "messages.h"

namespace breakwatch::exporters {
namespace {

using namespace otlp;  // NOLINT: this exporter's own parts

// The shortest time between two notices: a notice is an event too, and part of a later batch.
constexpr std::chrono::minutes kNoticePause{1};

class OtlpLogs : public EventExporter {
 public:
  OtlpLogs(OtlpOptions options, std::unique_ptr<net::HttpSender> sender, const Clock& clock)
      : options_(std::move(options)),
        clock_(clock),
        client_(options_, std::move(sender), /*once=*/true),
        writer_(MakeMessageWriter(options_.encoding)) {}

  std::string Name() const override { return options_.name; }
  Outcome Export(std::span<const StoredEvent> batch) override;

 private:
  std::string Encode(std::span<const StoredEvent> batch);
  std::string Settle(std::span<const StoredEvent> batch, const PartialSuccess& partial, Outcome& out);
  std::string Paced(const std::string& text);

  const OtlpOptions options_;
  const Clock& clock_;
  Client client_;
  std::unique_ptr<MessageWriter> writer_;
  std::int64_t unnamed_ = 0;  // rejected records that no notice has counted yet
  std::optional<SteadyTime> noticed_at_;
};

std::string OtlpLogs::Encode(std::span<const StoredEvent> batch) {
  BeginLogs(*writer_, options_.resource, options_.scope_version);
  for (const StoredEvent& event : batch) WriteLogRecord(*writer_, event);
  return writer_->Take();
}

Outcome OtlpLogs::Export(std::span<const StoredEvent> batch) {
  Answer answer = client_.Send(Encode(batch), Counted(batch.size(), "event"));
  Outcome outcome = std::move(answer.outcome);
  if (outcome.delivery == Delivery::kDelivered) outcome.notice = Settle(batch, answer.partial, outcome);
  outcome.smaller = batch.size() > 1 && (answer.too_large || answer.slow_down);
  if (answer.too_large && outcome.smaller) outcome.delivery = Delivery::kTryAgain;
  outcome.names_events = answer.too_large;  // a single event that is too large is so by itself
  return outcome;
}

// Returns a notice. The rejected records are known only if all are: the answer has no more than their number.
std::string OtlpLogs::Settle(std::span<const StoredEvent> batch, const PartialSuccess& partial, Outcome& out) {
  const std::string why = partial.message.empty() ? "without a reason" : partial.message;
  const auto size = static_cast<std::int64_t>(batch.size());
  if (partial.rejected >= size) {
    for (std::size_t place = 0; place < batch.size(); ++place)
      out.refused.push_back({place, "the receiver rejected the record: " + why});
    return {};
  }
  unnamed_ += partial.rejected;
  if (unnamed_ == 0) return partial.message.empty() ? std::string() : Paced("the receiver warns: " + why);
  return Paced("the receiver rejected " + Counted(unnamed_, "log record") +
               " and does not say which; they are not sent again, the last " + std::to_string(partial.rejected) +
               " are among events " + std::to_string(batch.front().id) + " to " + std::to_string(batch.back().id) +
               ": " + why);
}

std::string OtlpLogs::Paced(const std::string& text) {
  const SteadyTime now = clock_.Steady();
  if (noticed_at_ && now - *noticed_at_ < kNoticePause) return {};
  noticed_at_ = now;
  unnamed_ = 0;
  return text;
}

}  // namespace

std::unique_ptr<EventExporter> MakeOtlpLogs(OtlpOptions options, std::unique_ptr<net::HttpSender> sender,
                                            const Clock& clock) {
  return std::make_unique<OtlpLogs>(std::move(options), std::move(sender), clock);
}

}  // namespace breakwatch::exporters
