// WarningsOnly: the progress output of a sweep under --quiet.
#pragma once

#include <string>
#include <string_view>

#include "breakwatch/commands/app.h"
#include "breakwatch/core/progress.h"

namespace breakwatch::commands {

class WarningsOnly final : public ProgressListener {
 public:
  explicit WarningsOnly(const App& app) : app_(app) {}
  void OnWarning(std::string_view text) override { app_.log(Level::kWarn, std::string(text)); }

 private:
  const App& app_;
};

}  // namespace breakwatch::commands
