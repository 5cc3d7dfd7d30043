#include "breakwatch/capture/compose.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <set>

#include "breakwatch/core/text.h"

namespace breakwatch::capture {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSourcesFile = "composed-of";
constexpr std::size_t kMaxSources = 2;

// The distribution or module that an entry is part of: "nvidia_nvtx" of "nvidia_nvtx-13.2.dist-info".
std::string NameOf(std::string_view entry) { return Lower(entry.substr(0, entry.find_first_of("-."))); }

struct Environment {
  fs::path root, site;
  std::string version;  // "python3.11"
};

std::optional<Environment> FindEnvironment(const std::string& folder) {
  std::error_code error;
  const fs::path root = fs::absolute(folder, error).lexically_normal();
  for (fs::directory_iterator at(root / "lib", error), end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename().string();
    if (name.starts_with("python3.") && fs::is_directory(at->path() / "site-packages", error))
      return Environment{root, at->path() / "site-packages", name};
  }
  return std::nullopt;
}

Error NoEnvironment(const std::string& folder) {
  return {
      ErrorCode::kNotFound, folder + " is not a Python environment: it has no lib/python3.*/site-packages", false, {}};
}

Error Failed(const fs::path& path, const std::error_code& error) {
  return {ErrorCode::kStore, "cannot create " + path.string() + ": " + error.message(), false, {}};
}

// Links the entries of one environment's packages that `wanted` selects.
template <class Wanted>
Result<void> LinkPackages(const fs::path& from, const fs::path& to, const Wanted& wanted) {
  std::error_code error;
  for (fs::directory_iterator at(from, error), end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename().string();
    if (name == "__pycache__" || !wanted(name)) continue;
    std::error_code failed;
    fs::create_symlink(at->path(), to / name, failed);
    if (failed) return Failed(to / name, failed);
  }
  if (error) return Error{ErrorCode::kStore, "cannot read " + from.string() + ": " + error.message()};
  return {};
}

Result<void> WriteText(const fs::path& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << text;
  if (!file.flush()) return Error{ErrorCode::kStore, "cannot write " + path.string()};
  return {};
}

// Makes Python treat the folder as an environment: writes pyvenv.cfg beside the interpreter's link.
Result<void> LinkPython(const Environment& from, const fs::path& to) {
  std::error_code error;
  fs::create_directories(to / "bin", error);
  if (error) return Failed(to / "bin", error);
  fs::create_symlink(from.root / "bin" / "python", to / "bin" / "python", error);
  if (error) return Failed(to / "bin" / "python", error);
  if (!fs::exists(from.root / "pyvenv.cfg", error)) return {};
  fs::copy_file(from.root / "pyvenv.cfg", to / "pyvenv.cfg", error);
  return error ? Result<void>(Failed(to / "pyvenv.cfg", error)) : Result<void>();
}

Result<void> Fill(const Environment& torch, const Environment& rest, const fs::path& to) {
  const fs::path site = to / "lib" / rest.version / "site-packages";
  std::error_code error;
  fs::create_directories(site, error);
  if (error) return Failed(site, error);
  if (auto linked = LinkPython(rest, to); !linked) return linked;
  const auto torchs = [](const std::string& name) { return BelongsToTorch(name); };
  if (auto linked = LinkPackages(torch.site, site, torchs); !linked) return linked;
  const auto others = [](const std::string& name) { return !BelongsToTorch(name); };
  if (auto linked = LinkPackages(rest.site, site, others); !linked) return linked;
  return WriteText(to / kSourcesFile, torch.root.string() + "\n" + rest.root.string() + "\n");
}

}  // namespace

bool BelongsToTorch(std::string_view entry) {
  static const std::set<std::string> kNames = {"torch", "torchgen", "functorch", "torchvision",    "torchaudio",
                                               "torio", "triton",   "nvidia",    "pytorch_triton", "timm",
                                               "sympy", "isympy",   "mpmath",    "networkx",       "cuda"};
  const std::string name = NameOf(entry);
  return kNames.contains(name) || name.starts_with("nvidia_") || name.starts_with("cuda_");
}

Result<void> ComposeToolchain(const std::string& torch_from, const std::string& rest_from, const std::string& target) {
  const auto torch = FindEnvironment(torch_from), rest = FindEnvironment(rest_from);
  if (!torch) return NoEnvironment(torch_from);
  if (!rest) return NoEnvironment(rest_from);
  if (torch->version != rest->version) {
    return Error{ErrorCode::kInvalid, "torch of " + torch->version + " (" + torch_from + ") does not load in " +
                                          rest->version + " (" + rest_from + ")"};
  }
  // Built in a temporary folder and renamed, so that readers see a complete one.
  std::error_code error;
  const fs::path to = fs::absolute(target, error).lexically_normal(), beside = to.string() + ".new";
  fs::remove_all(beside, error);
  if (auto filled = Fill(*torch, *rest, beside); !filled) return filled;
  fs::remove_all(to, error);
  fs::rename(beside, to, error);
  return error ? Result<void>(Failed(to, error)) : Result<void>();
}

std::vector<std::string> ComposedOf(const std::string& folder) {
  std::vector<std::string> sources;
  std::ifstream file(fs::path(folder) / kSourcesFile, std::ios::binary);
  for (std::string line; sources.size() < kMaxSources && std::getline(file, line);) sources.push_back(line);
  return sources;
}

}  // namespace breakwatch::capture
