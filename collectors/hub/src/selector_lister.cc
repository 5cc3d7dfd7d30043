#include <algorithm>
#include <array>
#include <filesystem>
#include <map>

#include "breakwatch/core/json_text.h"
#include "breakwatch/core/selector.h"
#include "breakwatch/core/text.h"
#include "breakwatch/hub/hub_lister.h"
#include "exclusions.h"
#include "files.h"
#include "json_values.h"

namespace breakwatch::hub {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxSourceBytes = 8u << 20;
constexpr std::size_t kCommitDigits = 40;

class SelectorLister : public ModelLister {
 public:
  SelectorLister(SelectorOptions options, std::unique_ptr<ModelLister> others)
      : options_(std::move(options)), others_(std::move(others)) {}

  Result<RankedList> List(const ListRequest& request, std::stop_token stop, const Progress& progress) override {
    ListRequest named = request;
    std::erase_if(named.ids, [](const std::string& id) { return IsSelector(id); });
    if (named.ids.size() == request.ids.size()) return others_->List(request, stop, progress);
    RankedList list{.source = "selectors", .ranked = false, .models = {}, .warnings = {}};
    if (!named.ids.empty()) {
      Result<RankedList> others = others_->List(named, stop, progress);
      if (!others) return others;
      list = *std::move(others);
    }
    for (const std::string& id : request.ids) {
      if (!IsSelector(id)) continue;
      if (!options_.allow) return RefuseOwnCode(id).error();
      const Result<Selector> selector = ParseSelector(id);
      if (!selector) return selector.error();
      list.models.push_back(Read(id, *selector));
    }
    return list;
  }

 private:
  RankedModel Read(const std::string& id, const Selector& selector) const {
    RankedModel model;
    model.info.id = id;
    const bool is_script = selector.kind == Selector::Kind::kScript;
    model.info.config_source = is_script ? "script" : "python";
    const Result<fs::path> file = is_script ? Script(selector) : ModuleFile(selector);
    const Result<std::string> text = file ? ReadFile(*file, kMaxSourceBytes) : Result<std::string>(file.error());
    if (!text) {
      Exclude(model, {Status::kFailedResolve, text.error().message});
      return model;
    }
    const std::string digest = Sha256Hex(*text);
    model.info.sha = digest.substr(0, kCommitDigits);
    // With the digest, a changed file is another structure, which is captured again.
    Json source = {{"source_sha256", digest}};
    if (is_script) {
      source.update({{"kind", "script"},
                     {"path", file->string()},
                     {"hash", selector.hash},
                     {"args", selector.arguments},
                     {"cwd", options_.directory}});
    } else {
      source.update({{"kind", "python"},
                     {"factory", selector.module + ":" + selector.function},
                     {"path", ImportFolders()},
                     {"cwd", options_.directory}});
    }
    model.config_json = JsonText(source);
    return model;
  }

  Result<fs::path> Script(const Selector& selector) const {
    return (fs::path(options_.directory) / selector.file).lexically_normal();
  }

  std::vector<std::string> ImportFolders() const {
    std::vector<std::string> folders = {options_.directory};
    folders.insert(folders.end(), options_.python_path.begin(), options_.python_path.end());
    return folders;
  }

  // Searches these folders like Python's import: a package comes before a module of the same name.
  Result<fs::path> ModuleFile(const Selector& selector) const {
    std::string relative = selector.module;
    std::replace(relative.begin(), relative.end(), '.', '/');
    for (const std::string& folder : ImportFolders()) {
      for (const char* end : {"/__init__.py", ".py"}) {
        const fs::path path = fs::path(folder) / (relative + end);
        std::error_code ignored;
        if (fs::is_regular_file(path, ignored)) return path;
      }
    }
    return Error{ErrorCode::kNotFound, "no source file of the module " + selector.module + " in " + options_.directory +
                                           (options_.python_path.empty() ? "" : " or a folder of PYTHONPATH")};
  }

  const SelectorOptions options_;
  const std::unique_ptr<ModelLister> others_;
};

}  // namespace

std::unique_ptr<ModelLister> MakeSelectorLister(SelectorOptions options, std::unique_ptr<ModelLister> others) {
  return std::make_unique<SelectorLister>(std::move(options), std::move(others));
}

}  // namespace breakwatch::hub
