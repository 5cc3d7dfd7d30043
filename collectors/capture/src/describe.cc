#include <utility>

#include "buffers.h"
#include "environment.h"
#include "message.h"
#include "process.h"
#include "worker_text.h"

namespace breakwatch::capture {
namespace {

constexpr milliseconds kTimeout{60'000};
constexpr std::size_t kMaxBytes = 64 * 1024;

// Finds the hello message in the output. A launcher may have printed lines before it.
std::optional<Hello> FindHello(const std::string& out) {
  LineBuffer lines(kMaxBytes);
  lines.Append(out + '\n');
  while (const auto line = lines.Next()) {
    const Result<Message> message = ParseMessage(*line);
    if (!message.ok()) continue;
    if (const auto* hello = std::get_if<Hello>(&*message)) return *hello;
  }
  return std::nullopt;
}

std::string WhyNot(const ProcessOutput& output) {
  if (output.timed_out) return "it did not answer --describe within 60 s";
  if (output.too_long) return "it printed more than 64 KiB in answer to --describe";
  if (output.end.signalled || output.end.value != 0) return "it " + output.end.Text() + " in answer to --describe";
  return "it printed no hello in answer to --describe";
}

}  // namespace

Result<Toolchain> DescribeToolchain(const ZygoteOptions& options, const std::string& name) {
  if (options.worker.empty()) return CannotStart(options, "capture.worker is empty", "");
  std::vector<std::string> argv = options.launcher;
  argv.insert(argv.end(), options.worker.begin(), options.worker.end());
  argv.push_back("--describe");
  const Result<ProcessOutput> output =
      RunProcess(argv, WorkerEnvironment(options, options.scratch), kTimeout, kMaxBytes);
  if (!output.ok()) return CannotStart(options, output.error().message, "");
  const std::optional<Hello> hello = FindHello(output->out);
  if (!hello) return CannotStart(options, WhyNot(*output), output->err);
  if (hello->protocol != kProtocol) {
    return CannotStart(options, WrongProtocol(hello->protocol, hello->toolchain.worker), "");
  }
  Toolchain toolchain = hello->toolchain;
  toolchain.name = name;
  return toolchain;
}

}  // namespace breakwatch::capture
