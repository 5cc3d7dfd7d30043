// Results of one model that differ only in how it was called: first call, steady state, and call variants.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "breakwatch/core/sweep.h"

namespace breakwatch::report {

// Two results of one model, commit and toolchain that differ in status, breaks or sites.
struct Contrast {
  const ModelResult* base;   // in mode eval, or the default call
  const ModelResult* other;  // in mode cold, or a call variant
};

// Ordered by model, toolchain and mode. Returns views of `results`. Of results with equal model, toolchain and mode,
// only the first counts.
std::vector<Contrast> ContrastsOf(std::span<const ModelResult* const> results);

// "whole with attention_mask, 2 breaks at 1 site without (eval+minimal)"; "cold, the first call: 3 breaks at 2 sites;
// eval, the steady state after a first call: whole". One line.
std::string ContrastText(const Contrast& contrast);

// The description of a result's mode: "eval, the steady state after a first call".
std::string ModeText(const ModelResult& result);

}  // namespace breakwatch::report
