// Weights of models from the Hub, through the Python client's shared cache.
#pragma once

#include <cstdint>
#include <memory>

#include "breakwatch/core/clock.h"
#include "breakwatch/core/result.h"
#include "breakwatch/core/weights_fetcher.h"
#include "breakwatch/hub/hub_options.h"

namespace breakwatch::hub {

// Fetches model.safetensors, or model.safetensors.index.json with its shards. A download that ends early stays as
// blobs/<digest>.breakwatch.incomplete and continues from its size. `clock` must outlive the fetcher. Error: kConfig,
// there is no cache to write to.
Result<std::unique_ptr<WeightsFetcher>> MakeWeightsFetcher(HubOptions options, std::int64_t max_bytes,
                                                           const Clock& clock);

}  // namespace breakwatch::hub
