"""Plays a worker for bench_scale.py: answers each capture at once, with the number in the model's config.

Results have the size of real ones: explanations, hints, stacks, graphs. Two thirds of the models break, with one to
four reasons out of forty.
"""

import json
import sys

TOOLCHAIN = {"torch": "2.15.0", "transformers": "5.23.0", "python": "3.11.2", "worker": "scale-1", "device": "cpu"}
REASONS = 40
EXPLANATION = "The shape of an output depends on the data of an input, so Dynamo cannot trace it with a fixed one. " * 2
HINT = "Enable tracing of dynamic shape operators with `torch._dynamo.config.capture_dynamic_output_shape_ops = True`."


def say(message):
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def site(number, n):
    reason = (number * 7 + n * 11) % REASONS
    file, line = f"transformers/models/scale{number % 300}/modeling_scale{number % 300}.py", 100 + 17 * reason
    return {
        "site_id": f"{reason:04x}{number % 300:012x}", "reason": f"Graph break of kind {reason}",
        "gb_id": f"GB{reason:04}", "fixability": ("supportable", "user_error", "fundamental")[reason % 3],
        "explanation": EXPLANATION, "context": f"call_function {reason}", "hints": [HINT], "file": file, "line": line,
        "function": "forward", "source_line": f"index = mask.nonzero()[{reason}]", "frame": "library",
        "wrapped_in": "", "compile_id": f"{n}/0", "module_path": f"encoder.layer.{n}.attention.self",
        "stack": [f"{file}:{line - 40 + 8 * k} in forward" for k in range(6)], "occurrences": 1 + (number + n) % 3,
    }  # fmt: skip


def answer(job):
    number = job["config"]["number"]
    sites = [site(number, n) for n in range(number % 3 and 1 + number % 4)]
    breaks = sum(one["occurrences"] for one in sites)
    segments = [{"index": n, "compile_id": f"{n}/0", "file": "transformers/models/scale.py", "line": 10 + n,
                 "function": "forward", "ops": {"call_function": 80 + n, "call_method": 40}, "ops_total": 120 + n,
                 "top_ops": {"aten.add": 20, "aten.view": 18, "aten.linear": 12}, "inputs": 200, "guards": 30,
                 "ended_by": sites[n]["site_id"] if n < len(sites) else ""}
                for n in range(len(sites) + 1)]  # fmt: skip
    return {
        "type": "result", "job": job["job"], "status": "graph_breaks" if sites else "full_graph",
        "detail": f"{breaks} breaks at {len(sites)} sites; num_hidden_layers 12->2, vocabulary 30522->1024",
        "phase": "done", "mode": job["mode"], "device": "cpu", "dtype": "float32", "depth": "reduced",
        "architecture": "ScaleModel", "model_type": "scale", "params": 4_000_000 + number, "toolchain": TOOLCHAIN,
        "graphs": breaks + 1, "breaks": breaks, "break_sites": len(sites), "sites": sites, "segments": segments,
        "unique_reasons": len({one["reason"] for one in sites}), "dynamo_counter_breaks": breaks,
        "explain_breaks": breaks, "ops_captured": 120 + number % 1000, "frames_total": 3, "frames_fallback": 0,
        "recompiles": 0, "unexplained_events": 0, "capture_s": 1.5, "cpu_s": 1.4, "peak_rss_mb": 700.0,
        "inputs": {"input_ids": {"shape": [2, 16], "dtype": "int64"}}, "inputs_digest": f"{number:064x}",
        "phase_s": {"create": 0.123 + number % 7, "inputs": 0.01, "eager": 0.345, "capture": 1.002 + number % 11},
    }  # fmt: skip


def main():
    say({"type": "hello", "protocol": 1, "pid": 1, **TOOLCHAIN})
    if "--describe" in sys.argv:
        return
    for line in sys.stdin:
        message = json.loads(line)
        if message["type"] == "exit":
            return
        if message["type"] == "capture":
            say({"type": "phase", "job": message["job"], "phase": "capture"})
            say(answer(message))


main()
