// One graph capture: the job for a worker, and its result.
#pragma once

#include <array>
#include <chrono>
#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "breakwatch/core/clock.h"
#include "breakwatch/core/status.h"

namespace breakwatch {

// The mode of a result that was read from the trace of a job, and the name of its toolchain: nothing was captured.
inline constexpr char kImport[] = "import";

// The Python environment of a capture. Two captures are comparable only if `Key()` is equal.
struct Toolchain {
  std::string name = "default";
  std::string torch, transformers, python;
  std::string worker;  // version of the worker package and its recipes
  std::string device = "cpu";

  // "default torch 2.15.0 transformers 5.23.0 python 3.11.2 cpu"
  std::string Key() const;
  bool operator==(const Toolchain&) const = default;
};

// A toolchain as settings and requests name it: nothing is known of its versions yet.
struct ToolchainRef {
  std::string name{};    // empty: the primary one
  std::string python{};  // its interpreter; empty: the one that the settings or the program's folder have for the name

  std::string Text() const;                               // "NAME" or "NAME=PYTHON"
  auto operator<=>(const ToolchainRef&) const = default;  // NOLINT(modernize-use-nullptr): the compiler's own zero
};
ToolchainRef ParseToolchainRef(std::string_view text);  // of a Text()

// Bounds the zygote enforces on its child. A phase's deadline starts with the phase.
struct CaptureLimits {
  std::chrono::milliseconds create{120'000}, inputs{30'000}, eager{120'000}, capture{300'000};
  std::int64_t rss_bytes = 6LL << 30;     // resident memory of the child and its descendants
  std::int64_t output_bytes = 1LL << 20;  // how much of the model's output is kept
};

// Limits of one model that differ from the settings'; absent: as there.
struct LimitOverrides {
  std::optional<std::chrono::milliseconds> create{}, inputs{}, eager{}, capture{};
  std::optional<std::int64_t> rss_bytes{};

  CaptureLimits Over(CaptureLimits limits) const;
  bool empty() const { return *this == LimitOverrides(); }
  bool operator==(const LimitOverrides&) const = default;
};

enum class Depth {
  kAuto,    // reduced; again at full depth if a layer breaks
  kVerify,  // always reduced and full, compared
  kFull,    // full only: the class is pinned
};

// What a job may ask for instead of float32 and of the library's choice.
inline constexpr std::array<std::string_view, 3> kDtypes = {"float32", "bfloat16", "float16"};
inline constexpr std::array<std::string_view, 3> kAttentions = {"eager", "sdpa", "flex_attention"};

struct CaptureJob {
  std::string id;  // unique while the runner lives
  std::string model, revision;
  std::string config_json;
  bool is_source = false;    // config_json is a `source`: the user's own code, see PROTOCOL.md
  std::string architecture;  // class to build; empty: the task's Auto class decides
  std::string task, library;
  std::string family;         // of a built package: only recorded; empty: unknown
  std::string mode = "eval";  // without a call
  std::string call;           // "minimal" or "all" (mode.h); empty: the default call
  Depth depth = Depth::kAuto;
  int repeat = 1;                // captures to make and compare
  std::string inputs_spec_json;  // the user's own inputs, override the recipes: JSON object; empty: none
  std::string dtype;             // one of kDtypes; empty: float32
  std::string attention;         // one of kAttentions; empty: the library's choice
  std::string measure_json;      // modes profile and bench: what to measure (MeasureJson); else empty
  std::string build_json;        // mode build: what to build; else empty
  std::string fix_json;          // mode fix: what to try (FixJson); else empty
  std::string repro_json;        // mode repro: what to write (ReproJson); else empty
  std::string structure;         // digest; names the capture in logs
  CaptureLimits limits;
};

// A place in the code where Dynamo broke the graph, and how often it did.
struct BreakSite {
  std::string site_id;     // digest of (gb_id or reason, file, function, stripped source line)
  std::string reason;      // gb_type, at most 120 bytes
  std::string gb_id;       // "GBnnnn" or empty
  std::string fixability;  // user_error dynamo_bug difficult fundamental supportable caused_by_earlier inference_mode
                           // other none
  std::string explanation, context;
  std::vector<std::string> hints;
  std::string file;  // package-relative
  int line = 0;      // from 1; 0 unknown
  std::string function, source_line;
  std::string frame;               // "library", "torch" or "user": whose code it is
  std::string wrapped_in;          // the outer text when Dynamo wrapped the reason; else empty
  std::string compile_id;          // of the first compilation with this break, "0/0"
  std::string module_path;         // of the nn.Module whose forward it is in, "encoder.layer.0"; empty: unknown
  std::vector<std::string> stack;  // "FILE:LINE in FUNCTION", from the model's forward down to this place; may be empty
  std::vector<std::string> stack_source;  // the source line of each frame of `stack`; empty, or as many
  std::int64_t occurrences = 0;           // break events

  bool operator==(const BreakSite&) const = default;
};

// One graph that Dynamo made, in the order of compilation.
struct GraphSegment {
  int index = 0;           // from 0
  std::string compile_id;  // "0/0"
  std::string file;        // package-relative; where the compiled frame begins
  int line = 0;            // from 1; 0 unknown
  std::string function;
  std::map<std::string, std::int64_t> ops;  // by kind: call_function, call_module, ...
  std::optional<std::int64_t> ops_total;
  std::map<std::string, std::int64_t> top_ops;  // the most frequent targets
  std::optional<std::int64_t> inputs, guards;
  std::string ended_by;  // BreakSite::site_id; empty: the frame returned

  bool operator==(const GraphSegment&) const = default;
};

// What one capture found. Numbers that the capture did not reach are absent (nullopt).
struct CaptureResult {
  std::string job_id;
  Status status = Status::kNotAttempted;
  std::string detail;      // one line, never empty
  std::string suggestion;  // one line: what a person can do about a failure; may be empty
  std::string phase;       // the last phase begun: resolve create inputs eager capture done
  std::string architecture, model_type;
  std::optional<std::int64_t> params;  // of the model as captured
  std::string mode;                    // with its call: "eval", "eval+minimal" (mode.h)
  std::string device, dtype;
  std::string depth;                   // "reduced", "full" or "original" (nothing to reduce)
  std::string ops_depth;               // of `ops_captured`, if it differs from `depth`; else empty
  std::optional<bool> depth_mismatch;  // set when both depths were captured to compare them
  std::optional<std::int64_t> graphs, breaks, break_sites, dynamo_counter_breaks, explain_breaks, unique_reasons,
      ops_captured, frames_total, frames_fallback, recompiles, unexplained_events;
  bool flaky = false;
  std::vector<BreakSite> sites;
  std::vector<GraphSegment> segments;     // empty if the worker sent none
  std::string mode_detail_json;           // what the mode found beyond the numbers: JSON object; empty: nothing
  std::map<std::string, double> phase_s;  // wall seconds by phase
  double capture_s = 0;                   // wall seconds inside create + inputs + eager + capture
  double cpu_s = 0;                       // processor seconds of the child
  double wall_s = 0;                      // from the job's start to its end, by the daemon's clock
  double peak_rss_mb = 0;                 // MiB
  std::string inputs_json;                // what was passed to forward: JSON object
  std::string inputs_digest;
  std::vector<std::string> optional_passed, optional_left_out;  // of forward's signature, by name
  std::string error;                                            // traceback or message, bounded to 16 KiB
  std::string output_tail;                                      // the end of what the model printed
  std::string sandbox;  // "bubblewrap", "landlock", "none", "launcher"; empty: not known
  Toolchain toolchain;
  SystemTime started_at{};

  bool operator==(const CaptureResult&) const = default;
};

}  // namespace breakwatch
