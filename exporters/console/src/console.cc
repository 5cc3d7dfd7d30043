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
  Outcome Export(const Snapshot& snapshot) override {
    std::string text = Summary(snapshot, options_.top_reasons);
    if (text == written_) return {};  // only the state of delivery or the next sweep's time changed
    Outcome outcome = Write(out_, text);
    if (outcome.delivery == Delivery::kDelivered) written_ = std::move(text);
    return outcome;
  }

 private:
  const ConsoleOptions options_;
  std::string written_;  // last
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
