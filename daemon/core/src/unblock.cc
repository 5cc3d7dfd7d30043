#include "breakwatch/core/unblock.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

namespace breakwatch {
namespace {

constexpr std::size_t kMostTried = 500;  // groups in one step of the greedy choice

using Sites = std::vector<int>;  // ascending, different

// All models with the same sites.
struct Group {
  Sites sites;
  std::int64_t weight = 0;
};

Sites Union(const Sites& a, const Sites& b) {
  Sites all;
  std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(all));
  return all;
}

bool Contains(const Sites& all, const Sites& some) {
  return std::includes(all.begin(), all.end(), some.begin(), some.end());
}

std::int64_t WeightIn(const std::vector<Group>& groups, const Sites& chosen) {
  std::int64_t weight = 0;
  for (const Group& group : groups) weight += Contains(chosen, group.sites) ? group.weight : 0;
  return weight;
}

std::vector<Group> GroupsOf(std::span<const BlockedModel> models) {
  std::map<Sites, std::int64_t> weights;
  for (const BlockedModel& model : models) {
    const std::set<int> sites(model.sites.begin(), model.sites.end());
    if (!sites.empty()) weights[Sites(sites.begin(), sites.end())] += std::max<std::int64_t>(1, model.weight);
  }
  std::vector<Group> groups;
  for (auto& [sites, weight] : weights) groups.push_back({sites, weight});
  return groups;
}

// Groups that share no site with those of another part.
std::vector<std::vector<Group>> PartsOf(std::vector<Group> groups) {
  std::vector<std::size_t> parent(groups.size());
  std::iota(parent.begin(), parent.end(), 0);
  const auto root = [&](std::size_t i) {
    while (parent[i] != i) i = parent[i] = parent[parent[i]];
    return i;
  };
  std::map<int, std::size_t> first;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    for (const int site : groups[i].sites) {
      const auto [owner, is_new] = first.emplace(site, i);
      if (!is_new) parent[root(i)] = root(owner->second);
    }
  }
  std::map<std::size_t, std::vector<Group>> parts;
  for (std::size_t i = 0; i < groups.size(); ++i) parts[root(i)].push_back(std::move(groups[i]));
  std::vector<std::vector<Group>> list;
  for (auto& [i, part] : parts) list.push_back(std::move(part));
  return list;
}

// The best choices of up to `most` sites of one part: [k] has at most k sites.
class PartSearch {
 public:
  PartSearch(std::vector<Group> groups, std::size_t most, std::size_t effort)
      : groups_(std::move(groups)), best_(most + 1), effort_(effort) {
    std::stable_sort(groups_.begin(), groups_.end(),
                     [](const Group& a, const Group& b) { return a.weight > b.weight; });
    rest_.assign(groups_.size() + 1, 0);
    for (std::size_t i = groups_.size(); i-- > 0;) rest_[i] = rest_[i + 1] + groups_[i].weight;
  }

  std::vector<UnblockStep> Run() {
    Greedy();
    Branch(0, {}, 0);
    for (UnblockStep& step : best_) step.exact = steps_ <= effort_;
    return best_;
  }

 private:
  void Keep(const Sites& chosen, std::int64_t weight) {
    for (std::size_t k = chosen.size(); k < best_.size() && best_[k].weight < weight; ++k) {
      best_[k].sites = chosen, best_[k].weight = weight;
    }
  }

  // Starts the search with a good choice, and is the answer where the search is given up.
  void Greedy() {
    Sites chosen;
    while (chosen.size() < best_.size()) {
      Sites next;
      double most = 0;
      const std::int64_t now = WeightIn(groups_, chosen);
      for (std::size_t i = 0; i < std::min(groups_.size(), kMostTried); ++i) {  // the heaviest come first
        const Group& group = groups_[i];
        Sites all = Union(chosen, group.sites);
        if (all.size() == chosen.size() || all.size() >= best_.size()) continue;
        const double gain =
            static_cast<double>(WeightIn(groups_, all) - now) / static_cast<double>(all.size() - chosen.size());
        if (gain > most) most = gain, next = std::move(all);
      }
      if (next.empty()) return;
      chosen = std::move(next);
      Keep(chosen, WeightIn(groups_, chosen));
    }
  }

  // `decided`: the weight of the groups before `i` that `chosen` has.
  void Branch(std::size_t i, const Sites& chosen, std::int64_t decided) {
    if (++steps_ > effort_) return;
    Keep(chosen, decided);
    while (i < groups_.size() && Contains(chosen, groups_[i].sites)) decided += groups_[i++].weight;
    Keep(chosen, decided);
    if (i == groups_.size() || !CanImprove(chosen.size(), decided + rest_[i])) return;
    if (Sites all = Union(chosen, groups_[i].sites); all.size() < best_.size()) {
      Branch(i + 1, all, decided + groups_[i].weight);
    }
    Branch(i + 1, chosen, decided);
  }

  bool CanImprove(std::size_t from, std::int64_t bound) const {
    return std::any_of(best_.begin() + static_cast<std::ptrdiff_t>(from), best_.end(),
                       [&](const UnblockStep& step) { return step.weight < bound; });
  }

  std::vector<Group> groups_;
  std::vector<std::int64_t> rest_;  // weight of the groups from i on
  std::vector<UnblockStep> best_;
  std::size_t effort_, steps_ = 0;
};

// The best split of k sites over two parts, for each k.
std::vector<UnblockStep> Together(const std::vector<UnblockStep>& a, const std::vector<UnblockStep>& b) {
  std::vector<UnblockStep> all(a.size());
  for (std::size_t k = 0; k < all.size(); ++k) {
    std::size_t split = 0;
    for (std::size_t i = 0; i <= k; ++i) {
      if (a[i].weight + b[k - i].weight > a[split].weight + b[k - split].weight) split = i;
    }
    all[k] = {Union(a[split].sites, b[k - split].sites), a[split].weight + b[k - split].weight,
              a.back().exact && b.back().exact};
  }
  return all;
}

}  // namespace

std::vector<UnblockStep> Unblock(std::span<const BlockedModel> models, std::size_t most, std::size_t effort) {
  const std::vector<Group> groups = GroupsOf(models);
  std::set<int> sites;
  std::int64_t whole = 0;
  for (const Group& group : groups) sites.insert(group.sites.begin(), group.sites.end()), whole += group.weight;
  most = std::min(most, sites.size());
  std::vector<UnblockStep> best(most + 1);
  for (std::vector<Group>& part : PartsOf(groups)) {
    best = Together(best, PartSearch(std::move(part), most, effort).Run());
  }
  best.erase(best.begin());  // of no site
  const auto all = std::find_if(best.begin(), best.end(), [&](const UnblockStep& s) { return s.weight == whole; });
  if (all != best.end()) best.erase(all + 1, best.end());
  return best;
}

}  // namespace breakwatch
