#include <algorithm>

#include "breakwatch/core/text.h"
#include "breakwatch/exporters/pushgateway.h"

namespace breakwatch::exporters {
namespace {

bool IsPlain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
}

// "/name/value", or base64 if the value is not safe in a path. A slash would shift all later labels. Clients and
// proxies treat a value of dots as a directory.
std::string PathLabel(const std::string& name, const std::string& value) {
  if (value.empty()) return "/" + name + "@base64/=";
  const bool plain = std::all_of(value.begin(), value.end(), IsPlain) && value.find_first_not_of('.') != value.npos;
  if (plain) return "/" + name + "/" + value;
  return "/" + name + "@base64/" + Base64Url(value);
}

class MemoryGroupJournal : public GroupJournal {
 public:
  Result<std::vector<std::string>> Load() override { return groups_; }
  Result<void> Save(const std::vector<std::string>& groups) override {
    groups_ = groups;
    return {};
  }

 private:
  std::vector<std::string> groups_;
};

}  // namespace

std::unique_ptr<GroupJournal> MakeMemoryGroupJournal() { return std::make_unique<MemoryGroupJournal>(); }

std::vector<std::string> GroupPaths(const PushgatewayOptions& options) {
  std::string path = "/metrics" + PathLabel("job", options.job);
  if (!options.pool.empty()) path += PathLabel("pool", options.pool);
  if (options.shards <= 1) return {path};
  std::vector<std::string> paths;
  for (int shard = 0; shard < options.shards; ++shard)
    paths.push_back(path + PathLabel("shard", std::to_string(shard)));
  return paths;
}

}  // namespace breakwatch::exporters
