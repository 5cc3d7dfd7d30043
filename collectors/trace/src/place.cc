#include "place.h"

#include <algorithm>
#include <array>

namespace breakwatch::trace {
namespace {

constexpr std::size_t kNone = std::string_view::npos;

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// The offset after ".../site-packages/" or Debian's dist-packages, or kNone.
std::size_t BehindPackages(std::string_view path) {
  for (const std::string_view folder : {"/site-packages/", "/dist-packages/"}) {
    if (const std::size_t at = path.rfind(folder); at != kNone) return at + folder.size();
  }
  return kNone;
}

// The offset after ".../lib/python3.11/", the standard library, or kNone.
std::size_t BehindStandardLibrary(std::string_view path) {
  constexpr std::string_view kFolder = "/lib/python3.";
  const std::size_t at = path.rfind(kFolder);
  if (at == kNone) return kNone;
  std::size_t end = at + kFolder.size();
  while (end < path.size() && IsDigit(path[end])) ++end;
  return end > at + kFolder.size() && end < path.size() && path[end] == '/' ? end + 1 : kNone;
}

SourceFile InPackage(std::string_view relative) {
  static constexpr std::array<std::string_view, 3> kTorch = {"torch", "functorch", "torchgen"};
  const std::string_view package = relative.substr(0, relative.find('/'));
  const bool torch = std::find(kTorch.begin(), kTorch.end(), package) != kTorch.end();
  return {std::string(relative), torch ? "torch" : "library"};
}

}  // namespace

SourceFile RelativeFile(std::string_view path, std::string_view torch_root) {
  std::size_t behind = BehindPackages(path);
  if (behind == kNone && !torch_root.empty() && path.starts_with(torch_root)) behind = torch_root.size();
  if (behind == kNone) behind = BehindStandardLibrary(path);
  if (behind != kNone) return InPackage(path.substr(behind));
  return {std::string(path.substr(path.rfind('/') + 1)), "user"};
}

std::string UserFiles::Name(std::string_view path) {
  const std::string_view bare = path.substr(path.rfind('/') + 1);
  if (path.size() > kMaxPathBytes) return std::string(bare);
  const auto known = met_.find(bare);
  if (known == met_.end()) {
    if (met_.size() < kMaxNames) met_[std::string(bare)].emplace_back(path);
    return std::string(bare);
  }
  std::vector<std::string>& paths = known->second;
  const auto mine = std::find(paths.begin(), paths.end(), path);
  const auto earlier = static_cast<std::size_t>(mine - paths.begin());
  if (mine == paths.end()) {
    if (paths.size() >= kMaxPaths) return std::string(bare);
    paths.emplace_back(path);
  }
  const auto is_unique = [&](std::string_view name) {
    return std::none_of(paths.begin(), paths.begin() + static_cast<std::ptrdiff_t>(earlier),
                        [&](const std::string& other) { return other.ends_with("/" + std::string(name)); });
  };
  std::size_t begin = path.size() - bare.size();
  while (begin > 1 && !is_unique(path.substr(begin))) begin = path.rfind('/', begin - 2) + 1;
  return std::string(path.substr(begin));
}

std::string_view TorchRootOf(std::string_view path) {
  for (const std::string_view inside : {"/torch/_dynamo/", "/torch/_logging/", "/torch/fx/", "/torch/_inductor/"}) {
    if (const std::size_t at = path.rfind(inside); at != kNone) return path.substr(0, at + 1);
  }
  return {};
}

std::string PlainFunction(std::string_view name) {
  constexpr std::string_view kPrefix = "torch_dynamo_resume_in_", kAt = "_at_";
  while (name.starts_with(kPrefix)) {
    const std::size_t at = name.rfind(kAt);
    const std::string_view number = at == kNone ? std::string_view() : name.substr(at + kAt.size());
    if (at <= kPrefix.size() || number.empty() || !std::all_of(number.begin(), number.end(), IsDigit)) break;
    name = name.substr(kPrefix.size(), at - kPrefix.size());
  }
  return std::string(name);
}

}  // namespace breakwatch::trace
