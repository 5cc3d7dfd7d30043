// Artifacts and their stages. The order of stages is checked in the transaction that writes one.
#include "breakwatch/store/artifacts.h"

#include <algorithm>

#include "breakwatch/core/json.h"
#include "breakwatch/core/text.h"
#include "sql.h"
#include "sql_store.h"

namespace breakwatch::store {
namespace {

constexpr std::size_t kShortestId = 6;
constexpr int kMaxCounted = 100'000;

constexpr const char* kArtifact = "SELECT a.key, a.created_ns, a.document FROM artifacts a";

Error NoArtifact(const std::string& id) {
  return {ErrorCode::kNotFound, "no artifact " + ShortLine(id, 80) + "; `breakwatch artifact ls` lists them"};
}

Error NotDue(const Artifact& artifact, Stage stage, const std::string& why) {
  return {ErrorCode::kInvalid, "artifact " + artifact.key.substr(0, 12) + " of " + artifact.request.model +
                                   " cannot be " +
                                   (stage == Stage::kBuild   ? "built"
                                    : stage == Stage::kCheck ? "checked"
                                                             : "published") +
                                   ": " + why};
}

// The rows of a damaged document are skipped; FindDamage lists them.
void AddStages(soci::session& sql, Artifact& artifact) {
  Query<std::string>(
      sql, "SELECT document FROM artifact_stages WHERE key = :key ORDER BY position, place",
      [&](const std::string& document) {
        if (auto record = StageRecordFromJson(document)) artifact.stages.push_back(*std::move(record));
        return true;
      },
      artifact.key);
}

template <class... Values>
std::vector<Artifact> Read(soci::session& sql, const std::string& rest, const Values&... values) {
  std::vector<Artifact> artifacts;
  Query<std::string, Int, std::string>(
      sql, kArtifact + rest,
      [&](const std::string& key, Int created, const std::string& document) {
        if (auto request = ArtifactRequestFromJson(document))
          artifacts.push_back({key, *std::move(request), FromNanoseconds(created), {}});
        return true;
      },
      values...);
  for (Artifact& artifact : artifacts) AddStages(sql, artifact);
  return artifacts;
}

Result<Artifact> ReadOne(soci::session& sql, const std::string& key) {
  auto found = Read(sql, " WHERE a.key = :key", key);
  if (found.empty()) return NoArtifact(key);
  return std::move(found.front());
}

// `package`: what is checked or published; empty: what was built.
Result<void> IsDue(const Artifact& artifact, Stage stage, const std::string& package) {
  const StageRecord* fetch = artifact.Find(Stage::kFetch);
  if (stage == Stage::kFetch) return {};
  if (stage == Stage::kBuild) {
    if (fetch == nullptr || !fetch->ok()) return NotDue(artifact, stage, "it is not fetched");
    return {};
  }
  const std::string built = artifact.PackageId();
  if (built.empty()) return NotDue(artifact, stage, "it is not built; run `breakwatch artifact build` first");
  if (!package.empty() && package != built)
    return NotDue(artifact, stage, "package " + package.substr(0, 12) + " is not the one that was built");
  if (stage == Stage::kCheck || artifact.IsChecked()) return {};
  const StageRecord* check = artifact.Find(Stage::kCheck);
  if (check == nullptr) return NotDue(artifact, stage, "it is not checked; run `breakwatch artifact check` first");
  return NotDue(artifact, stage, "its check failed: " + check->detail);
}

void WriteStage(soci::session& sql, const std::string& key, const StageRecord& record) {
  Exec(sql,
       "INSERT INTO artifact_stages (key, position, stage, place, status, package_id, started_ns, document)"
       " VALUES (:key, :position, :stage, :place, :status, :package, :started, :document)"
       " ON CONFLICT (key, position, place) DO UPDATE SET status = excluded.status, package_id = excluded.package_id,"
       " started_ns = excluded.started_ns, document = excluded.document",
       key, Int{static_cast<int>(record.stage)}, std::string(StageName(record.stage)), ToUtf8(record.place),
       ToUtf8(record.status), ToUtf8(record.package_id), Nanoseconds(record.started_at), ToJson(record));
}

bool IsId(const std::string& text) {
  return text.size() >= kShortestId && text.size() <= 64 &&
         text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

}  // namespace

Result<std::string> SqlStore::AddArtifact(const ArtifactRequest& request) {
  const std::string key = BuildKey(request);
  auto added = db_.Write([&](soci::session& sql) -> Result<void> {
    Exec(sql,
         "INSERT INTO artifacts (key, model, revision, target, created_ns, document)"
         " VALUES (:key, :model, :revision, :target, :created, :document) ON CONFLICT (key) DO NOTHING",
         key, ToUtf8(request.model), ToUtf8(request.revision), ToUtf8(request.target), Nanoseconds(clock_.Now()),
         ToJson(request));
    return {};
  });
  if (!added) return added.error();
  return key;
}

Result<void> SqlStore::RecordStage(const std::string& key, const StageRecord& record) {
  return db_.Write([&](soci::session& sql) -> Result<void> {
    const auto artifact = ReadOne(sql, key);
    if (!artifact) return artifact.error();
    if (auto due = IsDue(*artifact, record.stage, record.package_id); !due) return due;
    if (record.stage == Stage::kBuild && artifact->PackageId() != record.package_id)
      Exec(sql, "DELETE FROM artifact_stages WHERE key = :key AND stage = 'check'", key);
    if (record.stage == Stage::kBuild)  // what failed may work with the files of this build
      Exec(sql,
           "DELETE FROM artifact_stages WHERE key = :key AND stage = 'publish' AND status <> '" +
               std::string(kStageOk) + "'",
           key);
    WriteStage(sql, key, record);
    return {};
  });
}

Result<void> SqlStore::StageIsDue(const std::string& key, Stage stage) {
  return db_.Read([&](soci::session& sql) -> Result<void> {
    const auto artifact = ReadOne(sql, key);
    return artifact ? IsDue(*artifact, stage, "") : artifact.error();
  });
}

Result<std::vector<Artifact>> SqlStore::Artifacts(const std::string& model, const std::string& target, int limit) {
  return db_.Read([&](soci::session& sql) -> Result<std::vector<Artifact>> {
    if (!db_.dialect().HasTable(sql, "artifacts")) return std::vector<Artifact>();  // an older version, not migrated
    return Read(sql,
                " WHERE (:any_model = 1 OR a.model = :model) AND (:any_target = 1 OR a.target = :target)"
                " ORDER BY a.created_ns DESC, a.key LIMIT " +
                    std::to_string(std::max(limit, 0)),
                Int{model.empty()}, ToUtf8(model), Int{target.empty()}, ToUtf8(target));
  });
}

Result<Artifact> SqlStore::FindArtifact(const std::string& id) {
  if (!IsId(id)) return NoArtifact(id);
  return db_.Read([&](soci::session& sql) -> Result<Artifact> {
    if (!db_.dialect().HasTable(sql, "artifacts")) return NoArtifact(id);
    auto found = Read(sql,
                      " WHERE a.key LIKE :key OR EXISTS (SELECT 1 FROM artifact_stages s WHERE s.key = a.key"
                      " AND s.stage = 'build' AND s.package_id LIKE :package) ORDER BY a.key LIMIT 2",
                      id + "%", id + "%");
    if (found.empty()) return NoArtifact(id);
    if (found.size() > 1)
      return Error{ErrorCode::kInvalid, "several artifacts begin with " + id + ": give more digits"};
    return std::move(found.front());
  });
}

Result<void> SqlStore::RemoveArtifact(const std::string& key) {
  return db_.Write([&](soci::session& sql) -> Result<void> {
    Exec(sql, "DELETE FROM artifact_stages WHERE key = :key", key);
    Exec(sql, "DELETE FROM artifacts WHERE key = :key", key);
    return {};
  });
}

Result<std::map<std::pair<std::string, std::string>, std::int64_t>> SqlStore::CountArtifacts() {
  const auto artifacts = Artifacts("", "", kMaxCounted);
  if (!artifacts) return artifacts.error();
  std::map<std::pair<std::string, std::string>, std::int64_t> counts;
  for (const Artifact& artifact : *artifacts) ++counts[{artifact.request.target, artifact.State()}];
  return counts;
}

}  // namespace breakwatch::store
