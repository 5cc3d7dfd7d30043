#include "listing.h"

#include <algorithm>

#include "breakwatch/core/text.h"
#include "breakwatch/net/url.h"
#include "hub_errors.h"
#include "ranking.h"
#include "url.h"

namespace breakwatch::hub {
namespace {

// Writes 6000000000 as "6B", the form that the Hub documents.
std::string ShortCount(std::int64_t count) {
  for (const auto& [unit, letter] : {std::pair{1'000'000'000LL, 'B'}, {1'000'000LL, 'M'}, {1'000LL, 'K'}}) {
    if (count > 0 && count % unit == 0) return std::to_string(count / unit) + letter;
  }
  return std::to_string(count);
}

std::string ParameterRange(const ListRequest& request) {
  std::string range;
  if (request.min_params) range = "min:" + ShortCount(*request.min_params);
  if (request.max_params) range += (range.empty() ? "max:" : ",max:") + ShortCount(*request.max_params);
  return range;
}

// One listing in progress: requests pages until it has enough models.
class PagedQuery {
 public:
  PagedQuery(std::string first_page, std::size_t wanted, const HubOptions& options, const FamilyTable& families,
             HubClient& client)
      : next_(std::move(first_page)), wanted_(wanted), options_(options), families_(families), client_(client) {}

  void AskForNextPage() {
    client_.Get(Kind::kList, next_, [this](HubClient::Answer answer) { TakePage(answer); });
  }

  std::vector<ListedModel> models;
  int duplicates = 0, unreadable = 0;
  std::optional<Error> fault;  // why it ended early
  bool refused = false;        // the server rejected the query

  bool HasEnough() const { return !fault || (!models.empty() && models.size() * 10 >= wanted_ * 9); }

 private:
  void TakePage(const HubClient::Answer& answer) {
    ++pages_;
    if (!answer || answer->status != 200) {
      refused = answer && answer->status >= 400 && !IsOutage(answer);
      fault = Error{answer ? ErrorCode::kUnavailable : answer.error().code,
                    refused ? Shown(answer) : Shown(answer) + " (" + answer.effort + ")",
                    answer ? !refused : answer.error().retryable};
      return;
    }
    if (!TakeModels(answer->body) || models.size() >= wanted_) return;
    const auto link = answer->Header("link");
    const auto next = link ? NextLink(*link) : std::nullopt;
    if (!next) return;
    if (pages_ >= options_.max_pages) {
      fault = Error{ErrorCode::kUnavailable, "more than " + std::to_string(options_.max_pages) + " pages"};
      return;
    }
    const auto target = NextPage(*next, next_, options_.endpoint);
    if (!target) {
      fault = Error{ErrorCode::kUnavailable, "the Hub's next page is not part of this listing at " + options_.endpoint +
                                                 ": \"" + OneLine(*next) + "\" is not followed"};
      return;
    }
    if (*target == next_) {
      fault = Error{ErrorCode::kUnavailable, "the Hub's next page is the same page"};
      return;
    }
    next_ = *target;
    AskForNextPage();
  }

  bool TakeModels(const std::string& body) {
    constexpr std::size_t kMaxBytes = 64u << 20;
    constexpr int kMaxDepth = 64;
    const Result<Json> page = ParseJson(body, kMaxBytes, kMaxDepth);
    if (!page || !page->is_array()) {
      fault = Error{ErrorCode::kUnavailable,
                    "the answer is not a list of models: " +
                        (page ? "a JSON " + std::string(page->type_name()) : page.error().message)};
      return false;
    }
    for (const Json& item : *page) {
      Result<ListedModel> model = ReadListedModel(item, families_);
      if (model) {
        models.push_back(*std::move(model));
      } else {
        ++unreadable;
      }
    }
    duplicates += RemoveDuplicates(models);
    return true;
  }

  std::string next_;
  const std::size_t wanted_;
  const HubOptions& options_;
  const FamilyTable& families_;
  HubClient& client_;
  int pages_ = 0;
};

// Empty: a single query for an overall listing.
std::vector<std::string> TasksToList(const ListRequest& request, const FamilyTable& families) {
  if (!request.per_family || !request.task.empty()) return {""};
  std::vector<std::string> tasks;
  for (const auto& [tag, family] : families.pipeline_tags()) tasks.push_back(tag);
  return tasks;
}

Result<void> CheckQuery(const PagedQuery& query, const std::string& task, bool only_one, Listing& listing) {
  const std::string of_task = task.empty() ? "" : " of " + task;
  if (query.duplicates > 0)
    listing.warnings.push_back("dropped, because listed twice: " + Counted(query.duplicates, "model"));
  if (query.unreadable > 0) {
    listing.warnings.push_back("dropped, because without a valid id: " + Counted(query.unreadable, "listed model"));
  }
  if (!query.fault) return {};
  // A tag that a mirror does not know affects only that tag.
  if (!query.HasEnough() && (only_one || !query.refused)) {
    return Error{ErrorCode::kUnavailable, "the listing" + of_task + " failed: " + query.fault->message,
                 query.fault->retryable};
  }
  listing.warnings.push_back("the listing" + of_task + " ended early, after " + Counted(query.models.size(), "model") +
                             ": " + query.fault->message);
  return {};
}

}  // namespace

const std::string& ExpandQuery() {
  static const std::string kQuery = [] {
    std::string query;
    for (const char* field :
         {"sha", "config", "safetensors", "gated", "downloads", "likes", "tags", "pipeline_tag", "library_name",
          "private", "disabled", "createdAt", "lastModified", "trendingScore", "transformersInfo"}) {
      query += (query.empty() ? "expand=" : "&expand=") + std::string(field);
    }
    return query;
  }();
  return kQuery;
}

std::string ListPath(const ListRequest& request, const std::string& sort_key, const std::string& task, int page_size) {
  std::string path = "/api/models?sort=" + sort_key + "&limit=" + std::to_string(page_size);
  const auto add = [&](const char* name, const std::string& value) {
    if (!value.empty()) path += std::string("&") + name + "=" + net::PercentEncode(value);
  };
  for (const std::string& filter : request.filters) add("filter", filter);
  add("filter", request.library);  // "library" is an old alias
  add("author", request.author);
  add("search", request.search);
  add("pipeline_tag", task.empty() ? request.task : task);
  if (request.gated) add("gated", *request.gated ? "true" : "false");
  add("num_parameters", ParameterRange(request));
  return path + "&" + ExpandQuery();
}

Result<Listing> FetchListing(const ListRequest& request, const HubOptions& options, const FamilyTable& families,
                             HubClient& client, std::stop_token stop) {
  const Result<std::string> sort_key = SortKey(request.sort);
  if (!sort_key) return sort_key.error();
  const int top = std::max(1, request.top);
  // Requests a few more than needed, so that duplicates do not require another page.
  const int page_size = std::min(options.page_size, top + std::min(top / 10 + 1, 20));
  const std::vector<std::string> tasks = TasksToList(request, families);
  std::vector<std::unique_ptr<PagedQuery>> queries;
  for (const std::string& task : tasks) {
    queries.push_back(std::make_unique<PagedQuery>(ListPath(request, *sort_key, task, page_size),
                                                   static_cast<std::size_t>(top), options, families, client));
    queries.back()->AskForNextPage();
  }
  client.BoundBy(options.listing_timeout);
  const Result<void> ran = client.Run(stop);
  client.BoundBy(std::nullopt);
  if (!ran) return ran.error();

  Listing listing;
  for (std::size_t i = 0; i < queries.size(); ++i) {
    if (Result<void> good = CheckQuery(*queries[i], tasks[i], queries.size() == 1, listing); !good) return good.error();
    std::move(queries[i]->models.begin(), queries[i]->models.end(), std::back_inserter(listing.models));
  }
  if (queries.size() > 1) {
    RemoveDuplicates(listing.models);
    SortModels(listing.models, *sort_key);
  }
  listing.models = TakeTop(std::move(listing.models), request);
  return listing;
}

}  // namespace breakwatch::hub
