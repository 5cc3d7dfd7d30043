// WeightsFetcher: the interface to the source of a model's weights.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "breakwatch/core/result.h"

namespace breakwatch {

// Owner: one command. Thread: the command's.
class WeightsFetcher {
 public:
  using Progress = std::function<void(std::uint64_t done_bytes, std::uint64_t total_bytes)>;

  virtual ~WeightsFetcher() = default;
  // Fetches the safetensors files of a commit that are not there yet, and returns their folder. A file is visible only
  // once its digest matches; an interrupted download continues where it ended. Error: kInvalid if the files are larger
  // than the budget or a digest differs; kNotFound if the commit has no safetensors files; kUnavailable; kStore.
  virtual Result<std::string> Fetch(const std::string& model, const std::string& revision,
                                    const Progress& progress) = 0;
};

}  // namespace breakwatch
