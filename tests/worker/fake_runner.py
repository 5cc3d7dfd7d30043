#!/usr/bin/env python3
"""breakwatch-runner for tests: answers `bench` for any package. FAKE_RUNNER=fails: fails as the real one does."""

import json
import os
import sys

assert sys.argv[1] == "bench" and "--json" in sys.argv, sys.argv
named = dict(zip(sys.argv[2::1], sys.argv[3::1], strict=False))
for name in ("--package", "--inputs"):
    assert os.path.getsize(named[name]) > 0
if os.environ.get("FAKE_RUNNER") == "fails":
    print(json.dumps({"status": "failed", "detail": "it cannot be loaded", "runs": 0, "failures": 0}))
    sys.exit(1)
seconds = dict.fromkeys(("mean_s", "median_s", "low_s", "high_s", "p50_s", "p90_s", "p95_s", "p99_s"), 0.001)
print(json.dumps({"status": "ok", "detail": "", "runs": int(named["--min-runs"]), "failures": 0, **seconds,
                  "load_s": 0.5, "peak_rss_mb": 100.0, "threads": int(named["--threads"]), "cpu_capability": "AVX2"}))
