// Shared by the tests of this folder: a store in its own folder, and functions to define a sweep.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "breakwatch/core/plan.h"
#include "breakwatch/core/sweep.h"
#include "breakwatch/store/store.h"
#include "fakes/fake_capture_runner.h"
#include "fakes/fake_clock.h"
#include "fakes/fake_model_lister.h"

namespace breakwatch::engine {

class TempFolder {
 public:
  TempFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "breakwatch-engine-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) std::abort();
    path_ = name;
  }
  ~TempFolder() { std::filesystem::remove_all(path_); }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  std::string Url() const { return "sqlite:" + (path_ / "breakwatch.db").string(); }

 private:
  std::filesystem::path path_;
};

inline std::unique_ptr<store::Store> OpenStoreAt(const std::string& url, const Clock& clock) {
  auto opened = store::Store::Open({url, false}, clock);
  if (!opened) {
    ADD_FAILURE() << opened.error().message;
    std::abort();
  }
  return *std::move(opened);
}

inline Toolchain TestToolchain(const std::string& torch = "2.15.0") {
  Toolchain toolchain;
  toolchain.torch = torch;
  toolchain.transformers = "5.23.0";
  toolchain.python = "3.11.2";
  toolchain.worker = "1.0.0";
  return toolchain;
}

// "{"layers": n}": models with the same n have the same structure.
inline std::string Config(int layers) { return "{\"layers\": " + std::to_string(layers) + "}"; }

inline RankedList ListOf(std::vector<RankedModel> models, bool ranked = true) {
  RankedList list;
  list.source = "hub http://127.0.0.1";
  list.ranked = ranked;
  list.models = std::move(models);
  if (!ranked) {
    for (RankedModel& model : list.models) model.info.rank = 0;
  }
  return list;
}

inline RankedModel Excluded(const std::string& id, int rank, Status status, const std::string& detail) {
  RankedModel model = fakes::FakeModel(id, rank, "");
  model.excluded = status;
  model.detail = detail;
  return model;
}

}  // namespace breakwatch::engine
