#include "model_selection.h"

#include <utility>
#include <vector>

#include "breakwatch/config/models_file.h"
#include "breakwatch/core/text.h"

namespace breakwatch::commands {
namespace {

constexpr std::size_t kMaxLineBytes = 300;

Error OfFlags(const ModelSelection& selection, const Error& error) {
  return error.Within(selection.filter.empty()  ? "--owner"
                      : selection.owner.empty() ? "--filter"
                                                : "--filter, --owner");
}

}  // namespace

Result<ModelFilter> ParseFilter(const std::string& flag, const std::string& text) {
  auto filter = ModelFilter::Parse(text, config::ReadFilterFile);
  if (!filter) return filter.error().Within(flag);
  return filter;
}

Result<ModelFilter> FilterOf(const ModelSelection& selection) {
  std::vector<ModelFilter> filters;
  if (!selection.filter.empty()) {
    auto filter = ParseFilter("--filter", selection.filter);
    if (!filter) return filter;
    filters.push_back(*std::move(filter));
  }
  if (!selection.owner.empty()) filters.push_back(ModelFilter::OfOwner(selection.owner));
  return ModelFilter::AllOf(filters);
}

std::string LineOf(const ModelSelection& selection) {
  std::string line;
  if (!selection.filter.empty()) line = "--filter " + ShortLine(selection.filter, kMaxLineBytes);
  if (!selection.owner.empty())
    line += (line.empty() ? "--owner " : ", --owner ") + ShortLine(selection.owner, kMaxLineBytes);
  return line;
}

Result<void> KeepSelected(const App& app, const ModelSelection& selection, std::vector<ModelResult>& results) {
  const auto filter = FilterOf(selection);
  if (!filter) return filter.error();
  const ModelOwners& owners = app.settings().models.rules.owners;
  if (auto kept = KeepMatching(results, *filter, owners); !kept) return OfFlags(selection, kept.error());
  NoteOwners(results, owners);
  return {};
}

Result<void> KeepSelected(const App& app, const ModelSelection& selection, std::vector<ModelResult>& a,
                          std::vector<ModelResult>& b) {
  const auto filter = FilterOf(selection);
  if (!filter) return filter.error();
  if (auto kept = KeepMatching(a, b, *filter, app.settings().models.rules.owners); !kept)
    return OfFlags(selection, kept.error());
  return {};
}

report::EachResult EachSelected(const App& app, const ModelSelection& selection, report::EachResult each) {
  return [&app, selection, each = std::move(each)](const report::UseResult& use) -> Result<void> {
    const auto filter = FilterOf(selection);
    if (!filter) return filter.error();
    if (filter->MatchesEverything()) return each(use);
    const ModelOwners& owners = app.settings().models.rules.owners;
    if (auto checked = filter->CheckOwners(OwnerNames(owners)); !checked) return OfFlags(selection, checked.error());
    std::vector<FilterSubject> subjects;
    auto read = each([&](const ModelResult& result) -> Result<void> {
      subjects.push_back(SubjectOf(result, owners));
      return filter->Matches(subjects.back()) ? use(result) : Result<void>();
    });
    if (!read) return read;
    const auto checked = filter->CheckSelects(subjects);
    return checked ? Result<void>() : Result<void>(OfFlags(selection, checked.error()));
  };
}

}  // namespace breakwatch::commands
