// Where models come from: the Hub, a recording of it, a file of ids or a directory of configurations.
//
// All give the same RankedList: every model is either ready to capture, with its pinned config.json, or excluded with a
// status and a text. A listing that fails completely is an Error.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "breakwatch/core/clock.h"
#include "breakwatch/core/model_lister.h"
#include "breakwatch/hub/hub_options.h"

namespace breakwatch::hub {

// The live Hub (or what HF_ENDPOINT names), through the shared cache. `clock` must outlive the lister.
// Offline, a request for names is answered from the cache, and a request for the top gives the cached models, unranked.
std::unique_ptr<ModelLister> MakeHubLister(HubOptions options, const Clock& clock);

// A recording directory: recording.json, models.jsonl (one info body of the Hub a line, with an optional
// "config_source"), files/<id, its slash as "--">/<commit>/config.json. Ranks, filters and excludes like the Hub.
std::unique_ptr<ModelLister> MakeSnapshotLister(std::string directory, HubOptions options = {});

// A file with one `id` or `id@revision` a line and # comments, resolved by `by_name` (a Hub or snapshot lister).
// Error: kConfig, with every line that is not a model id.
std::unique_ptr<ModelLister> MakeFileLister(std::string path, std::unique_ptr<ModelLister> by_name);

// `<name>/config.json`, `<organisation>/<name>/config.json` and `<name>.json` below a directory: all of them, unranked.
// A folder with a model_index.json is a diffusers pipeline: that file with `<component>/config.json` beside it.
std::unique_ptr<ModelLister> MakeDirectoryLister(std::string directory, HubOptions options = {});

struct SelectorOptions {
  bool allow = false;                    // workers may run the user's own code
  std::string directory;                 // absolute: base of scripts and packages, the working directory
  std::vector<std::string> python_path;  // further folders to import from
};

// Names that are selectors (core/selector.h) become models whose config_json is a worker's `source` and whose commit is
// the digest of their source file; `others` lists the rest. Error: kUsage for a selector that is invalid or not
// allowed.
std::unique_ptr<ModelLister> MakeSelectorLister(SelectorOptions options, std::unique_ptr<ModelLister> others);

}  // namespace breakwatch::hub
