#include "breakwatch/core/model_filter.h"

#include <algorithm>
#include <set>

#include "breakwatch/core/text.h"
#include "filter_node.h"

namespace breakwatch {
namespace {

using Node = ModelFilter::Node;
using Op = Node::Op;

constexpr std::size_t kShownBytes = 200;

std::string Shown(std::string_view text) { return "\"" + ShortLine(text, kShownBytes) + "\""; }

bool Evaluate(const Node& node, const FilterSubject& subject) {
  const auto holds = [&](const Node& child) { return Evaluate(child, subject); };
  switch (node.op) {
    case Op::kTerm:
      return filter::TermMatches(node.key, node.text, subject);
    case Op::kNot:
      return !holds(node.children.front());
    case Op::kAnd:
      return std::all_of(node.children.begin(), node.children.end(), holds);
    case Op::kFile:
      if (node.ids.contains(Lower(subject.id)) ||
          (!subject.requested_id.empty() && node.ids.contains(Lower(subject.requested_id)))) {
        return true;
      }
      [[fallthrough]];
    case Op::kOr:
      return std::any_of(node.children.begin(), node.children.end(), holds);
  }
  return false;
}

bool UsesKey(const Node& node, FilterKey key) {
  if (node.op == Op::kTerm) return node.key == key;
  if (key == FilterKey::kId && !node.ids.empty()) return true;
  return std::any_of(node.children.begin(), node.children.end(), [&](const Node& n) { return UsesKey(n, key); });
}

// An operand that binds more loosely than its operator stands in parentheses.
int Looseness(const Node& node) {
  return node.op == Op::kTerm || node.op == Op::kNot ? 0 : node.op == Op::kAnd ? 1 : 2;
}

void WriteWithin(const Node& parent, const Node& child, std::string& out);

std::string Quoted(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + '"';
}

// `out` is no level deeper than the expression that was read, apart from those of its files.
void Write(const Node& node, std::string& out) {
  if (node.op == Op::kTerm) {
    if (node.key != FilterKey::kId) out.append(filter::KeyName(node.key)) += ':';
    out += Quoted(node.text);
    return;
  }
  if (node.op == Op::kNot) {
    out += "not ";
    return WriteWithin(node, node.children.front(), out);
  }
  const std::size_t start = out.size();
  const auto next = [&] {
    if (out.size() != start) out += node.op == Op::kAnd ? " and " : " or ";
  };
  for (const std::string& id : node.ids) next(), out += Quoted(id);
  for (const Node& child : node.children) next(), WriteWithin(node, child, out);
}

void WriteWithin(const Node& parent, const Node& child, std::string& out) {
  const bool grouped = Looseness(child) > Looseness(parent);
  if (grouped) out += '(';
  Write(child, out);
  if (grouped) out += ')';
}

// Each term once, except those of files; `included`: below an even number of nots.
template <class Do>
void ForTerms(const Node& node, const Do& act, bool included = true) {
  if (node.op == Op::kTerm) return act(node, included);
  if (node.op == Op::kFile) return;
  for (const Node& child : node.children) ForTerms(child, act, included != (node.op == Op::kNot));
}

std::string DidYouMean(std::string_view text) { return "; did you mean " + Shown(text) + "?"; }

// "; did you mean ..." with the fact nearest to a term's text, of any of the subjects, or with wildcards around a part
// of an id.
std::string Hint(const Node& term, std::span<const FilterSubject> subjects) {
  std::vector<std::string> facts;
  for (const FilterSubject& subject : subjects) {
    for (std::string& fact : filter::Facts(term.key, subject)) facts.push_back(std::move(fact));
  }
  std::sort(facts.begin(), facts.end());
  facts.erase(std::unique(facts.begin(), facts.end()), facts.end());
  const auto nearest = NearestName(term.text, facts);
  if (nearest) return DidYouMean(*nearest);
  const std::string part = "*" + term.text + "*";
  const bool is_part = term.key == FilterKey::kId &&
                       std::any_of(facts.begin(), facts.end(), [&](const auto& id) { return filter::Like(id, part); });
  return is_part ? DidYouMean(part) : "";
}

std::size_t CountIds(std::span<const FilterSubject> subjects) {
  std::set<std::string_view> ids;
  for (const FilterSubject& subject : subjects) ids.insert(subject.id);
  return ids.size();
}

std::string TermText(const Node& term) {
  return term.key == FilterKey::kId ? term.text : std::string(filter::KeyName(term.key)) + ":" + term.text;
}

bool AnyMatches(const Node& node, std::span<const FilterSubject> subjects) {
  return std::any_of(subjects.begin(), subjects.end(), [&](const FilterSubject& s) { return Evaluate(node, s); });
}

}  // namespace

ModelFilter ModelFilter::AnyOf(std::span<const ModelFilter> filters) {
  const auto matches_all = [](const ModelFilter& one) { return one.MatchesEverything(); };
  if (std::any_of(filters.begin(), filters.end(), matches_all)) return {};
  return Chain(filters, "or");
}

ModelFilter ModelFilter::AllOf(std::span<const ModelFilter> filters) {
  std::vector<ModelFilter> narrowing(filters.begin(), filters.end());
  std::erase_if(narrowing, [](const ModelFilter& one) { return one.MatchesEverything(); });
  return narrowing.empty() ? ModelFilter() : Chain(narrowing, "and");
}

ModelFilter ModelFilter::Chain(std::span<const ModelFilter> filters, std::string_view name) {
  if (filters.size() == 1) return filters.front();
  Node node{.op = name == "and" ? Op::kAnd : Op::kOr};
  std::string text;
  for (const ModelFilter& one : filters) {
    node.children.push_back(*one.root_);
    text += (text.empty() ? "(" : " " + std::string(name) + " (") + one.text_ + ")";
  }
  return {std::move(text), std::make_shared<const Node>(std::move(node))};
}

ModelFilter ModelFilter::OfOwner(std::string_view name) {
  Node node{.op = Op::kTerm, .key = FilterKey::kOwner, .text = Lower(name)};
  return {"owner:" + std::string(name), std::make_shared<const Node>(std::move(node))};
}

bool ModelFilter::Matches(const FilterSubject& subject) const { return !root_ || Evaluate(*root_, subject); }

bool ModelFilter::Uses(FilterKey key) const { return root_ && UsesKey(*root_, key); }

std::string ModelFilter::Expanded() const {
  std::string text;
  if (root_) Write(*root_, text);
  return text;
}

Result<void> ModelFilter::CheckSelects(std::span<const FilterSubject> subjects) const {
  if (!root_) return {};
  const bool selects = AnyMatches(*root_, subjects);
  std::string problem;
  ForTerms(*root_, [&](const Node& term, bool included) {
    const bool exact_id = term.key == FilterKey::kId && !filter::HasWildcard(term.text);
    if (!problem.empty() || !included || (selects && !exact_id) || AnyMatches(term, subjects)) return;
    problem = Shown(TermText(term)) + " matches no model" + Hint(term, subjects);
  });
  if (problem.empty() && !selects) {
    problem = Shown(text_) + " matches none of " + Counted(CountIds(subjects), "model");
  }
  if (problem.empty()) return {};
  return Error{ErrorCode::kUsage, problem};
}

Result<void> ModelFilter::CheckOwners(const std::vector<std::string>& owners) const {
  std::string problem;
  if (root_) {
    ForTerms(*root_, [&](const Node& term, bool) {
      const auto like = [&](const std::string& owner) { return filter::Like(owner, term.text); };
      if (term.key != FilterKey::kOwner || term.text == "*" || std::any_of(owners.begin(), owners.end(), like)) return;
      const auto nearest = NearestName(term.text, owners);
      problem = "unknown owner " + Shown(term.text) +
                (nearest          ? "; did you mean \"" + *nearest + "\"?"
                 : owners.empty() ? ": models.file names no owners"
                                  : ": models.file names " + Joined(owners));
    });
  }
  if (problem.empty()) return {};
  return Error{ErrorCode::kUsage, problem};
}

}  // namespace breakwatch
