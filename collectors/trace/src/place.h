// Where a source file belongs, told from its path alone: a trace comes from another machine.
#pragma once

#include <string>
#include <string_view>

namespace breakwatch::trace {

struct SourceFile {
  std::string file;   // package-relative; the bare name of what belongs to no package
  std::string owner;  // "torch", "library" or "user", as BreakSite::frame
};

// `torch_root`: the folder that holds torch, with a slash at its end; empty where it is not known.
SourceFile RelativeFile(std::string_view path, std::string_view torch_root);

// "/opt/lib/torch/_dynamo/utils.py" -> "/opt/lib/"; empty for a path that is not inside torch.
std::string_view TorchRootOf(std::string_view path);

// The user's name for a function: "forward" for "torch_dynamo_resume_in_forward_at_12".
std::string PlainFunction(std::string_view name);

}  // namespace breakwatch::trace
