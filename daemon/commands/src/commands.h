// The commands: each takes the app and its own options, and returns the exit code.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "breakwatch/api/control_socket.h"
#include "breakwatch/api/queries.h"
#include "breakwatch/commands/app.h"
#include "breakwatch/core/command.h"
#include "breakwatch/core/exposition.h"
#include "breakwatch/core/trend_query.h"
#include "breakwatch/report/table.h"
#include "gate.h"
#include "model_selection.h"

namespace breakwatch::commands {

struct SweepOptions {
  std::vector<std::string> models;  // --model: names, or filters of the ranking
  std::string owner;                // --owner
  std::string select;               // the filters, as ListRequest::select: see SelectModels
  std::string plan_file;            // --plan
  std::string toolchain;            // --toolchain
  std::string output;               // plan: --output
  bool track = false, resume = false, local_gateway = false, quiet = false;
  GateOptions gate;  // of the first sweep's results; no baseline: no gate
};
int RunSweep(App& app, const SweepOptions& options);
int RunPlan(App& app, const SweepOptions& options);

// Of commands that are a sweep in a mode of their own.
struct ModeCommandOptions {
  SweepOptions sweep;  // models, owner, plan_file, toolchain, quiet
  std::string format = "text", output;
};
struct MeasureCommandOptions {
  ModeCommandOptions in_mode;
  bool list_backends = false;
};
int RunProfile(App& app, const MeasureCommandOptions& options);
int RunBench(App& app, const MeasureCommandOptions& options);

struct FixCommandOptions {
  ModeCommandOptions in_mode;
  std::vector<std::string> names;  // of fixes; empty: all that apply
  bool alone = false;              // no combinations
};
int RunFix(App& app, const FixCommandOptions& options);

struct ReproCommandOptions {
  ModeCommandOptions in_mode;
  std::optional<std::string> site;  // a site's id or its beginning; nullopt: all sites
  bool minimal = false;             // as small as the break allows
  bool keep = false;                // capture again in a folder that stays
  bool trace = false;               // the same, and leave a TORCH_TRACE directory in it
};
int RunRepro(App& app, const ReproCommandOptions& options);

int RunDiscover(App& app, const DiscoverRequest& request);

// Expands selectors to names that a sweep accepts. A script without a hash becomes one name for each module that it
// calls, found by running it. Error: kUsage for an invalid selector, or if own code is not allowed.
Result<std::vector<std::string>> ResolveSelectors(App& app, const std::vector<std::string>& models);

// Splits options.models: only names stay in it, and filters with --owner become options.select. A file that lists only
// names stands for them. Error: kUsage; names and filters cannot be combined.
Result<void> SelectModels(SweepOptions& options);

struct ImportOptions {
  std::string path, model, commit, family;
  bool track = false, quiet = false;
};
int RunImport(App& app, const ImportOptions& options);

struct ServeOptions {
  bool local_gateway = false;
};
int RunServe(App& app, const ServeOptions& options);
int RunPage(App& app);

struct ShowOptions {
  std::string model, sweep, mode, toolchain;
  std::string format = "text";
  bool stack = false;        // whole stacks of the sites
  ModelSelection selection;  // list these models instead of showing one
};
int RunShow(App& app, const ShowOptions& options);
// The newest result of each mode and toolchain of a model, those of the primary toolchain first.
Result<std::vector<ModelResult>> ResultsOf(store::SweepStore& store, const Settings& settings,
                                           const std::string& model);

struct ReasonsOptions {
  std::string by{};  // empty: "events"; of sites "models"
  std::string sweep = "latest", mode;
  int limit = 0;
  bool sites = false;
  int lines = 10;  // with sites: the largest choice of lines to change
  ModelSelection selection;
};
int RunReasons(App& app, const ReasonsOptions& options);
int RunSites(App& app, const ReasonsOptions& options);  // of --sites

struct IssueOptions {
  std::string target;   // a model, a reason or a site
  std::string tracker;  // "torch" or "transformers"; empty: by whose code has the site
  std::string sweep = "latest", mode, repro, output;
  bool with_repro = false;  // make the file that shows the break, unless a stored one does
};
int RunIssue(App& app, const IssueOptions& options);

struct ReportOptions {
  std::string sweep = "latest", format = "text", output;
  bool list = false;
  GateOptions gate;  // no baseline: the report has no decision of a gate
  ModelSelection selection;
};
int RunReport(App& app, const ReportOptions& options);

// The trends to read; every text as it was given.
struct TrendsOptions {
  TrendQuery query;
  std::string format = "text", output;
  bool daily = false;
};
int RunTrends(App& app, const TrendsOptions& options);
// The published trends in OpenMetrics, of the days between `since` and `until`.
int RunStoreExport(App& app, const TrendsOptions& options);

struct CompareOptions {
  std::string a, b, mode, format = "text", output, fail_on;
  bool all = false;
  GateOptions gate;
  ModelSelection selection;
};
int RunCompare(App& app, const CompareOptions& options);

// The document of `compare --json` for two selectors. Error: as the command's.
Result<std::string> CompareStored(store::SweepStore& store, const Settings& settings,
                                  const api::ComparisonQuery& query);

struct BaselineOptions {
  std::string path = kDefaultBaseline, sweep = "latest";
  bool keep = false;  // lines of models that the sweep did not contain stay
};
int RunBaselineUpdate(App& app, const BaselineOptions& options);
int RunBaselineShow(App& app, const BaselineOptions& options);
int RunBaselineDiff(App& app, const BaselineOptions& options);

struct BisectOptions {
  std::string model, from, to, mode = "eval", format = "text", output;
  bool quiet = false;
};
int RunBisect(App& app, const BisectOptions& options);

struct DeadLetterOptions {
  std::string exporter;           // empty: all
  std::vector<std::int64_t> ids;  // of events
  bool all = false;
  int limit = 50;
  std::string output;  // of export
};
int RunDeadLettersList(App& app, const DeadLetterOptions& options);
int RunDeadLettersShow(App& app, const DeadLetterOptions& options);
int RunDeadLettersRetry(App& app, const DeadLetterOptions& options);
int RunDeadLettersDrop(App& app, const DeadLetterOptions& options);
int RunDeadLettersExport(App& app, const DeadLetterOptions& options);
// One letter as `dead-letters show --json` prints it.
std::string LetterJson(const store::DeadLetter& letter);
int RunEventsStatus(App& app);

int RunStoreInfo(App& app);
int RunStoreCheck(App& app);
int RunStoreFinish(App& app);
int RunStoreRepair(App& app);
int RunStoreRebuild(App& app);

int RunConfigShow(App& app);
int RunConfigCheck(App& app);
int RunConfigExplain(App& app, const std::string& key);
int RunConfigExample(App& app);

struct SetupOptions {
  SetupRequest request;
  bool dry_run = false, quiet = false;
};
int RunSetup(App& app, const SetupOptions& options);
int RunDoctor(App& app);
int RunVersion(App& app);

// Makes the request from flags and settings. Error: kUsage, or an error of the plan file.
Result<SweepRequest> MakeRequest(const Settings& settings, const SweepOptions& options);

// Finds a model by its id, or by a unique part of it. Error: kUsage with similar ids.
Result<std::string> FindModel(store::SweepStore& store, const std::string& selector);
// Writes to a file; "" and "-" mean standard output. Returns the exit code.
int Write(const App& app, const std::string& path, const std::string& text);
// Whether Write can write there, asked before long work; nothing is written. Error: as of WriteFile.
Result<void> CheckOutput(const std::string& path);

// JSON with --json, otherwise text, with colour on a terminal.
report::Format FormatOf(const App& app);
report::Style StyleOf(const App& app);
// All output goes through these two: standard output, and messages to standard error. Control characters are escaped. A
// failed write sets the exit code at the end.
void Print(const App& app, const std::string& text);
void Complain(const App& app, const std::string& text);  // "breakwatch: ", the text, a line end
// Error: kStore, naming the file and the cause.
Result<void> WriteFile(const std::string& path, const std::string& text);
// The same for a text that `write` gives piece by piece. Its error is returned.
using WriteText = std::function<Result<void>(const TextSink& sink)>;
Result<void> WriteFile(const std::string& path, const WriteText& write);
// The same, but a reader sees the old text or the new one, also after a crash.
Result<void> ReplaceFile(const std::string& path, const std::string& text);
// Of two exit codes, the one with the higher precedence.
int FirstThatApplies(int a, int b);
// Opens closed standard descriptors first, so that a database does not get such a number.
void ReserveStandardDescriptors();
// The exit code of a command that ends with `code`, after its output is flushed.
int CodeWithOutput(const App& app, int code);

// Sends the request to the daemon of the state directory and follows it. nullopt if no daemon is running. A signal ends
// only the wait: the daemon continues.
Result<std::optional<api::Followed>> HandOver(const App& app, const SweepRequest& request, ProgressListener& progress);
// Lists the exporters that are behind. Returns the exit code of one sweep.
int CodeOf(const App& app, const Sweep& sweep, const std::vector<std::string>& behind);
// The exit code of `breakwatch sweep` for a request with this `outcome`. `by_name`: the request lists models by name.
int CodeOfRequest(const api::Followed& outcome, bool by_name);

}  // namespace breakwatch::commands
