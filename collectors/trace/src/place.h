// Classifies a source file by its path alone, because a trace comes from another machine.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace breakwatch::trace {

struct SourceFile {
  std::string file;   // package-relative; only the file name if it belongs to no package
  std::string owner;  // "torch", "library" or "user", as BreakSite::frame
};

// `torch_root`: the folder that contains torch, with a trailing slash; empty if unknown.
SourceFile RelativeFile(std::string_view path, std::string_view torch_root);

// Names files that belong to no package. The first file with a name gets that bare name. A later one gets as much of
// its path as makes it unique. Past the limits a file keeps its bare name and is not remembered.
class UserFiles {
 public:
  static constexpr std::size_t kMaxPathBytes = 1024, kMaxPaths = 16, kMaxNames = 1024;
  std::string Name(std::string_view path);

 private:
  std::map<std::string, std::vector<std::string>, std::less<>> met_;  // by bare name
};

// "/opt/lib/torch/_dynamo/utils.py" -> "/opt/lib/"; empty for a path that is not inside torch.
std::string_view TorchRootOf(std::string_view path);

// The user's name for a function: "forward" for "torch_dynamo_resume_in_forward_at_12".
std::string PlainFunction(std::string_view name);

}  // namespace breakwatch::trace
