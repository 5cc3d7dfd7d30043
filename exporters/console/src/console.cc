#include "breakwatch/exporters/console.h"

#include <ostream>
#include <utility>

#include "breakwatch/core/printable.h"
#include "summary.h"

namespace breakwatch::exporters {
namespace {

Outcome Write(std::ostream& out, std::string_view text) {
  out.clear();
  out << text << std::flush;
  if (out.good()) return {};
  return {Delivery::kTryAgain, "cannot write to the console", {}};
}

class ConsoleMetrics : public MetricExporter {
 public:
  ConsoleMetrics(ConsoleOptions options, std::ostream& out) : options_(std::move(options)), out_(out) {}

  std::string Name() const override { return options_.name; }
  Outcome Export(const Snapshot& snapshot) override { return Write(out_, Summary(snapshot, options_.top_reasons)); }

 private:
  const ConsoleOptions options_;
  std::ostream& out_;
};

class ConsoleEvents : public EventExporter {
 public:
  ConsoleEvents(ConsoleOptions options, std::ostream& out) : options_(std::move(options)), out_(out) {}

  std::string Name() const override { return options_.name; }
  Outcome Export(std::span<const StoredEvent> batch) override {
    std::string text;
    for (const StoredEvent& event : batch) text += Printable(event.line) + '\n';
    return Write(out_, text);
  }

 private:
  const ConsoleOptions options_;
  std::ostream& out_;
};

}  // namespace

std::unique_ptr<MetricExporter> MakeConsoleMetrics(ConsoleOptions options, std::ostream& out) {
  return std::make_unique<ConsoleMetrics>(std::move(options), out);
}

std::unique_ptr<EventExporter> MakeConsoleEvents(ConsoleOptions options, std::ostream& out) {
  return std::make_unique<ConsoleEvents>(std::move(options), out);
}

}  // namespace breakwatch::exporters
