#include <algorithm>

#include "breakwatch/core/text.h"
#include "breakwatch/hub/hub_lister.h"
#include "files.h"
#include "model_id.h"

namespace breakwatch::hub {
namespace {

Result<std::vector<std::string>> ReadIds(const std::string& path) {
  constexpr std::size_t kMaxBytes = 8u << 20;
  const Result<std::string> read = ReadFile(path, kMaxBytes);
  if (!read) return Error{ErrorCode::kConfig, read.error().message};
  std::string_view text = *read;
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  std::vector<std::string> ids;
  std::string bad;
  int bad_lines = 0;
  constexpr int kShownLines = 5;
  for (int number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string line(Trim(text.substr(0, std::min(text.substr(0, end).find('#'), end))));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty()) continue;
    if (ParseNamedModel(line)) {
      ids.push_back(line);
    } else if (++bad_lines <= kShownLines) {
      bad += (bad.empty() ? "line " : "; line ") + std::to_string(number) + ": \"" + Truncate(ToUtf8(line), 80) +
             "\" is not \"id\" or \"id@revision\"";
    }
  }
  if (bad_lines > kShownLines) bad += "; and " + std::to_string(bad_lines - kShownLines) + " more";
  if (bad_lines > 0) return Error{ErrorCode::kConfig, path + ": " + bad};
  if (ids.empty()) return Error{ErrorCode::kConfig, path + ": contains no model"};
  return ids;
}

class FileLister : public ModelLister {
 public:
  FileLister(std::string path, std::unique_ptr<ModelLister> by_name)
      : path_(std::move(path)), by_name_(std::move(by_name)) {}

  Result<RankedList> List(const ListRequest& request, std::stop_token stop, const Progress& progress) override {
    Result<std::vector<std::string>> ids = ReadIds(path_);
    if (!ids) return ids.error();
    ListRequest named = request;
    if (!request.ids.empty()) {  // select among the file's lines
      std::erase_if(*ids, [&](const std::string& line) { return !IsSelected(line, request.ids); });
      if (ids->empty()) return Error{ErrorCode::kNotFound, path_ + ": contains none of the requested models"};
    }
    named.ids = *std::move(ids);
    Result<RankedList> list = by_name_->List(named, stop, progress);
    if (!list) return list.error();
    list->source = "file " + path_;
    list->ranked = false;
    return list;
  }

 private:
  static bool IsSelected(const std::string& line, const std::vector<std::string>& selection) {
    return std::any_of(selection.begin(), selection.end(), [&](const std::string& wanted) {
      return line == wanted || line.substr(0, line.find('@')) == wanted;
    });
  }

  const std::string path_;
  const std::unique_ptr<ModelLister> by_name_;
};

}  // namespace

std::unique_ptr<ModelLister> MakeFileLister(std::string path, std::unique_ptr<ModelLister> by_name) {
  return std::make_unique<FileLister>(std::move(path), std::move(by_name));
}

}  // namespace breakwatch::hub
