// A store of two sweeps for the tests of HTTP, in memory.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "breakwatch/api/queries.h"

namespace breakwatch::api {

class FakeQueries : public Queries {
 public:
  FakeQueries() {
    for (const char* id : {"s2", "s1"}) {
      sweeps_.emplace_back();
      sweeps_.back().id = id;
      sweeps_.back().toolchain.name = "default";
    }
    for (const char* mode : {"train", "eval"}) {
      ModelResult result;
      result.sweep_id = "s1";
      result.info.id = "org/name";
      result.info.sha = std::string(40, 'a');
      result.capture.mode = mode;
      result.capture.segments = {GraphSegment{}, GraphSegment{}};
      result.capture.segments[0].ended_by = "a site";
      results_.push_back({static_cast<std::int64_t>(results_.size()) + 1, result});
    }
  }

  Result<std::vector<Sweep>> Sweeps(const std::string& before, int rows) override {
    if (when_asked) when_asked();
    if (broken) return Error{ErrorCode::kStore, "the store is away"};
    std::vector<Sweep> page;
    bool passed = before.empty();
    for (const Sweep& sweep : sweeps_) {
      if (passed && page.size() < static_cast<std::size_t>(rows)) page.push_back(sweep);
      passed = passed || sweep.id == before;
    }
    if (!passed) return Error{ErrorCode::kNotFound, "no sweep " + before};
    return page;
  }
  Result<Sweep> FindSweep(const std::string& id) override {
    const std::string wanted = id == "latest" ? "s2" : id;
    for (const Sweep& sweep : sweeps_) {
      if (sweep.id == wanted) return sweep;
    }
    return Error{ErrorCode::kNotFound, "no sweep \"" + id + "\""};
  }
  Result<std::vector<ModelResult>> Results(const std::string&) override {
    std::vector<ModelResult> all;
    for (const PlacedResult& row : results_) all.push_back(row.result);
    return all;
  }
  Result<std::vector<PlacedResult>> ResultsAfter(const std::string&, const std::string& mode, std::int64_t place,
                                                 const PageSize& size) override {
    std::vector<PlacedResult> page;
    for (const PlacedResult& row : results_) {
      const bool wanted = row.place > place && (mode.empty() || row.result.capture.mode == mode);
      if (wanted && page.size() < static_cast<std::size_t>(size.rows)) page.push_back(row);
    }
    return page;
  }
  Result<PlanPage> PlanAfter(const std::string& sweep_id, std::int64_t place, int rows) override {
    PlanPage page;
    page.plan.sweep_id = sweep_id;
    for (std::int64_t at = place + 1; at <= 3 && page.places.size() < static_cast<std::size_t>(rows); ++at) {
      page.plan.models.emplace_back().info.id = "org/" + std::to_string(at);
      page.places.push_back(at);
    }
    page.actions["skip"] = 3;
    return page;
  }
  Result<std::vector<PlacedResult>> HistoryBefore(const std::string& model, std::int64_t place,
                                                  const PageSize& size) override {
    std::vector<PlacedResult> page;
    for (auto row = results_.rbegin(); row != results_.rend(); ++row) {
      const bool wanted = row->result.info.id == model && (place == 0 || row->place < place);
      if (wanted && page.size() < static_cast<std::size_t>(size.rows)) page.push_back(*row);
    }
    return page;
  }
  Result<std::vector<std::string>> ModelsAfter(const std::string& model, const std::string& contains,
                                               int rows) override {
    std::vector<std::string> page;
    for (const char* id : {"org/name", "org/other"}) {
      if (id > model && std::string(id).find(contains) != std::string::npos &&
          page.size() < static_cast<std::size_t>(rows))
        page.emplace_back(id);
    }
    return page;
  }
  Result<std::map<std::string, std::vector<SitePlace>>> SitesOf(std::span<const std::string> captures) override {
    std::map<std::string, std::vector<SitePlace>> sites;
    for (const std::string& capture : captures) {
      captures_read.push_back(capture);
      sites[capture] = {{"site-1", "Data-dependent branching", "GB0170", "supportable", "a/b.py", "forward", 7, 3},
                        {"site-2", "Data-dependent branching", "GB0170", "supportable", "a/c.py", "forward", 9, 1}};
    }
    return sites;
  }
  Result<CaptureResult> LoadCapture(const std::string& id) override {
    if (id != "c1") return Error{ErrorCode::kNotFound, "no capture \"" + id + "\""};
    CaptureResult capture;
    capture.sites.emplace_back().site_id = "site-1";
    capture.sites.back().explanation = "it depends on data";
    return capture;
  }
  Result<std::vector<ModelResult>> ResultsOf(const std::string& model) override {
    if (model == "org/name") return Results("s1");
    return Error{ErrorCode::kNotFound, "no result of model \"" + model + "\"; did you mean \"org/name\"?"};
  }
  Result<std::vector<ModelResult>> NewestResults(const std::string& model, const std::string&, const std::string&,
                                                 const std::string&, bool) override {
    return model == "org/name" ? Results("s1") : Result<std::vector<ModelResult>>(std::vector<ModelResult>{});
  }
  Result<std::vector<Letter>> LettersAfter(const std::string&, const std::string&, std::int64_t after_event,
                                           const PageSize& size) override {
    std::vector<Letter> page;
    for (std::int64_t id = after_event + 1; id <= 2 && page.size() < static_cast<std::size_t>(size.rows); ++id)
      page.push_back({"loki", id, R"({"event_id": )" + std::to_string(id) + "}"});
    return page;
  }
  Result<std::vector<TrendFold>> Trends(const TrendFilter& filter) override {
    TrendFold fold;
    fold.day = Day(std::chrono::days(20'000));
    fold.toolchain = "default";
    fold.rows.push_back({.scope = filter.by, .name = "", .gb_id = "", .numbers = {.models_tracked = 3}});
    return std::vector{fold};
  }
  Result<std::shared_ptr<const std::string>> Compare(const ComparisonQuery& query) override {
    if (query.a == "none") return Error{ErrorCode::kNotFound, "\"none\" matches no result"};
    return std::make_shared<const std::string>(R"({"a": "", "b": "", "models": [{"model": "m1"}, {"model": "m2"}]})");
  }

  bool broken = false;
  std::function<void()> when_asked;  // called first by Sweeps
  std::vector<std::string> captures_read;

 private:
  std::vector<Sweep> sweeps_;
  std::vector<PlacedResult> results_;
};

}  // namespace breakwatch::api
