// ProcessFold: adds the records of one process, which is one file, to the findings of its rank.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "compile_seconds.h"
#include "findings.h"
#include "metrics.h"
#include "place.h"
#include "record_reader.h"

namespace breakwatch::trace {

class ProcessFold {
 public:
  explicit ProcessFold(Findings& findings) : found_(findings) {}
  // Takes each record in file order. Call Finish afterwards.
  void Add(const Record& record);
  void Finish();

 private:
  // A compilation that began and has not ended.
  struct Open {
    std::string file, function;
    int line = 0;
    std::int64_t events = 0;
    std::string last_site;
    std::size_t first_segment = 0, segments = 0;
    std::int64_t graphs = 0;
    std::optional<BreakSite> jump;  // a branch on a value, logged by an older release, which may log it again
  };

  void TakeString(const Record& record);
  void TakeStart(const Record& record);
  void TakeArtifact(const Record& record);
  void TakeBreak(const Record& record);
  void CountEvent(BreakSite event, Open* open);
  void CountJump(Open& open);
  bool CountUnlogged(const std::string& id, Open& open, const CompileMetrics& metrics, bool jumped);
  void TakeBackGraph(const Open& open);
  void TakeVersion(const Record& record);
  void TakeRecompileReasons(const Record& record);
  void TakeGraph(const Record& record);
  void TakeMetrics(const Record& record);
  void TakeEnd(const Record& record, const CompileMetrics& metrics);
  void DescribeSegments(const Open& open, const CompileMetrics& metrics);
  Open& Begin(const std::string& compile_id, const CompileId& id);

  Findings& found_;
  CompileSeconds seconds_;
  std::string torch_root_;
  UserFiles files_;
  std::unordered_map<std::int64_t, std::string> strings_;
  std::size_t string_bytes_ = 0;
  std::map<std::string, Open> open_;
  bool reasons_in_metrics_ = false;  // recompile reasons are recorded in two places; only the first place is counted
  bool reasons_in_artifacts_ = false;
  bool logs_as_older_ = false;  // a break was logged in the older form
};

}  // namespace breakwatch::trace
