// Artifacts, packages in registries, and the model card of a package.
#pragma once

#include <string>
#include <vector>

#include "breakwatch/core/artifact.h"
#include "breakwatch/core/artifact_registry.h"
#include "breakwatch/core/package.h"
#include "breakwatch/core/sweep.h"
#include "breakwatch/report/table.h"

namespace breakwatch::report {

// A row for each artifact: model, target, state, package, size of the model, weights, when it was made.
std::string RenderArtifacts(const std::vector<Artifact>& artifacts, Format format, Style style = {});
// One artifact with its request and a line for each stage; JSON: the whole artifact.
std::string RenderArtifact(const Artifact& artifact, Format format, Style style = {});
// A row for each package in a registry.
std::string RenderPublished(const std::vector<PublishedPackage>& packages, Format format, Style style = {});

// Markdown for people who find the package in a registry: model, versions, inputs and outputs, graph breaks, check,
// tolerances, digests. `result`: of the model's newest capture; null: there is none.
std::string ModelCard(const Package& package, const Artifact& artifact, const ModelResult* result);

}  // namespace breakwatch::report
