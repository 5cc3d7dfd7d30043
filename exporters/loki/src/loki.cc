#include "breakwatch/exporters/loki.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "answers.h"
#include "breakwatch/core/json_text.h"

namespace breakwatch::exporters {
namespace {

using nlohmann::json;

// Never throws: stored lines are UTF-8, and an invalid one must not end the thread.

void AddUnlessEmpty(json& object, const char* name, const std::string& value) {
  if (!value.empty()) object[name] = value;
}

class Loki : public EventExporter {
 public:
  Loki(LokiOptions options, std::unique_ptr<net::HttpSender> sender)
      : options_(std::move(options)), sender_(std::move(sender)) {
    while (options_.url.ends_with('/')) options_.url.pop_back();
    json labels = json::object();
    AddUnlessEmpty(labels, "service_name", options_.service_name);
    AddUnlessEmpty(labels, "environment", options_.environment);
    AddUnlessEmpty(labels, "pool", options_.pool);
    head_ = R"({"streams":[{"stream":)" + JsonText(labels) + R"(,"values":[)";
  }

  std::string Name() const override { return options_.name; }
  Outcome Export(std::span<const StoredEvent> batch) override;

 private:
  static constexpr std::string_view kTail = "]}]}";

  std::string Entry(const StoredEvent& event) const;
  Outcome Push(std::string values);
  bool IsAccepted(std::int64_t id) const { return std::binary_search(accepted_.begin(), accepted_.end(), id); }

  LokiOptions options_;
  std::unique_ptr<net::HttpSender> sender_;
  std::string head_;  // the start of every body, up to the values
  // Events of the last batch that Loki accepted before a later push of the batch failed. A retry skips them.
  std::vector<std::int64_t> accepted_;
};

std::string Loki::Entry(const StoredEvent& event) const {
  json entry = json::array({std::to_string(event.ts_ns), event.line});
  if (options_.structured_metadata) {
    json metadata = json::object();
    AddUnlessEmpty(metadata, "sweep_id", event.sweep_id);
    AddUnlessEmpty(metadata, "model", event.model);
    AddUnlessEmpty(metadata, "commit", event.commit);
    if (!metadata.empty()) entry.push_back(std::move(metadata));
  }
  return JsonText(entry);
}

Outcome Loki::Push(std::string values) {
  net::HttpRequest request;
  request.method = "POST";
  request.url = options_.url + "/loki/api/v1/push";
  request.headers.emplace_back("Content-Type", "application/json");
  if (!options_.tenant.empty()) request.headers.emplace_back("X-Scope-OrgID", options_.tenant);
  request.body = head_ + std::move(values) + std::string(kTail);
  request.gzip_body = options_.gzip;
  request.user = options_.user;
  request.password = options_.password;
  request.bearer_token = options_.bearer_token;
  request.tls = options_.tls;
  request.connect_timeout = options_.connect_timeout;
  request.timeout = options_.timeout;
  request.max_response_bytes = 1u << 20;
  return OutcomeOfPush(sender_->Send(request));
}

Outcome Loki::Export(std::span<const StoredEvent> batch) {
  std::string values;
  std::vector<std::int64_t> ids;  // the ids of `values`
  const auto flush = [&]() -> Outcome {
    if (ids.empty()) return {};
    Outcome outcome = Push(std::exchange(values, {}));
    if (outcome.delivery == Delivery::kDelivered) accepted_.insert(accepted_.end(), ids.begin(), ids.end());
    std::sort(accepted_.begin(), accepted_.end());
    ids.clear();
    return outcome;
  };
  for (const StoredEvent& event : batch) {
    if (IsAccepted(event.id)) continue;
    const std::string entry = Entry(event);
    if (head_.size() + values.size() + 1 + entry.size() + kTail.size() > options_.max_push_bytes) {
      if (Outcome outcome = flush(); outcome.delivery != Delivery::kDelivered) return outcome;
    }
    if (!values.empty()) values += ',';
    values += entry;
    ids.push_back(event.id);
  }
  if (Outcome outcome = flush(); outcome.delivery != Delivery::kDelivered) return outcome;
  accepted_.clear();
  return {};
}

}  // namespace

std::unique_ptr<EventExporter> MakeLoki(LokiOptions options, std::unique_ptr<net::HttpSender> sender) {
  return std::make_unique<Loki>(std::move(options), std::move(sender));
}

}  // namespace breakwatch::exporters
