#include "breakwatch/report/artifacts.h"

#include <nlohmann/json.hpp>

#include "breakwatch/core/json.h"
#include "breakwatch/core/json_text.h"
#include "breakwatch/core/text.h"

namespace breakwatch::report {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

constexpr std::size_t kShortId = 12, kListedSites = 20;

std::string ShortId(const std::string& id) { return id.substr(0, kShortId); }

ordered_json Document(const Artifact& artifact) {
  return ordered_json::parse(ToJson(artifact), nullptr, /*allow_exceptions=*/false);
}

std::string WeightsOf(const ArtifactRequest& request) {
  return request.weights == kRandomWeights ? "random, seed " + std::to_string(request.seed) : request.weights;
}

Table StagesOf(const Artifact& artifact) {
  Table table;
  table.columns = {{"stage", "STAGE"},
                   {"status", "STATUS"},
                   {"seconds", "SECONDS", true, 0, 1},
                   {"cause", "CAUSE"},
                   {"detail", "DETAIL", false, 100}};
  table.when_empty = "no stage has run";
  for (const StageRecord& record : artifact.stages)
    table.rows.push_back(
        {std::string(StageName(record.stage)), record.status, record.seconds, record.cause, record.detail});
  return table;
}

json Parsed(const std::string& text) { return json::parse(text, nullptr, /*allow_exceptions=*/false); }

// Text of a model's repository or of a worker, in Markdown.
std::string Code(const std::string& text) {
  std::string out;
  for (const char c : ShortLine(text, 300)) out += c == '`' || c == '|' ? ' ' : c;
  return "`" + out + "`";
}

std::string TensorRows(const std::string& tensors_json, const char* name) {
  std::string text = "\n| name | dtype | shape |\n| --- | --- | --- |\n";
  const json tensors = Parsed(tensors_json);
  if (!tensors.is_array()) return "";
  for (const json& tensor : tensors) {
    if (!tensor.is_object()) continue;
    const auto value = [&](const char* key) {
      return tensor.contains(key) && tensor[key].is_string() ? tensor[key].get<std::string>() : "";
    };
    text += "| " + Code(value(name)) + " | " + Code(value("dtype")) + " | " +
            Code(tensor.contains("shape") ? JsonText(tensor["shape"]) : "") + " |\n";
  }
  return text;
}

std::string BreakReport(const Manifest& manifest, const ModelResult* result) {
  std::string text = "\n## Graph breaks\n\n";
  if (manifest.graphs && manifest.breaks) {
    text += Counted(*manifest.graphs, "graph") + ", " + Counted(*manifest.breaks, "graph break") +
            " when this package was built.\n";
  }
  if (result == nullptr) return text + "No stored capture of the model.\n";
  const CaptureResult& capture = result->capture;
  text += "Newest capture: " + Code(std::string(StatusName(capture.status))) + " by " + Code(capture.toolchain.Key()) +
          ", mode " + Code(capture.mode) + ".\n";
  if (capture.sites.empty()) return text;
  text += "\n| reason | id | place | events |\n| --- | --- | --- | --- |\n";
  for (std::size_t i = 0; i < capture.sites.size() && i < kListedSites; ++i) {
    const BreakSite& site = capture.sites[i];
    text += "| " + Code(site.reason) + " | " + Code(site.gb_id) + " | " +
            Code(site.file + ":" + std::to_string(site.line)) + " | " + std::to_string(site.occurrences) + " |\n";
  }
  if (capture.sites.size() > kListedSites)
    text += "\nand " + std::to_string(capture.sites.size() - kListedSites) + " more\n";
  return text;
}

std::string CheckReport(const Manifest& manifest, const Artifact& artifact) {
  std::string text = "\n## Check\n\n";
  if (const StageRecord* check = artifact.Find(Stage::kCheck)) {
    text += Code(check->status) + " at " + FormatTime(check->started_at) + ": " + ShortLine(check->detail, 300) + "\n";
  }
  return text + "\nTolerances by dtype: " + Code(manifest.tolerance_json) + "\n";
}

}  // namespace

std::string RenderArtifacts(const std::vector<Artifact>& artifacts, Format format, Style style) {
  if (format == Format::kJson) {
    ordered_json list = ordered_json::array();
    for (const Artifact& artifact : artifacts) list.push_back(Document(artifact));
    return JsonDocument(list, 2);
  }
  Table table;
  table.columns = {{"key", "ARTIFACT"},         {"model", "MODEL", false, 48}, {"target", "TARGET"}, {"state", "STATE"},
                   {"package_id", "PACKAGE"},   {"weights", "WEIGHTS"},        {"size", "SIZE"},     {"dtype", "DTYPE"},
                   {"created_at", "CREATED AT"}};
  table.when_empty = "no artifacts; `breakwatch artifact build MODEL` makes one";
  for (const Artifact& artifact : artifacts) {
    const ArtifactRequest& request = artifact.request;
    table.rows.push_back({ShortId(artifact.key), request.model, request.target, artifact.State(),
                          ShortId(artifact.PackageId()), WeightsOf(request),
                          std::string(request.full ? "published" : "reduced"), request.dtype,
                          FormatTime(artifact.created_at).substr(0, 19) + "Z"});
  }
  return Render(table, format, style);
}

std::string RenderArtifact(const Artifact& artifact, Format format, Style style) {
  if (format == Format::kJson) return JsonDocument(Document(artifact), 2);
  const ArtifactRequest& request = artifact.request;
  std::string text = "model      " + request.model + " at " + request.revision + "\ntarget     " + request.target +
                     "\nstate      " + artifact.State() + "\nartifact   " + artifact.key + "\n";
  if (!artifact.PackageId().empty()) text += "package    " + artifact.PackageId() + "\n";
  text += "weights    " + WeightsOf(request) + "\nrequest    " + request.dtype + ", batch " +
          std::to_string(request.batch) + (request.dynamic ? " (dynamic)" : "") +
          (request.full ? ", size as published" : ", reduced size") + ", " + request.toolchain.Key() + "\n";
  for (const StageRecord& record : artifact.stages) {
    if (record.stage == Stage::kPublish && record.ok()) text += "reference  " + record.reference + "\n";
    if (!record.ok() && !record.log.empty()) text += "log        " + record.log + "\n";
  }
  return text + "\n" + Render(StagesOf(artifact), format, style);
}

std::string RenderPublished(const std::vector<PublishedPackage>& packages, Format format, Style style) {
  Table table;
  table.columns = {{"package_id", "PACKAGE", false, kShortId + 1},
                   {"model", "MODEL", false, 48},
                   {"revision", ""},
                   {"target", "TARGET"},
                   {"published_at", "PUBLISHED AT"},
                   {"reference", "REFERENCE"}};
  table.when_empty = "no packages";
  for (const PublishedPackage& p : packages)
    table.rows.push_back({p.package_id, p.model, p.revision, p.target, p.published_at, p.reference});
  return Render(table, format, style);
}

std::string ModelCard(const Package& package, const Artifact& artifact, const ModelResult* result) {
  const Manifest& m = package.manifest;
  std::string text = "# " + ShortLine(m.model, 200) + ", " + ShortLine(m.target, 60) + "\n\n" +
                     "A compiled package of the model " + Code(m.model) + " at commit " + Code(m.revision) + ".\n\n";
  text += "| | |\n| --- | --- |\n";
  const auto row = [&](const char* name, const std::string& value) {
    if (!value.empty()) text += std::string("| ") + name + " | " + Code(value) + " |\n";
  };
  row("package", package.id), row("architecture", m.architecture), row("task", m.task), row("family", m.family);
  row("size", m.size), row("dtype", m.dtype), row("weights", m.weights_json), row("device", m.device);
  row("batch", std::to_string(m.batch) + (m.dynamic ? " (dynamic)" : "")), row("CPU capability", m.cpu_capability);
  row("torch", m.torch + " (" + m.torch_abi + ")"), row("transformers", m.transformers), row("python", m.python);
  row("structure", m.structure), row("built at", m.built_at);
  text += "\n## Inputs\n" + TensorRows(m.inputs_json, "name") + "\n## Outputs\n" + TensorRows(m.outputs_json, "path");
  text += BreakReport(m, result) + CheckReport(m, artifact);
  text += "\n## Files\n\n| file | bytes | SHA-256 |\n| --- | --- | --- |\n";
  for (const PackageFile& file : m.files)
    text += "| " + Code(file.path) + " | " + std::to_string(file.bytes) + " | " + Code(file.sha256) + " |\n";
  return text + "\nThe package's id is the SHA-256 of " + Code(std::string(kManifestFile)) + ". " +
         "`breakwatch artifact verify FOLDER` compares every file with it.\n";
}

}  // namespace breakwatch::report
