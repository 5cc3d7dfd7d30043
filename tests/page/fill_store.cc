// fill_store DATABASE MODELS SWEEPS: writes one or two sweeps of many models into a new store, as the loop would: the
// fold and the store are the daemon's own. Captures are shared by structure, a few models change in the second sweep,
// and the first models have hostile names.
#include <array>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "breakwatch/core/clock.h"
#include "breakwatch/core/text.h"
#include "breakwatch/engine/aggregate.h"
#include "breakwatch/store/store.h"
#include "fakes/fake_capture_runner.h"

namespace breakwatch {
namespace {

constexpr int kModelsPerStructure = 25;
constexpr std::size_t kBatch = 1000;
const std::array<const char*, 4> kHostile = {"<img src=x onerror=alert(1)>/<script>alert(1)</script>",
                                             "org/%2e%2e%2f?#&=+ x", "org/\u202egnp.exe",
                                             "'\"><svg onload=alert(1)>/x"};
const std::array<std::pair<const char*, const char*>, 4> kReasons = {{{"Data-dependent branching", "GB0170"},
                                                                      {"Dynamic shape operator", "GB0036"},
                                                                      {"Unsupported context manager", "GB0142"},
                                                                      {"A text <b>without</b> id", ""}}};

void Must(const Result<void>& result) {
  if (!result) throw std::runtime_error(result.error().message);
}

class Filler {
 public:
  Filler(const std::string& database, int models) : models_(models), aggregate_(store::Current{}, {}) {
    auto opened = store::Store::Open({"sqlite:" + database, false}, RealClock());
    if (!opened) throw std::runtime_error(opened.error().message);
    store_ = *std::move(opened);
    toolchain_.torch = "2.15.0";
    toolchain_.transformers = "5.23.0";
    toolchain_.python = "3.11.2";
    toolchain_.worker = "7";
  }

  void Sweep(const std::string& id, SystemTime began, bool first) {
    breakwatch::Sweep sweep;
    sweep.id = id;
    sweep.trigger = SweepTrigger::kInterval;
    sweep.source = "hub https://example.org";
    sweep.ranked = true;
    sweep.started_at = began;
    sweep.planned = models_;
    sweep.toolchain = toolchain_;
    const Plan plan = MakePlan(sweep, first);
    Must(store_->BeginSweep(sweep, plan, {}, aggregate_.Begin(sweep, plan), {}));
    std::vector<store::ResultWrite> writes;
    for (const PlannedModel& planned : plan.models) {
      ModelResult result = ResultOf(planned, sweep, first);
      ++sweep.statuses[std::string(StatusName(result.capture.status))];
      const store::CurrentChange change = aggregate_.Apply(result);
      writes.push_back({std::move(result), {}, change});
      if (writes.size() == kBatch || planned.info.rank == models_) {
        Must(store_->AppendResults(writes));
        writes.clear();
      }
    }
    sweep.modes["eval"] = sweep.statuses;
    sweep.state = SweepState::kFinished;
    sweep.complete = true;
    sweep.finished_at = began + std::chrono::hours(5);
    Must(store_->FinishSweep(sweep, {}, aggregate_.Finish(sweep, plan)));
  }

 private:
  static std::string NameOf(int i) {
    static const std::array<const char*, 5> kOrgs = {"facebook", "google", "microsoft", "org", "example"};
    static const std::array<const char*, 5> kTypes = {"bert", "bart", "llama", "wav2vec2", "vit"};
    if (i < static_cast<int>(kHostile.size())) return kHostile[static_cast<std::size_t>(i)];
    const auto at = static_cast<std::size_t>(i);
    return std::string(kOrgs[at % 5]) + "/" + kTypes[at / 5 % 5] + "-" + std::to_string(i);
  }
  static std::string Hex(int i) {
    std::string out(40, '0');
    std::snprintf(out.data(), 9, "%08x", static_cast<unsigned>(i));
    out[8] = '0';
    return out;
  }
  // Models of one structure are neighbours; every fourth structure breaks.
  static int StructureOf(int i) { return i / kModelsPerStructure; }
  static bool Fails(int i) { return StructureOf(i) % 16 == 7; }
  static bool Breaks(int i, bool first) { return StructureOf(i) % 4 == 1 || (!first && StructureOf(i) == 2); }
  static std::string CaptureOf(int i, bool first) {
    const bool changed = StructureOf(i) == 2 && !first;
    return (changed ? "second-" : "first-") + std::to_string(StructureOf(i));
  }

  Plan MakePlan(const breakwatch::Sweep& sweep, bool first) const {
    Plan plan;
    plan.sweep_id = sweep.id;
    plan.source = sweep.source;
    plan.ranked = true;
    plan.toolchain = toolchain_;
    for (int i = 0; i < models_; ++i) {
      PlannedModel planned;
      planned.info.id = NameOf(i);
      planned.info.sha = Hex(i);
      planned.info.family = AllFamilies()[static_cast<std::size_t>(i / 7) % AllFamilies().size()];
      planned.info.task = "fill-mask";
      planned.info.library = "transformers";
      planned.info.model_type = "bert";
      planned.info.architectures = {"BertModel"};
      planned.info.downloads = 60'000'000 / (i + 1);
      planned.info.rank = i + 1;
      planned.structure = "structure-" + std::to_string(StructureOf(i));
      planned.action = first ? Action::kCapture : Action::kReuse;
      planned.reason = first ? "new model" : "unchanged";
      planned.capture_id = first ? "" : CaptureOf(i, first);
      plan.models.push_back(std::move(planned));
    }
    return plan;
  }

  ModelResult ResultOf(const PlannedModel& planned, const breakwatch::Sweep& sweep, bool first) const {
    const int i = planned.info.rank - 1;
    ModelResult result;
    result.sweep_id = sweep.id;
    result.info = planned.info;
    result.structure = planned.structure;
    result.capture_id = CaptureOf(i, first);
    result.rebuild_reason = planned.reason;
    result.reused = !first;
    result.capture = CaptureOf(Fails(i), Breaks(i, first), StructureOf(i));
    result.capture.toolchain = toolchain_;
    result.capture.started_at = sweep.started_at;
    result.finished_at = sweep.started_at + std::chrono::milliseconds(300) * planned.info.rank;
    return result;
  }

  static CaptureResult CaptureOf(bool fails, bool breaks, int structure) {
    if (fails) return fakes::FailedCapture(Status::kFailedCreate, "the config has no attribute hidden_size");
    std::vector<BreakSite> sites;
    for (std::size_t n = 0; breaks && n < 1 + static_cast<std::size_t>(structure) % 3; ++n) {
      const auto& [reason, gb_id] = kReasons[(static_cast<std::size_t>(structure) + n) % kReasons.size()];
      BreakSite site = fakes::FakeSite(reason, gb_id, 1 + static_cast<int>(n),
                                       "transformers/models/m" + std::to_string(structure % 40) + "/modeling.py");
      site.site_id = Sha256Hex(site.site_id).substr(0, 16);
      site.explanation = "Detected something that depends on data.";
      site.hints = {"Use `torch.cond` to express the branch."};
      site.source_line = "if mask.sum() > 0:  # <b>";
      sites.push_back(std::move(site));
    }
    CaptureResult result = fakes::GoodCapture(sites);
    for (std::size_t n = 0; n <= sites.size(); ++n) {
      GraphSegment graph;
      graph.index = static_cast<int>(n);
      graph.compile_id = std::to_string(n) + "/0";
      graph.file = "transformers/models/m/modeling.py";
      graph.line = 100;
      graph.function = "forward";
      graph.ops = {{"call_function", 40}};
      graph.ops_total = 40;
      graph.ended_by = n < sites.size() ? sites[n].site_id : "";
      result.segments.push_back(std::move(graph));
    }
    return result;
  }

  const int models_;
  Toolchain toolchain_;
  engine::Aggregate aggregate_;
  std::unique_ptr<store::Store> store_;
};

}  // namespace
}  // namespace breakwatch

int main(int argc, char** argv) try {
  if (argc != 4) throw std::runtime_error("usage: fill_store DATABASE MODELS SWEEPS");
  using namespace breakwatch;
  Filler filler(argv[1], std::atoi(argv[2]));
  const SystemTime now = RealClock().Now();
  filler.Sweep("20261122T010000Z-000001", now - std::chrono::hours(30), /*first=*/true);
  if (std::atoi(argv[3]) > 1) filler.Sweep("20261123T010000Z-000002", now - std::chrono::hours(6), /*first=*/false);
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "fill_store: %s\n", error.what());
  return 1;
}
