// What a worker sends for a benchmark: one batch size, times with an interval of 1 % on each side.
#pragma once

#include <map>
#include <string>

#include "fakes/fake_capture_runner.h"

namespace breakwatch::fakes {

struct SampleTimes {
  std::map<std::string, double> seconds;  // by backend
  int threads = 1;
  double python_share = 0.25;
};

inline std::string MeasuredJson(const SampleTimes& times) {
  std::string totals;
  for (const auto& [backend, s] : times.seconds) {
    const auto number = [](const char* name, double value) {
      return "\"" + std::string(name) + "\": " + std::to_string(value) + ", ";
    };
    totals += (totals.empty() ? "\"" : ", \"") + backend + "\": {" + number("median_s", s) + number("low_s", 0.99 * s) +
              number("high_s", 1.01 * s) + number("p50_s", s) + number("p95_s", 2 * s) + number("compile_s", 1.5) +
              number("python_s", times.python_share * s) + number("graphs_s", (1 - times.python_share) * s) +
              R"("status": "ok", "detail": "", "runs": 30})";
  }
  return R"({"measure": {"threads": )" + std::to_string(times.threads) +
         R"(, "size": "reduced"}, "noise": {"spread": 0.01, "quiet": true}, "profiles": [{"batch": 1, "seq": 16, )"
         R"("totals": {)" +
         totals + "}}]}";
}

inline CaptureResult MeasuredCapture(const SampleTimes& times, const std::string& mode = "bench") {
  CaptureResult capture = GoodCapture();
  capture.mode = mode;
  capture.mode_detail_json = MeasuredJson(times);
  return capture;
}

}  // namespace breakwatch::fakes
