#include <algorithm>
#include <utility>

#include "breakwatch/core/text.h"
#include "client.h"
#include "metric_requests.h"

namespace breakwatch::exporters {
namespace {

using namespace otlp;  // NOLINT: this exporter's own parts

constexpr std::size_t kLeastRequestBytes = 16u << 10;

std::uint64_t Nanoseconds(SystemTime time) { return static_cast<std::uint64_t>(time.time_since_epoch().count()); }

class OtlpMetrics : public MetricExporter {
 public:
  OtlpMetrics(OtlpOptions options, std::unique_ptr<net::HttpSender> sender, const Clock& clock)
      : options_(std::move(options)),
        clock_(clock),
        started_ns_(Nanoseconds(clock.Now())),
        client_(options_, std::move(sender), /*once=*/false),
        max_request_bytes_(std::max(options_.max_request_bytes, kLeastRequestBytes)) {}

  std::string Name() const override { return options_.name; }
  Outcome Export(const Snapshot& snapshot) override;
  std::optional<std::chrono::milliseconds> RepeatEvery() const override { return options_.repeat_every; }

 private:
  // Of all requests with a snapshot.
  struct Sum {
    Outcome outcome;
    std::size_t points = 0;
    PartialSuccess partial{};
  };

  void Send(std::string body, std::size_t points, Sum& sum);
  std::string NoticeOf(const Sum& sum);

  const OtlpOptions options_;
  const Clock& clock_;
  const std::uint64_t started_ns_;
  Client client_;
  std::size_t max_request_bytes_;
  std::string noticed_;  // the receiver's last text: each export would repeat it
};

Outcome OtlpMetrics::Export(const Snapshot& snapshot) {
  Sum sum;
  MetricRequests requests(options_, max_request_bytes_, {started_ns_, Nanoseconds(clock_.Now())},
                          [&](std::string body, std::size_t points) { Send(std::move(body), points, sum); });
  EachSeries(snapshot, {}, [&](const Series& series) {
    if (sum.outcome.delivery == Delivery::kDelivered) requests.Add(series);
  });
  if (sum.outcome.delivery == Delivery::kDelivered) requests.Finish();
  sum.outcome.notice = NoticeOf(sum);
  return std::move(sum.outcome);
}

void OtlpMetrics::Send(std::string body, std::size_t points, Sum& sum) {
  Answer answer = client_.Send(std::move(body), Counted(points, "data point"));
  sum.points += points;
  sum.partial.rejected += answer.partial.rejected;
  if (!answer.partial.message.empty()) sum.partial.message = std::move(answer.partial.message);
  sum.outcome = std::move(answer.outcome);
  if (!answer.too_large || max_request_bytes_ == kLeastRequestBytes) return;
  max_request_bytes_ = std::max(max_request_bytes_ / 2, kLeastRequestBytes);
  sum.outcome.delivery = Delivery::kTryAgain;
}

std::string OtlpMetrics::NoticeOf(const Sum& sum) {
  const auto& [rejected, message] = sum.partial;
  const bool news = (rejected > 0 || !message.empty()) && message != noticed_;
  if (sum.outcome.delivery == Delivery::kDelivered) noticed_ = message;
  if (!news) return {};
  const std::string why = message.empty() ? "without a reason" : message;
  if (rejected == 0) return "the receiver warns: " + why;
  return "the receiver rejected " + std::to_string(rejected) + " of " + Counted(sum.points, "data point") +
         ", which are not sent again: " + why;
}

}  // namespace

std::unique_ptr<MetricExporter> MakeOtlpMetrics(OtlpOptions options, std::unique_ptr<net::HttpSender> sender,
                                                const Clock& clock) {
  return std::make_unique<OtlpMetrics>(std::move(options), std::move(sender), clock);
}

}  // namespace breakwatch::exporters
