// The results of mode `fix` that say what removes a model's breaks.
#pragma once

#include <string>
#include <vector>

#include "breakwatch/store/sweep_store.h"

namespace breakwatch::commands {

// The newest trial of each model by a toolchain: of all fixes that apply if the store has one of the same commit,
// otherwise of those that the user chose. `model`: of this one only. Error: of the store.
Result<std::vector<ModelResult>> NewestTrials(store::SweepStore& store, const std::string& toolchain,
                                              const std::string& model = {});

// Adds to the newest results of a model the trials of all fixes that newer ones of chosen fixes hide.
Result<void> AddTrials(store::SweepStore& store, const std::string& model, std::vector<ModelResult>& results);

}  // namespace breakwatch::commands
