"""Plays a worker with the real protocol. The result of a capture is in the model's own config, under "fake".

Writes into the folder given as the first argument: `captures`, one line for each capture; `jobs`, the job of each
without its config; `environment`, its environment variables.
"""

import hashlib
import json
import os
import sys
import time

TOOLCHAIN = {"torch": "2.0.0", "transformers": "5.0.0", "python": "3.11.2", "worker": "fake-1", "device": "cpu"}


def read_versions():
    """The environment whose interpreter this is, if any."""
    for entry in os.listdir(os.environ["FAKE_SITE"]) if "FAKE_SITE" in os.environ else []:
        name, _, version = entry.removesuffix(".dist-info").partition("-")
        if version and name in TOOLCHAIN:
            TOOLCHAIN[name] = version


def matches(rule):
    return all(TOOLCHAIN[name].startswith(version) for name, version in rule.items() if name in TOOLCHAIN)


def say(message):
    print(json.dumps(message), flush=True)


def site(reason, gb_id, number, occurrences, ids):
    return {
        "site_id": ids.get(reason, f"{reason}-{number}"), "reason": reason, "gb_id": gb_id, "fixability": "supportable",
        "explanation": "because", "context": "", "hints": ["rewrite it"], "file": "transformers/models/fake.py",
        "line": 10 + number, "function": "forward", "source_line": f"line {number}", "frame": "library",
        "wrapped_in": "", "compile_id": "0/0", "occurrences": occurrences,
    }  # fmt: skip


def build(job, fake):
    """The answer of mode `build`: a package with the fake files of a config, for the one target."""
    order = job["build"]
    target = order["targets"][0]
    answer = {"status": "built", "detail": "", "cause": "", "seconds": 0.1, "manifest": f"{target}/manifest.json"}
    answer |= fake.get("build", {})
    if answer["status"] == "built":
        try:
            write_package(job, order, target, fake)
        except OSError as error:
            answer |= {"status": "failed", "cause": "disk_full", "detail": str(error)}
    return {"mode": "build", "mode_detail": {"targets": {target: answer}}}


def write_package(job, order, target, fake):
    package = os.path.join(order["folder"], target)
    os.makedirs(package)
    files = {"package.pt2": f"compiled {job['model']} {order['seed']}", "inputs.safetensors": "in",
             "outputs.safetensors": "out"} | fake.get("files", {})  # fmt: skip
    for name, text in files.items():
        with open(os.path.join(package, name), "w") as out:
            out.write(text)
    manifest = {
        "schema": 1, "model": job["model"], "revision": job["revision"], "family": "nlp", "architecture": "Fake",
        "model_type": "fake", "task": "fill-mask", "target": target, "batch": order["batch"],
        "dynamic": order["dynamic"], "structure": job["structure"], "breaks": 0, "graphs": 1,
        "torch": TOOLCHAIN["torch"], "torch_abi": "cxx11", "transformers": TOOLCHAIN["transformers"],
        "python": TOOLCHAIN["python"], "worker": TOOLCHAIN["worker"], "cpu_capability": "avx2", "device": "cpu",
        "dtype": "float32", "size": "reduced", "weights": {"kind": "random", "seed": order["seed"], "digest": ""},
        "inputs": [{"name": "input_ids", "dtype": "int64", "shape": [1, 16]}],
        "outputs": [{"path": "0", "dtype": "float32", "shape": [1, 16, 64]}],
        "tolerance": {"float32": {"rtol": 1e-4, "atol": 1e-5}},
        "built_at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "files": [{"path": name, "bytes": len(text), "sha256": hashlib.sha256(text.encode()).hexdigest()}
                  for name, text in files.items()],
    }  # fmt: skip
    with open(os.path.join(package, "manifest.json"), "w") as out:
        json.dump(manifest | fake.get("manifest", {}), out, indent=2, sort_keys=True)


def cell(seconds, measure, **more):
    """Times with a 95 % interval of 1 % on each side; a text instead of seconds is why the backend failed."""
    if isinstance(seconds, str):
        return {"status": "failed", "detail": seconds, "runs": 0, "failures": 1}
    quantiles = {f"p{n}_s": seconds * (1 + n / 1000) for n in (50, 90, 95, 99)} | {"p50_s": seconds}
    return {"status": "ok", "detail": "", "runs": measure["min_runs"], "failures": 0, "mean_s": seconds,
            "median_s": seconds, "low_s": 0.99 * seconds, "high_s": 1.01 * seconds, **quantiles, **more}  # fmt: skip


def measured(job, fake, sites):
    """What a measurement finds: `times` of the config has the seconds of each backend with batch 1. Of a profile, a
    quarter is Python after the first site, and the rest is one graph, or two of equal length."""
    measure, times = job["measure"], fake.get("times", {})
    profile, share = job["mode"] == "profile", 0.25 if sites else 0.0

    def profile_of(batch):
        totals, segments = {}, []
        names = (["plain"] if profile else []) + measure["backends"]
        seconds = {name: times.get(name, 0.004) for name in names}
        seconds = {name: s if isinstance(s, str) else s * batch for name, s in seconds.items()}
        for name, s in seconds.items():
            parts = {} if isinstance(s, str) else {"compile_s": 1.5, "throughput": batch / s}
            if parts and profile and name != "plain":
                parts |= {"graphs_s": (1 - share) * s, "python_s": share * s}
            totals[name] = cell(s, measure, **parts, **({} if profile or isinstance(s, str) else {"peak_rss_mb": 321}))
        for index in range(3 if sites else 1):
            part = share if index == 1 else (1 - share) / (2 if sites else 1)
            cells = {name: cell(s if isinstance(s, str) else part * s, measure, share=part)
                     for name, s in seconds.items() if name != "plain"}  # fmt: skip
            kind = {"kind": "graph", "graph": index // 2 + 1, "ops": 7, "ended_by": ""}
            if index == 1:
                kind = {"kind": "python", "ended_by": sites[0]["site_id"]}
            segments.append({"index": index, "calls": 1, "compile_id": "0/0", "file": "fake.py", "line": 10 + index,
                             "function": "forward", "cells": cells, **kind})  # fmt: skip
        inputs = {"input_ids": {"shape": [batch, measure["seq"] or 16], "dtype": "int64"}}
        found = {"batch": batch, "seq": measure["seq"] or 16, "dynamic": False, "inputs": inputs, "discarded_runs": 2,
                 "recompiles": 0, "totals": totals}  # fmt: skip
        if profile:
            costs = [{"site_id": s["site_id"], "reason": s["reason"], "gb_id": s["gb_id"],
                      "occurrences": s["occurrences"], "between_s": share * 0.004, "fusion_s": None, "shared_with": 0,
                      "why_not": "fullgraph fails"} for s in sites]  # fmt: skip
            found |= {"segments": segments, "break_costs": costs,
                      "whole": {"available": False, "how": "", "why_not": "fullgraph fails", "cells": {}}}  # fmt: skip
        return found

    given = measure | {"dtype": job.get("dtype", "float32"), "size": "published" if measure["full"] else "reduced"}
    return {"measure": given, "noise": {"median_s": 0.001, "spread": 0.01, "after_spread": 0.02,
                                        "quiet": not fake.get("noisy", False)},
            "profiles": [profile_of(batch) for batch in measure["batches"]]}  # fmt: skip


def capture(job, folder):
    fake = dict(job["config"].get("fake", {}))
    # The first rule for the versions of this environment is added to the common fields.
    fake |= next((rule for rule in fake.get("rules", []) if matches(rule)), {})
    # Fields for one mode or call only: "cold", "eval+minimal".
    fake |= fake.get("in", {}).get("+".join(filter(None, (job.get("mode"), job.get("call")))), {})
    with open(os.path.join(folder, "captures"), "a") as log:
        log.write(job["model"] + " " + job["revision"] + "\n")
    with open(os.path.join(folder, "captured_by"), "a") as log:
        log.write(f"{TOOLCHAIN['torch']} {TOOLCHAIN['transformers']} {job['revision']}\n")
    with open(os.path.join(folder, "jobs"), "a") as log:
        log.write(json.dumps({key: value for key, value in job.items() if key != "config"}) + "\n")
    if "source" in job:
        with open(os.path.join(folder, "sources"), "a") as log:
            log.write(json.dumps(job["source"]) + "\n")
    say({"type": "phase", "job": job["job"], "phase": "capture"})
    if fake.get("hang") and not os.path.exists(os.path.join(folder, "no_more_hanging")):
        while True:
            say({"type": "heartbeat", "job": job["job"]})
            time.sleep(0.2)
    while fake.get("wait") and not os.path.exists(os.path.join(folder, "no_more_waiting")):
        say({"type": "heartbeat", "job": job["job"]})
        time.sleep(0.05)
    while "wait_for" in fake and not os.path.exists(os.path.join(folder, fake["wait_for"])):
        say({"type": "heartbeat", "job": job["job"]})
        time.sleep(0.05)
    sites = [
        site(reason, gb_id, place[0] if place else n, count, fake.get("site_ids", {}))
        for n, (reason, gb_id, count, *place) in enumerate(fake.get("sites", []))
    ]
    status = fake.get("status", "graph_breaks" if sites else "full_graph")
    result = {"type": "result", "job": job["job"], "status": status, "detail": "as its config says", "phase": "done",
              "mode": "eval", "device": "cpu", "dtype": "float32", "depth": "original", "architecture": "Fake",
              "model_type": "fake", "params": 10, "toolchain": TOOLCHAIN}  # fmt: skip
    if "suggestion" in fake:
        result["suggestion"] = fake["suggestion"]
    if status in ("full_graph", "graph_breaks"):
        breaks = sum(s["occurrences"] for s in sites)
        result |= {"graphs": breaks + 1, "breaks": breaks, "break_sites": len(sites), "sites": sites,
                   "unique_reasons": len({s["reason"] for s in sites}), "dynamo_counter_breaks": breaks,
                   "explain_breaks": breaks, "ops_captured": 7, "frames_total": 1, "frames_fallback": 0,
                   "recompiles": 0, "unexplained_events": 0, "phase_s": {"capture": 0.1}}  # fmt: skip
        if "measure" in job:
            result |= {"mode": job["mode"], "mode_detail": measured(job, fake, sites)}
        if "fix" in job:
            result |= {"mode": "fix", "mode_detail": tried(job["fix"], fake, result)}
    if job.get("mode") == "repro":
        wanted = job.get("repro", {})
        written = {"script": "print('breaks')\n", "why_not": "", "differs": "", "site_id": wanted.get("site", ""),
                   "minimal": wanted.get("minimal", False)} | fake.get("repro", {})  # fmt: skip
        result |= {"mode": "repro", "mode_detail": {"repro": written}}
    if job.get("mode") == "build":
        result |= build(job, fake)
    say(result | fake.get("result", {}))


def tried(fix, fake, result):
    """What trying fixes finds: `fixes` of the config has the breaks that each leaves, or a status."""
    counts = {"breaks": result["breaks"], "sites": result["break_sites"], "graphs": result["graphs"], "ops": 7}
    attempts = []
    for name in fix["names"] or fake.get("fixes", {}):
        left = fake.get("fixes", {}).get(name, "unknown")
        kind = "call" if "cache" in name else "setting"
        kind = "call" if "cache" in name else "setting"
        attempt = {"names": [name], "kinds": [kind], "status": left if isinstance(left, str) else "ok", "detail": "",
                   "outcome": "", "python": [f"use({name!r})"], "caution": "", "seconds": 0.1}  # fmt: skip
        if attempt["status"] == "ok":
            attempt["outcome"] = "same" if left == counts["breaks"] else "better" if left else "whole"
            attempt["removed"] = [site["site_id"] for site in result["sites"]] if left == 0 else []
            attempt["after"] = counts | {"breaks": left, "sites": min(left, counts["sites"]), "graphs": left + 1}
        attempts.append(attempt)
    helps = [n for n, a in enumerate(attempts) if a["outcome"] in ("whole", "better")]
    best = min(helps, key=lambda n: attempts[n]["after"]["breaks"], default=-1)
    whole = best >= 0 and attempts[best]["outcome"] == "whole"
    left = [] if whole else [s | {"owner": "library"} for s in result["sites"]]
    return {"fix": fix, "before": counts, "attempts": attempts, "best": best, "left": left, "stopped": ""}


def discover(script):
    """For a script without code: one line `Class hash` for each module that it calls."""
    with open(script) as lines:
        modules = [line.split() for line in lines if line.strip()]
    entries = [{"class": name, "module": "__main__", "file": os.path.abspath(script), "line": n + 1, "hash": digest,
                "depth": 0, "parameters": 10, "calls": 2, "instances": 1, "training": True, "inputs": {}}
               for n, (name, digest) in enumerate(modules)]  # fmt: skip
    print(json.dumps({"type": "discovered", "script": script, "args": sys.argv[sys.argv.index("--") + 1:],
                      "modules": entries, "left_out": 0, "ended": "" if entries else "exit 3", "error": "",
                      "output_tail": "", "seconds": 0.1}))  # fmt: skip


def by_hand(folder, kept, trace):
    """One capture in the foreground: its files, and one line."""
    with open(os.path.join(kept, "job.json")) as file:
        job = json.load(file)
    with open(os.path.join(folder, "by_hand"), "a") as log:
        log.write(json.dumps(job) + "\n")
    fake = job["config"].get("fake", {})
    if fake.get("dies"):
        sys.exit("the worker is broken")
    for name in ["scratch"] + ["trace"] * trace:
        os.makedirs(os.path.join(kept, name), exist_ok=True)
    with open(os.path.join(kept, "result.json"), "w") as file:
        json.dump({"status": "graph_breaks"}, file)
    print("graph_breaks: as its config says")


def main():
    folder = sys.argv[1]
    read_versions()
    if "--capture" in sys.argv:
        by_hand(folder, sys.argv[sys.argv.index("--capture") + 1], "--trace" in sys.argv)
        return
    if "--discover" in sys.argv:
        discover(sys.argv[sys.argv.index("--discover") + 1])
        return
    hello = {"type": "hello", "protocol": 1, "pid": os.getpid(), **TOOLCHAIN}
    say(hello)
    if "--describe" in sys.argv:
        return
    with open(os.path.join(folder, "environment"), "w") as out:
        out.write("\n".join(f"{k}={v}" for k, v in os.environ.items()))
    for line in sys.stdin:
        message = json.loads(line)
        if message["type"] == "exit":
            return
        if message["type"] == "capture":
            capture(message, folder)


main()
