// ProgressListener: receives the progress of sweeps. Called on the loop thread; must not block.
#pragma once

#include <cstddef>
#include <string_view>

#include "breakwatch/core/plan.h"
#include "breakwatch/core/result.h"
#include "breakwatch/core/sweep.h"

namespace breakwatch {

class ProgressListener {
 public:
  virtual ~ProgressListener() = default;
  // A sweep starts, for this command among others: its sender follows the sweep by its id.
  virtual void OnAccepted(std::string_view command_id, std::string_view sweep_id) { (void)command_id, (void)sweep_id; }
  // No sweep will start for this command.
  virtual void OnRefused(std::string_view command_id, const Error& error) { (void)command_id, (void)error; }
  virtual void OnListing(int resolved, int total) { (void)resolved, (void)total; }
  virtual void OnPlan(const Plan& plan, std::size_t already_done) { (void)plan, (void)already_done; }
  // Why no capture starts although some are left; empty: captures start again.
  virtual void OnWaiting(std::string_view why) { (void)why; }
  virtual void OnStarted(std::string_view model) { (void)model; }
  virtual void OnResult(const ModelResult& result, std::size_t done, std::size_t total) {
    (void)result, (void)done, (void)total;
  }
  virtual void OnFinished(const Sweep& sweep) { (void)sweep; }
  virtual void OnFailed(const Error& error) { (void)error; }  // the sweep ended without finishing
  // All sweeps of this accepted command, one for each toolchain, or its reload ended; `error`: the first, or null.
  virtual void OnServed(std::string_view command_id, const Error* error) { (void)command_id, (void)error; }
  // For the operator: a warning of the listing, a reload that was refused.
  virtual void OnWarning(std::string_view text) { (void)text; }
};

}  // namespace breakwatch
