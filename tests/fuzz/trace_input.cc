#include <sys/mman.h>
#include <unistd.h>

#include <string>

#include "break_text.h"
#include "breakwatch/core/json.h"
#include "breakwatch/trace/read_traces.h"
#include "fuzz/trace_fuzz.h"
#include "json_scan.h"
#include "metrics.h"
#include "place.h"

namespace breakwatch::fuzz {
namespace {

void ReadAsFile(std::string_view bytes) {
  const int fd = memfd_create("trace", MFD_CLOEXEC);
  if (fd < 0 || write(fd, bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size())) __builtin_trap();
  trace::ReadOptions options;
  options.max_line_bytes = 4096;  // short, so that inputs exceed it
  const auto import = trace::ReadTraces("/proc/self/fd/" + std::to_string(fd), options);
  close(fd);
  if (!import && import.error().message.empty()) __builtin_trap();
  if (!import) return;
  // Every result can be stored: it converts to JSON, and that JSON to a result.
  if (import->capture.detail.empty() || !CaptureResultFromJson(ToJson(import->capture))) __builtin_trap();
}

}  // namespace

void ReadTraceBytes(std::string_view bytes) {
  ReadAsFile(bytes);
  trace::UserFiles files;
  if (const auto site = trace::ParseBreak(bytes, "/opt/", files)) {
    if (site->site_id.size() != 16 || site->reason.size() > 120) __builtin_trap();
  }
  (void)trace::ReadMetrics(bytes);
  (void)trace::AsString(bytes, 64);
  (void)trace::Element(bytes, -1);
  (void)trace::RelativeFile(bytes, trace::TorchRootOf(bytes));
  (void)trace::PlainFunction(bytes);
}

}  // namespace breakwatch::fuzz
