// `breakwatch dead-letters`: events that a target refused. Queued and dropped letters are recorded in the store, where
// a running daemon reads them.
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "breakwatch/core/json_text.h"
#include "breakwatch/core/text.h"
#include "breakwatch/engine/delivery.h"
#include "breakwatch/report/table.h"
#include "breakwatch/store/writer_lock.h"
#include "commands.h"
#include "delivery_options.h"
#include "signals.h"

namespace breakwatch::commands {
namespace {

using nlohmann::ordered_json;

constexpr int kMaxListed = 100'000;
constexpr std::size_t kMaxIds = 1'000;

const char* StateOf(const store::DeadLetter& letter) { return letter.queued ? "queued" : "dead"; }

report::Table TableOf(std::span<const store::DeadLetter> letters) {
  report::Table table;
  table.columns = {
      {"exporter", "EXPORTER"}, {"event_id", "EVENT", true},   {"state", "STATE"}, {"refused_at", "REFUSED AT"},
      {"event", "NAME"},        {"model", "MODEL", false, 48}, {"sweep_id", ""},   {"reason", "REASON", false, 100}};
  table.when_empty = "no dead letters";
  for (const store::DeadLetter& letter : letters) {
    table.rows.push_back({letter.exporter, letter.event.id, std::string(StateOf(letter)), FormatTime(letter.at),
                          NameOf(letter.event), letter.event.model, letter.event.sweep_id, letter.reason});
  }
  return table;
}

ordered_json Document(const store::DeadLetter& letter) {
  auto event = ordered_json::parse(letter.event.line, nullptr, /*allow_exceptions=*/false);
  if (event.is_discarded()) event = letter.event.line;
  return {{"exporter", letter.exporter},         {"event_id", letter.event.id}, {"state", StateOf(letter)},
          {"refused_at", FormatTime(letter.at)}, {"reason", letter.reason},     {"event", std::move(event)}};
}

std::string Dump(const ordered_json& value) { return JsonDocument(value, 2); }

std::string Text(const store::DeadLetter& letter) {
  const ordered_json document = Document(letter);
  std::string text = "exporter    " + letter.exporter + "\nevent       " + std::to_string(letter.event.id) +
                     "\nstate       " + StateOf(letter) + "\nrefused at  " + FormatTime(letter.at) + "\nreason      " +
                     letter.reason + "\n";
  return text + Dump(document["event"]);
}

// The letters that the options select. Error: kUsage if they select none; kNotFound if an id is not a dead letter.
Result<std::vector<store::DeadLetter>> Select(store::EventLog& log, const DeadLetterOptions& options) {
  if (options.ids.empty() != options.all) return Error{ErrorCode::kUsage, "expected event ids or --all"};
  if (options.ids.size() > kMaxIds) return Error{ErrorCode::kUsage, "more than 1000 event ids; use --all"};
  auto letters = log.DeadLetters({options.exporter, options.ids}, kMaxListed);
  if (!letters) return letters;
  for (const std::int64_t id : options.ids) {
    const bool known = std::any_of(letters->begin(), letters->end(), [&](const auto& l) { return l.event.id == id; });
    if (known) continue;
    return Error{ErrorCode::kNotFound, "event " + std::to_string(id) + " is not a dead letter" +
                                           (options.exporter.empty() ? "" : " of " + options.exporter) +
                                           "; `breakwatch dead-letters list` lists them"};
  }
  return letters;
}

std::set<std::string> ExportersOf(std::span<const store::DeadLetter> letters) {
  std::set<std::string> names;
  for (const store::DeadLetter& letter : letters) names.insert(letter.exporter);
  return names;
}

// The outcome of letters that were queued.
struct Retried {
  std::int64_t queued = 0;  // at the start
  std::int64_t delivered = 0, refused = 0, waiting = 0;
};

// Sends queued letters with the exporters named in `names` and removes these names. The remaining names are not
// configured.
Result<void> SendHere(App& app, std::set<std::string>& names) {
  auto exporters = app.make_exporters(app.settings());
  if (!exporters) return exporters.error();
  exporters->metrics.clear();
  std::erase_if(exporters->events, [&](const auto& events) { return !names.contains(events.exporter->Name()); });
  for (auto& events : exporters->events) {
    names.erase(events.exporter->Name());
    events.how.required = true;  // the command waits for it
  }
  if (exporters->events.empty()) return {};
  engine::DeliveryOptions options = DeliveryOptionsOf(app.settings());
  options.report = [&app](Level level, std::string_view exporter, std::string_view text) {
    app.log(level, std::string(exporter) + ": " + std::string(text));
  };
  engine::DeliveryThreads delivery(EventLogOf(app), std::move(*exporters), *app.clock, options);
  delivery.Drain(app.settings().delivery.drain_timeout);
  app.give_up.request_stop();
  return {};
}

// Counts how many of `letters` are now delivered, dead or waiting.
Result<Retried> Outcome(store::EventLog& log, std::span<const store::DeadLetter> letters) {
  Retried out;
  for (const std::string& exporter : ExportersOf(letters)) {
    std::set<std::int64_t> ids;
    for (const store::DeadLetter& letter : letters) {
      if (letter.exporter == exporter) ids.insert(letter.event.id);
    }
    const auto left = log.DeadLetters({exporter, {}}, kMaxListed);
    if (!left) return left.error();
    for (const store::DeadLetter& letter : *left) {
      if (ids.erase(letter.event.id) > 0) ++(letter.queued ? out.waiting : out.refused);
    }
    out.delivered += static_cast<std::int64_t>(ids.size());
  }
  out.queued = static_cast<std::int64_t>(letters.size());
  return out;
}

int PrintRetried(const App& app, const Retried& retried, bool here) {
  if (app.json) {
    ordered_json document = {{"queued", retried.queued}};
    if (here) {
      document["delivered"] = retried.delivered;
      document["refused"] = retried.refused;
      document["waiting"] = retried.waiting;
    }
    Print(app, Dump(document));
  } else if (!here) {
    Print(app, Counted(retried.queued, "dead letter") + " queued; the daemon of this store sends them\n");
  } else {
    Print(app, Counted(retried.queued, "dead letter") + " queued: " + std::to_string(retried.delivered) +
                   " delivered, " + std::to_string(retried.refused) + " refused again, " +
                   std::to_string(retried.waiting) + " waiting for the next sweep or daemon\n");
  }
  return !here || retried.refused + retried.waiting == 0 ? kExitOk : kExitIncomplete;
}

}  // namespace

std::string LetterJson(const store::DeadLetter& letter) { return JsonText(Document(letter)); }

int RunDeadLettersList(App& app, const DeadLetterOptions& options) {
  auto store = app.open_store(app.settings(), /*read_only=*/true);
  if (!store) return Fail(app, store.error());
  const auto letters = (*store)->DeadLetters({options.exporter, {}}, std::clamp(options.limit, 1, kMaxListed) + 1);
  if (!letters) return Fail(app, letters.error());
  const std::size_t shown =
      std::min(letters->size(), static_cast<std::size_t>(std::clamp(options.limit, 1, kMaxListed)));
  Print(app, report::Render(TableOf(std::span(*letters).first(shown)), FormatOf(app), StyleOf(app)));
  if (shown < letters->size()) app.log(Level::kWarn, "there are more; raise --limit");
  return kExitOk;
}

int RunDeadLettersShow(App& app, const DeadLetterOptions& options) {
  auto store = app.open_store(app.settings(), /*read_only=*/true);
  if (!store) return Fail(app, store.error());
  const auto letters = Select(**store, options);
  if (!letters) return Fail(app, letters.error());
  std::string text;
  ordered_json documents = ordered_json::array();
  for (const store::DeadLetter& letter : *letters) {
    text += (text.empty() ? "" : "\n") + Text(letter);
    documents.push_back(Document(letter));
  }
  Print(app, app.json ? Dump(documents) : text);
  return kExitOk;
}

int RunDeadLettersRetry(App& app, const DeadLetterOptions& options) {
  if (auto there = app.open_store(app.settings(), /*read_only=*/true); !there) return Fail(app, there.error());
  auto store = app.open_store(app.settings(), /*read_only=*/false);
  if (!store) return Fail(app, store.error());
  const auto letters = Select(**store, options);
  if (!letters) return Fail(app, letters.error());
  if (const auto queued = (*store)->QueueDeadLetters({options.exporter, options.ids}); !queued)
    return Fail(app, queued.error());
  Retried retried;
  retried.queued = static_cast<std::int64_t>(letters->size());
  // If another process holds the writer lock, it sends the queued letters.
  const auto lock = store::WriterLock::Take(app.settings().state_dir);
  if (!lock && !lock.error().retryable) return Fail(app, lock.error());
  const auto locked = lock ? (*store)->LockAsWriter() : Result<void>(lock.error());
  if (!locked && !locked.error().retryable) return Fail(app, locked.error());
  if (!locked || letters->empty()) return PrintRetried(app, retried, /*here=*/locked.ok());
  const ExitOnSignals exit_on_signals("\nbreakwatch: interrupted; the next sweep or daemon sends what is queued\n");
  std::set<std::string> names = ExportersOf(*letters);
  if (const auto sent = SendHere(app, names); !sent) return Fail(app, sent.error());
  if (!names.empty()) app.log(Level::kWarn, "no such exporter is configured: " + Joined(names));
  const auto outcome = Outcome(**store, *letters);
  if (!outcome) return Fail(app, outcome.error());
  return PrintRetried(app, *outcome, /*here=*/true);
}

int RunDeadLettersExport(App& app, const DeadLetterOptions& options) {
  auto store = app.open_store(app.settings(), /*read_only=*/true);
  if (!store) return Fail(app, store.error());
  std::ofstream file;
  const bool to_file = !options.output.empty() && options.output != "-";
  if (to_file) file.open(options.output, std::ios::binary | std::ios::trunc);
  std::int64_t count = 0;
  const auto write = [&](std::span<const store::DeadLetter> letters) {
    std::string text;
    for (const store::DeadLetter& letter : letters) text += LetterJson(letter) + "\n";
    count += static_cast<std::int64_t>(letters.size());
    to_file ? void(file << text) : Print(app, text);
  };
  if (options.all && options.ids.empty()) {
    // In parts, because there may be many.
    std::string exporter;
    for (std::int64_t event = 0;;) {
      const auto page = (*store)->LettersAfter(options.exporter, exporter, event, {.rows = 1000, .bytes = 8u << 20});
      if (!page) return Fail(app, page.error());
      if (page->empty()) break;
      write(*page);
      exporter = page->back().exporter, event = page->back().event.id;
    }
  } else {
    const auto letters = Select(**store, options);
    if (!letters) return Fail(app, letters.error());
    write(*letters);
  }
  if (!to_file) return kExitOk;
  file.close();
  if (!file) return Fail(app, Error{ErrorCode::kStore, options.output + ": cannot write: " + std::strerror(errno)});
  app.log(Level::kInfo, Counted(count, "dead letter") + " written to " + options.output);
  return kExitOk;
}

int RunDeadLettersDrop(App& app, const DeadLetterOptions& options) {
  if (auto there = app.open_store(app.settings(), /*read_only=*/true); !there) return Fail(app, there.error());
  auto store = app.open_store(app.settings(), /*read_only=*/false);
  if (!store) return Fail(app, store.error());
  const auto letters = Select(**store, options);
  if (!letters) return Fail(app, letters.error());
  const auto dropped = (*store)->DropDeadLetters({options.exporter, options.ids});
  if (!dropped) return Fail(app, dropped.error());
  Print(app, app.json ? Dump({{"dropped", *dropped}}) : Counted(*dropped, "dead letter") + " dropped\n");
  return kExitOk;
}

}  // namespace breakwatch::commands
