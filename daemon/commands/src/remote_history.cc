#include "remote_history.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "breakwatch/core/json.h"
#include "breakwatch/core/json_text.h"
#include "breakwatch/core/text.h"
#include "breakwatch/net/url.h"

namespace breakwatch::commands {
namespace {

using nlohmann::json;

constexpr const char* kApi = "/api/v1";
constexpr std::size_t kMaxPages = 100'000;
constexpr int kRowsOfAPage = 1000;

Error NotADaemon(const std::string& url, int status) {
  return {ErrorCode::kUnavailable, url + " is no breakwatch daemon: it answers with status " + std::to_string(status) +
                                       "; --server takes the address that `breakwatch serve` prints"};
}

std::string Parameter(const char* name, const std::string& value) {
  return value.empty() ? "" : std::string("&") + name + "=" + net::PercentEncode(value);
}

// Reads the history page by page.
class RemoteHistory final : public store::SweepStore {
 public:
  explicit RemoteHistory(RemoteDaemon daemon) : daemon_(std::move(daemon)) {}

  Result<std::vector<Sweep>> Sweeps(int limit) override {
    return Rows<Sweep>("/sweeps?", "sweeps", SweepFromJson, static_cast<std::size_t>(std::max(limit, 0)));
  }
  Result<Sweep> FindSweep(const std::string& id) override {
    if (id.find('/') != std::string::npos)
      return Error{ErrorCode::kNotFound, "no sweep " + id + " at " + daemon_.url()};
    return One("/sweeps/" + net::PercentEncode(id), SweepFromJson);
  }
  Result<Plan> LoadPlan(const std::string& sweep_id) override {
    json plan;
    auto read =
        EachPage("/sweeps/" + net::PercentEncode(sweep_id) + "/plan?", "models", [&](json& page) -> Result<bool> {
          if (plan.is_null()) {
            plan = std::move(page);
          } else {
            for (json& model : page["models"]) plan["models"].push_back(std::move(model));
          }
          return true;
        });
    if (!read) return read.error();
    return PlanFromJson(JsonText(plan));
  }
  Result<std::vector<ModelResult>> Results(const std::string& sweep_id) override {
    return Rows<ModelResult>("/sweeps/" + net::PercentEncode(sweep_id) + "/results?", "results", ModelResultFromJson);
  }
  Result<std::vector<ModelResult>> NewestResults(const store::ResultFilter& filter) override {
    return Rows<ModelResult>("/results?" + Parameter("model", filter.model) + Parameter("mode", filter.mode) +
                                 Parameter("toolchain", filter.toolchain) + Parameter("revision", filter.revision) +
                                 Parameter("each_commit", filter.each_commit ? "true" : ""),
                             "results", ModelResultFromJson);
  }
  Result<std::vector<std::string>> Models() override {
    std::vector<std::string> models;
    auto read = EachPage("/model-ids?", "models", [&](json& page) -> Result<bool> {
      for (const json& id : page["models"]) {
        if (!id.is_string()) return Unreadable("the id of a model is no text");
        models.push_back(id.get<std::string>());
      }
      return true;
    });
    if (!read) return read.error();
    return models;
  }
  Result<CaptureResult> LoadCapture(const std::string& capture_id) override {
    return One("/captures/" + net::PercentEncode(capture_id), CaptureResultFromJson);
  }

  // What only the loop of a daemon does.
  Result<void> BeginSweep(const Sweep&, const Plan&, std::span<const Event>, const store::CurrentChange&,
                          std::span<const store::SweepEnd>) override {
    return Refused();
  }
  Result<void> AppendResults(std::span<const store::ResultWrite>) override { return Refused(); }
  Result<std::vector<bool>> HaveResults(const std::string&) override { return Refused(); }
  Result<void> FinishSweep(const Sweep&, std::span<const Event>, const store::CurrentChange&) override {
    return Refused();
  }
  Result<std::vector<Sweep>> Unfinished() override { return Refused(); }
  Result<void> NoteFailure(SystemTime) override { return Refused(); }
  Result<SystemTime> LastFailure() override { return Refused(); }
  Result<std::map<std::string, store::CaptureHistory>> Histories(std::span<const std::string>,
                                                                 const std::string&) override {
    return Refused();
  }
  Result<std::map<std::string, store::RevisionRecord>> LatestRevisions(std::span<const std::string>) override {
    return Refused();
  }
  Result<std::map<std::string, store::CaptureCost>> Costs(store::CostOf, std::span<const std::string>,
                                                          const std::string&) override {
    return Refused();
  }

 private:
  Error Refused() const { return {ErrorCode::kInternal, "the history of " + daemon_.url() + " is only read"}; }
  Error Unreadable(const std::string& cause) const {
    return {ErrorCode::kInvalid, "cannot read the answer of " + daemon_.url() + ": " + cause +
                                     "; is its version older or newer than this program's?"};
  }

  // Calls `use` for each page until it returns false. `path` ends with "?" or a parameter.
  // `name`: the list in a page.
  Result<void> EachPage(const std::string& path, const char* name, const std::function<Result<bool>(json&)>& use) {
    std::string cursor;
    for (std::size_t pages = 0; pages < kMaxPages; ++pages) {
      const auto text =
          daemon_.Get(kApi + path + Parameter("limit", std::to_string(kRowsOfAPage)) + Parameter("cursor", cursor));
      if (!text) return text.error();
      json page = json::parse(*text, nullptr, /*allow_exceptions=*/false);
      if (!page.is_object() || !page.contains("next") || !page.contains(name) || !page[name].is_array())
        return Unreadable("it is no page of a list");
      const json next = page["next"];
      const auto goes_on = use(page);
      if (!goes_on) return goes_on.error();
      if (!*goes_on || !next.is_string()) return {};
      if (next == cursor) break;
      cursor = next;
    }
    return Unreadable("the list does not end");
  }

  template <class Value>
  Result<Value> One(const std::string& path, Result<Value> (*read_value)(std::string_view)) {
    const auto text = daemon_.Get(kApi + path);
    if (!text) return text.error();
    auto value = read_value(*text);
    if (!value) return Unreadable(value.error().message);
    return value;
  }

  template <class Row>
  Result<std::vector<Row>> Rows(const std::string& path, const char* name, Result<Row> (*read_row)(std::string_view),
                                std::size_t limit = SIZE_MAX) {
    std::vector<Row> rows;
    auto read = EachPage(path, name, [&](json& page) -> Result<bool> {
      for (const json& document : page[name]) {
        if (rows.size() >= limit) return false;
        auto row = read_row(JsonText(document));
        if (!row) return Unreadable(row.error().message);
        rows.push_back(*std::move(row));
      }
      return rows.size() < limit;
    });
    if (!read) return read.error();
    return rows;
  }

  RemoteDaemon daemon_;
};

}  // namespace

std::optional<ErrorCode> CodeNamed(const std::string& name) {
  static const std::map<std::string, ErrorCode> kCodes = {{"usage", ErrorCode::kUsage},
                                                          {"configuration", ErrorCode::kConfig},
                                                          {"store", ErrorCode::kStore},
                                                          {"unavailable", ErrorCode::kUnavailable},
                                                          {"not_found", ErrorCode::kNotFound},
                                                          {"invalid", ErrorCode::kInvalid},
                                                          {"interrupted", ErrorCode::kInterrupted}};
  const auto found = kCodes.find(name);
  return found == kCodes.end() ? std::nullopt : std::optional(found->second);
}

Result<RemoteDaemon> RemoteDaemon::At(const App& app, const std::string& server) {
  const auto url = net::ParseUrl(server);
  if (!url || url->has_user || !url->query.empty()) {
    return Error{ErrorCode::kUsage,
                 "--server: expected a URL such as http://127.0.0.1:9723, not \"" + net::PrintableUrl(server) + "\""};
  }
  const auto& web = app.settings().web;
  auto token = config::ReadSecret(web.token, web.token_file);
  if (!token) return token.error();
  std::string base = url->Origin() + url->path;
  while (base.ends_with('/')) base.pop_back();
  return RemoteDaemon(app.make_sender(), base, *std::move(token));
}

Result<std::string> RemoteDaemon::Get(const std::string& path) {
  net::HttpRequest request;
  request.url = url_ + path;
  return Ask(std::move(request));
}

Result<std::string> RemoteDaemon::Post(const std::string& path, const std::string& body) {
  net::HttpRequest request;
  request.method = "POST";
  request.url = url_ + path;
  request.headers = {{"Content-Type", "application/json"}};
  request.body = body;
  request.bearer_token = token_;
  return Ask(std::move(request));
}

Result<std::string> RemoteDaemon::Ask(net::HttpRequest request) {
  request.headers.emplace_back("Accept", "application/json");
  auto answer = sender_->Send(request);
  if (!answer) return answer.error();
  if (answer->status >= 200 && answer->status < 300) return std::move(answer->body);
  const json problem = json::parse(answer->body, nullptr, /*allow_exceptions=*/false);
  if (!problem.is_object() || !problem.contains("detail") || !problem["detail"].is_string())
    return NotADaemon(url_, answer->status);
  const std::string name = problem.contains("code") && problem["code"].is_string() ? problem["code"] : json("");
  const auto code = CodeNamed(name).value_or(answer->status < 500 ? ErrorCode::kUsage : ErrorCode::kInternal);
  return Error{code, ShortLine(problem["detail"].get<std::string>(), 2000)};
}

Result<std::unique_ptr<store::SweepStore>> OpenHistory(const App& app) {
  if (app.server.empty()) {
    auto store = app.open_store(app.settings(), /*read_only=*/true);
    if (!store) return store.error();
    return std::unique_ptr<store::SweepStore>(*std::move(store));
  }
  auto daemon = RemoteDaemon::At(app, app.server);
  if (!daemon) return daemon.error();
  return std::unique_ptr<store::SweepStore>(std::make_unique<RemoteHistory>(*std::move(daemon)));
}

}  // namespace breakwatch::commands
