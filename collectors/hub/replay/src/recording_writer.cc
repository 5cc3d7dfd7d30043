#include "recording_writer.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "breakwatch/core/json_text.h"
#include "paths.h"

namespace breakwatch::hub_replay {
namespace {

namespace fs = std::filesystem;

Error Failed(const fs::path& path) { return {ErrorCode::kStore, path.string() + ": " + std::strerror(errno)}; }

Result<void> Write(const fs::path& path, std::string_view bytes) {
  std::error_code code;
  fs::create_directories(path.parent_path(), code);
  if (code) return Error{ErrorCode::kStore, path.parent_path().string() + ": " + code.message()};
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (fd < 0) return Failed(path);
  bool good = true;
  while (good && !bytes.empty()) {
    const ssize_t wrote = ::write(fd, bytes.data(), bytes.size());
    good = wrote > 0 || (wrote < 0 && errno == EINTR);
    if (wrote > 0) bytes.remove_prefix(static_cast<std::size_t>(wrote));
  }
  const Error failed = Failed(path);
  if (::close(fd) != 0 || !good) return failed;
  return {};
}

}  // namespace

RecordingWriter::RecordingWriter(fs::path dir) : dir_(std::move(dir)) {
  part_ = dir_;
  part_ += ".part-" + std::to_string(::getpid());
}

RecordingWriter::RecordingWriter(RecordingWriter&& other) noexcept
    : dir_(std::move(other.dir_)), part_(std::exchange(other.part_, {})) {}

RecordingWriter::~RecordingWriter() {
  std::error_code ignored;
  if (!part_.empty()) fs::remove_all(part_, ignored);
}

Result<RecordingWriter> RecordingWriter::Create(const fs::path& dir) {
  std::error_code code;
  fs::path plain = dir.lexically_normal();
  if (!plain.has_filename()) plain = plain.parent_path();  // a trailing slash
  if (plain.empty() || fs::exists(fs::symlink_status(plain, code))) {
    return Error{ErrorCode::kUsage, dir.string() + ": exists already; name a new folder or remove it first"};
  }
  RecordingWriter writer(plain);
  fs::create_directories(writer.part_, code);
  if (code) return Error{ErrorCode::kStore, writer.part_.string() + ": " + code.message()};
  return writer;
}

Result<void> RecordingWriter::WriteFile(std::string_view id, std::string_view commit, std::string_view path,
                                        std::string_view bytes) {
  return Write(part_ / "files" / FolderName(id) / commit / path, bytes);
}

Result<void> RecordingWriter::Commit(const Json& about, const std::vector<Json>& models,
                                     const std::map<std::string, std::string>& redirects) {
  std::string lines;
  for (const Json& model : models) lines += JsonText(model) + "\n";
  if (auto wrote = Write(part_ / "models.jsonl", lines); !wrote) return wrote;
  if (!redirects.empty()) {
    if (auto wrote = Write(part_ / "redirects.json", JsonText(Json(redirects)) + "\n"); !wrote) return wrote;
  }
  if (auto wrote = Write(part_ / "recording.json", JsonText(about) + "\n"); !wrote) return wrote;
  if (::rename(part_.c_str(), dir_.c_str()) != 0) return Failed(dir_);
  part_.clear();
  return {};
}

}  // namespace breakwatch::hub_replay
