// The file of models.file, usually models.yaml: owners of models and overrides for sweeps; and the files of filters.
#pragma once

#include <string>

#include "breakwatch/core/model_rules.h"
#include "breakwatch/core/result.h"

namespace breakwatch::config {

// Reads a file of this form. `models` is a filter (model_filter.h) or a list of them, of which one must match; it uses
// no reason, status or mode, and that of an owner no owner. Each key of an override except `models` is optional:
//
//   owners:
//     speech:
//       contact: "#speech"            # optional
//       models: family:audio
//   overrides:                        # of several that match, the last one wins, key by key
//     - models: arch:Whisper*
//       modes: [eval, train]          # instead of capture.modes
//       limits: {capture: 10m, eager: 2m, create: 2m, inputs: 30s, rss_bytes: 8GiB}
//       inputs: {sizes: {seq: 128}}   # as in capture.inputs_file
//       dtype: bfloat16               # float32, bfloat16 or float16
//       attention: eager              # eager, sdpa or flex_attention
//     - models: [org/huge-*, org/other]
//       skip: needs more memory than the workers have
//
// Error: kConfig, a line with file, line and column for every problem; or the file cannot be read.
Result<ModelRules> ReadModelsFile(const std::string& path);
// The same for a text; `name` precedes each problem.
Result<ModelRules> ReadModels(const std::string& name, const std::string& text);

// The content of an @FILE of a filter, as ModelFilter::ReadFile.
Result<std::string> ReadFilterFile(const std::string& path);

}  // namespace breakwatch::config
