#include "push.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "breakwatch/core/json_text.h"
#include "breakwatch/core/text.h"
#include "breakwatch/net/url.h"

namespace breakwatch::exporters {
namespace {

using nlohmann::json;

constexpr std::size_t kMaxQueryEntries = 5000;  // Loki's default limit
constexpr std::chrono::milliseconds kQueryTimeout{10'000};

void AddUnlessEmpty(json& object, const char* name, const std::string& value) {
  if (!value.empty()) object[name] = value;
}

json Metadata(const StoredEvent& event) {
  json metadata = json::object();
  AddUnlessEmpty(metadata, "sweep_id", event.sweep_id);
  AddUnlessEmpty(metadata, "model", event.model);
  AddUnlessEmpty(metadata, "commit", event.commit);
  return metadata;
}

// Times and lines in the answer to a query. nullopt: it is not a complete answer.
std::optional<std::set<std::pair<std::string, std::string>>> Found(const std::string& body) {
  const json document = json::parse(body, nullptr, /*allow_exceptions=*/false);
  const json::json_pointer streams("/data/result"), values("/values");
  if (!document.is_object() || !document.contains(streams) || !document[streams].is_array()) return std::nullopt;
  std::set<std::pair<std::string, std::string>> found;
  std::size_t entries = 0;
  for (const json& stream : document[streams]) {
    if (!stream.is_object() || !stream.contains(values)) return std::nullopt;
    for (const json& value : stream[values]) {
      if (!value.is_array() || value.size() < 2 || !value[0].is_string() || !value[1].is_string()) return std::nullopt;
      ++entries;
      found.emplace(value[0].get<std::string>(), value[1].get<std::string>());
    }
  }
  if (entries >= kMaxQueryEntries) return std::nullopt;  // there may be more
  return found;
}

}  // namespace

LokiClient::LokiClient(const LokiOptions& options, std::unique_ptr<net::HttpSender> sender)
    : options_(options), sender_(std::move(sender)) {
  json labels = json::object();
  AddUnlessEmpty(labels, "service_name", options_.service_name);
  AddUnlessEmpty(labels, "environment", options_.environment);
  AddUnlessEmpty(labels, "pool", options_.pool);
  head_ = R"({"streams":[{"stream":)" + JsonText(labels) + R"(,"values":[)";
  std::string selector;
  for (const auto& [name, value] : labels.items())
    selector += (selector.empty() ? "" : ",") + name + "=" + JsonText(value);
  selector_ = net::PercentEncode("{" + selector + "}");
}

SentEntry Sent(const PushEntry& entry, bool with_metadata) {
  SentEntry sent{entry.ts_ns, ToUtf8(entry.event->line).size(), 0, 0};
  if (!with_metadata) return sent;
  const json metadata = Metadata(*entry.event);
  for (const auto& [name, value] : metadata.items()) {
    ++sent.metadata_entries;
    sent.metadata_size += name.size() + ToUtf8(value.get_ref<const std::string&>()).size();
  }
  return sent;
}

net::HttpRequest LokiClient::Request(const std::string& path) const {
  net::HttpRequest request;
  request.url = options_.url;
  while (request.url.ends_with('/')) request.url.pop_back();
  request.url += path;
  if (!options_.tenant.empty()) request.headers.emplace_back("X-Scope-OrgID", options_.tenant);
  request.user = options_.user;
  request.password = options_.password;
  request.bearer_token = options_.bearer_token;
  request.tls = options_.tls;
  request.connect_timeout = options_.connect_timeout;
  request.timeout = options_.timeout;
  return request;
}

Result<net::HttpResponse> LokiClient::Push(std::span<const PushEntry> entries, bool with_metadata) {
  net::HttpRequest request = Request("/loki/api/v1/push");
  request.method = "POST";
  request.headers.emplace_back("Content-Type", "application/json");
  request.gzip_body = options_.gzip;
  request.fresh_connection = true;
  request.body = head_;
  for (const PushEntry& one : entries) {
    json entry = json::array({std::to_string(one.ts_ns), one.event->line});
    json metadata = with_metadata ? Metadata(*one.event) : json();
    if (!metadata.empty()) entry.push_back(std::move(metadata));
    if (request.body.size() > head_.size()) request.body += ',';
    request.body += JsonText(entry);
  }
  request.body += "]}]}";
  // A refusal can have a text for each entry.
  request.max_response_bytes = (1u << 20) + 2 * request.body.size();
  return sender_->Send(request);
}

std::optional<std::vector<bool>> LokiClient::Has(std::span<const PushEntry> entries) {
  if (!may_query_ || entries.size() >= kMaxQueryEntries) return std::nullopt;
  const auto [first, last] = std::ranges::minmax(entries, {}, &PushEntry::ts_ns);
  net::HttpRequest request =
      Request("/loki/api/v1/query_range?direction=forward&limit=" + std::to_string(kMaxQueryEntries) + "&start=" +
              std::to_string(first.ts_ns) + "&end=" + std::to_string(last.ts_ns + 1) + "&query=" + selector_);
  request.timeout = std::min(request.timeout, kQueryTimeout);
  const auto answer = sender_->Send(request);
  // Not a fault: the password may be one for writing only, or the server may only take pushes.
  if (answer && answer->status >= 400 && answer->status < 500 && answer->status != 429) may_query_ = false;
  if (!answer || answer->status != 200) return std::nullopt;
  const auto found = Found(answer->body);
  if (!found) return std::nullopt;
  std::vector<bool> has;
  for (const PushEntry& entry : entries)
    has.push_back(found->contains({std::to_string(entry.ts_ns), ToUtf8(entry.event->line)}));
  return has;
}

}  // namespace breakwatch::exporters
