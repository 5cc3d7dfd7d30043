// Removes the large files of a sweep that a later one repeats.
#include <filesystem>
#include <fstream>
#include <istream>
#include <string>
#include <string_view>

#include "breakwatch/report/directory.h"
#include "table_json.h"
#include "write_files.h"

namespace breakwatch::report {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSweepField = R"("sweep_id":")", kTimeField = R"("finished_at":")";
constexpr std::size_t kChunkBytes = 1 << 16;
constexpr std::size_t kHeadBytes = 256;  // the plan's first fields

// Removes the value of a field that begins at `begin`.
void Remove(std::string& line, std::string_view field, std::size_t begin) {
  const std::size_t end = begin == line.npos ? begin : line.find('"', begin + field.size());
  if (end != line.npos) line.erase(begin, end - begin);
}

// A result without whose it is, which is its first text, and when it was stored, which is its last time.
std::string WithoutSweep(std::string line) {
  Remove(line, kTimeField, line.rfind(kTimeField));
  Remove(line, kSweepField, line.find(kSweepField));
  return line;
}

bool HasSameResults(std::istream& a, std::istream& b) {
  for (std::string line, same;;) {
    const bool more = static_cast<bool>(std::getline(a, line));
    if (more != static_cast<bool>(std::getline(b, same))) return false;
    if (!more) return true;
    if (WithoutSweep(std::move(line)) != WithoutSweep(std::move(same))) return false;
    line.clear(), same.clear();
  }
}

// The plan is one line, as large as the file.
bool HasSamePlan(std::istream& a, std::istream& b) {
  std::string one(kHeadBytes, '\0'), other(kHeadBytes, '\0');
  const auto read = [](std::istream& file, std::string& bytes) {
    file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    bytes.resize(static_cast<std::size_t>(file.gcount()));
  };
  read(a, one), read(b, other);
  Remove(one, kSweepField, one.find(kSweepField)), Remove(other, kSweepField, other.find(kSweepField));
  while (one == other) {
    if (one.empty()) return true;
    one.resize(kChunkBytes), other.resize(kChunkBytes);
    read(a, one), read(b, other);
  }
  return false;
}

}  // namespace

Result<bool> ThinSweepDirectory(const std::string& state_dir, const std::string& id, const std::string& later) {
  const std::string folder = state_dir + "/sweeps/" + id, newer = state_dir + "/sweeps/" + later;
  std::error_code error;
  if (fs::read_symlink(state_dir + "/latest", error).filename() == id) return false;  // its files are read by name
  {
    std::ifstream plan(folder + "/plan.json"), newer_plan(newer + "/plan.json");
    std::ifstream results(folder + "/results.jsonl"), newer_results(newer + "/results.jsonl");
    const bool open = plan && newer_plan && results && newer_results;
    if (!open || !HasSamePlan(plan, newer_plan) || !HasSameResults(results, newer_results)) return false;
  }
  FileWriter note(folder + "/same_as.json");
  note.Write(Dump(Json{{"schema", 1}, {"same_as", later}}));
  if (auto closed = note.Close(); !closed) return closed.error();
  for (const char* name : {"plan.json", "results.jsonl"}) {
    if (!fs::remove(folder + "/" + name, error) && error)
      return Error{ErrorCode::kStore, folder + ": " + error.message()};
  }
  return true;
}

}  // namespace breakwatch::report
