"""Made-up answers of the HTTP API over many models, for the stand-in."""

import datetime
import fnmatch
import hashlib
import random

FAMILIES = ["nlp", "vision", "audio", "multimodal", "tabular", "reinforcement_learning", "other", "unknown"]
HOSTILE = [
    "<img src=x onerror=alert(1)>/<script>alert(1)</script>",
    "org/%2e%2e%2f?#&=+ x",
    "org/\u202egnp.exe",
    "'\"><svg onload=alert(1)>/" + "long" * 40,
    "=cmd|' /C calc'!A0/`touch x`$(id)",
]
REASONS = [
    (
        "Data-dependent branching",
        "GB0170",
        "user code",
        "Detected data-dependent branching (e.g. `if my_tensor.sum() > 0:`)",
    ),
    ("Dynamic shape operator", "GB0036", "setting", "The shape of the operator's output depends on input tensor data."),
    (
        "Unsupported Tensor.item() call with capture_scalar_outputs=False",
        "GB0124",
        "setting",
        "Dynamo does not trace `.item()`.",
    ),
    ("Attempted to call function marked as skipped", "GB0007", "library", "The function is in Dynamo's skip list."),
    ("Call to `torch._dynamo.graph_break()`", "GB0025", "intended", "The code asked for a graph break."),
    ("Unsupported context manager", "GB0142", "supportable", "Dynamo does not know this context manager."),
    ("Encountered graph break: <b>bold</b>", "", "unknown", "A text without an id."),
]
TOOLCHAIN = {
    "name": "default",
    "torch": "2.15.0",
    "transformers": "5.23.0",
    "python": "3.11.2",
    "worker": "7",
    "device": "cpu",
}
OLD = TOOLCHAIN | {"name": "torch2.13.0", "torch": "2.13.0"}
NOW = datetime.datetime.now(datetime.UTC)


def cached(method):
    """Answers of a method by its arguments, kept with its object."""

    def call(self, *arguments):
        key = (method.__name__, *arguments)
        if key not in self.kept:
            self.kept[key] = method(self, *arguments)
        return self.kept[key]

    return call


def at(hours_ago):
    return (NOW - datetime.timedelta(hours=hours_ago)).strftime("%Y-%m-%dT%H:%M:%S.000000000Z")


def day(days_ago):
    return (NOW - datetime.timedelta(days=days_ago)).strftime("%Y-%m-%d")


def digest(text):
    return hashlib.sha256(text.encode()).hexdigest()


SITES = [
    {
        "site_id": digest(f"{n}")[:16],
        "reason": reason,
        "gb_id": gb_id,
        "fixability": fixability,
        "explanation": explanation,
        "context": f"context of {gb_id or reason}",
        "hints": ["Use `torch.cond` to express the branch.", "See the documentation."],
        "file": f"transformers/models/{name}/modeling_{name}.py",
        "line": 100 + 37 * n,
        "function": "forward",
        "source_line": "if attention_mask is not None and attention_mask.sum() > 0:  # <b>",
        "frame": "library",
        "wrapped_in": "",
        "compile_id": f"{n}/0",
        "module_path": f"model.encoder.layer.{n}",
        "stack": [
            f"transformers/models/{name}/modeling_{name}.py:{400 + n} in forward",
            f"transformers/models/{name}/modeling_{name}.py:{100 + 37 * n} in forward",
        ],
        "stack_source": ["hidden = self.layer(hidden)", "if attention_mask is not None:  # <b>"],
        "occurrences": 1 + n % 3,
    }
    for n, (name, (reason, gb_id, fixability, explanation)) in enumerate(
        (name, reason) for name in ("bert", "bart", "longformer", "wav2vec2", "llava") for reason in REASONS
    )
]


def attempt(names, outcome, before, after, **more):
    """An attempt of mode fix; `after` is None if it has no numbers."""
    counts = {} if after is None else {"after": before | after}
    return (
        {
            "names": names,
            "kinds": ["setting"],
            "status": "ok" if after else "timeout",
            "detail": "",
            "outcome": outcome,
            "removed": [],
            "added": [],
            "python": [f"torch._dynamo.config.{name} = True  # <b>" for name in names],
            "caution": "",
            "max_abs": 0.0,
            "seconds": 2.5,
        }
        | counts
        | more
    )


def tried_fixes(row, sites):
    """`mode_detail` of mode fix."""
    before = {"breaks": row["breaks"], "sites": row["break_sites"], "graphs": row["graphs"], "ops": row["ops_captured"]}
    last = sites[-1] if sites else {}
    return {
        "fix": {"names": [], "combine": True, "budget_s": 600, "attempt_s": 120},
        "fixes_version": "0123456789ab",
        "depth": "reduced",
        "before": before,
        "attempts": [
            attempt(
                ["capture_scalar_outputs"],
                "same",
                before,
                {"ops": before["ops"]},
                detail="<img src=x onerror=alert(1)>",
            ),
            attempt(["attention_flex"], "", before, None, detail="after 120 s"),
            attempt(["no_cache"], "better", before, {"breaks": 1, "sites": 1}, caution="no past_key_values"),
            attempt(["outputs_as_tuple"], "different_result", before, {"breaks": 0, "sites": 0, "graphs": 1}),
        ],
        "best": 2,
        "whole": False,
        "left": [
            {key: last[key] for key in ("site_id", "reason", "gb_id", "file", "line", "function", "stack", "hints")}
            | {"owner": "library", "explanation": last["explanation"]}
        ]
        if sites
        else [],
        "not_applicable": [{"name": "experts_eager", "why": "it has no experts"}],
        "stopped": "",
    }


def make_model(i, dice):
    org = dice.choice(["facebook", "google", "microsoft", "org", "intfloat", "openai-community", "example"])
    name = (
        HOSTILE[i] if i < len(HOSTILE) else f"{org}/{dice.choice(['bert', 'bart', 'llama', 'wav2vec2', 'vit'])}-{i:05}"
    )
    status = dice.choices(
        ["full_graph", "graph_breaks", "failed_create", "timeout", "skipped_gated", "quarantined"], [60, 30, 4, 2, 3, 1]
    )[0]
    found = status in ("full_graph", "graph_breaks")
    sites = dice.sample(range(len(SITES)), dice.randint(1, 4)) if status == "graph_breaks" else []
    breaks = sum(SITES[s]["occurrences"] for s in sites)
    counts = {}
    for s in sites:
        row = counts.setdefault(
            SITES[s]["reason"], {"reason": SITES[s]["reason"], "gb_id": SITES[s]["gb_id"], "events": 0, "sites": 0}
        )
        row["events"] += SITES[s]["occurrences"]
        row["sites"] += 1
    return {
        "model": name,
        "family": dice.choices(FAMILIES, [50, 20, 10, 8, 1, 1, 5, 5])[0],
        "commit": digest(name)[:40],
        "status": status,
        "status_detail": "as expected" if found else "the config has no attribute 'hidden_size'",
        "suggestion": "",
        "rank": i + 1,
        "downloads": 60_000_000 // (i + 1),
        "in_ranking": True,
        "attempted_at": at(3),
        "captured_at": at(3) if found else None,
        "breaks": breaks if found else None,
        "break_sites": len(sites) if found else None,
        "graphs": breaks + 1 if found else None,
        "ops_captured": dice.randint(50, 4000) if found else None,
        "frames_fallback": 0 if found else None,
        "recompiles": 0 if found else None,
        "capture_id": f"20261123T110000Z-3f9a1c-{i:05}" if found else None,
        "structure": digest(name) if found else None,
        "reasons": list(counts.values()),
        "_sites": sites,
    }


def public(row):
    return {key: value for key, value in row.items() if not key.startswith("_")}


def sorted_by(rows, sort):
    key = sort.lstrip("-")
    known = [row for row in rows if row[key] is not None]
    known.sort(key=lambda row: row[key], reverse=sort.startswith("-"))
    return known + [row for row in rows if row[key] is None]


class World:
    """Everything that the API answers, made once."""

    def __init__(self, models=50_000):
        dice = random.Random(7)
        self.models = [make_model(i, dice) for i in range(models)]
        self.by_name = {row["model"]: row for row in self.models}
        self.kept = {}
        self.running = None  # of /status
        self.with_site = {}
        for row in self.models:
            for s in row["_sites"]:
                self.with_site.setdefault(s, []).append(row)
        self.sweeps = [self.sweep(n) for n in range(120)]

    def sweep(self, n):
        statuses = {
            "full_graph": 30000 - 40 * n,
            "graph_breaks": 15000,
            "timeout": 900,
            "failed_create": 2100 + 40 * n,
            "skipped_gated": 2000,
        }
        return {
            "schema": 1,
            "sweep_id": f"202611{23 - n % 20:02}T{n // 20:02}0000Z-{digest(str(n))[:6]}",
            "trigger": "interval",
            "source": "hub",
            "ranked": True,
            "state": "interrupted" if n == 5 else "finished",
            "started_at": at(24 * n + 9),
            "finished_at": at(24 * n + 3),
            "planned": 50000,
            "complete": n != 5,
            "toolchain": TOOLCHAIN if n % 2 == 0 else OLD,
            "statuses": statuses,
            "modes": {"eval": statuses},
        }

    # --- one function for each path

    def status(self, _):
        numbers = sum(row["breaks"] is not None for row in self.models)
        return {
            "version": "0.1.0",
            "ready": True,
            "toolchain": "default",
            "models_tracked": len(self.models),
            "models_with_numbers": numbers,
            "full_graph": sum(row["status"] == "full_graph" for row in self.models),
            "last_sweep_id": self.sweeps[0]["sweep_id"],
            "last_success": at(3),
            "last_failure": at(123),
            "next_due": at(-21),
            "interval_s": 86400,
            "running": self.running,
        }

    def families(self, _):
        return {"toolchain": "default", "families": [self.family(name) for name in FAMILIES]}

    @cached
    def family(self, name):
        rows = [row for row in self.models if row["family"] == name]
        numbers = [row for row in rows if row["breaks"] is not None]
        whole = sum(row["breaks"] == 0 for row in numbers)
        statuses = {}
        for row in rows:
            statuses[row["status"]] = statuses.get(row["status"], 0) + 1
        return {
            "family": name,
            "models_tracked": len(rows),
            "models_with_numbers": len(numbers),
            "full_graph": whole,
            "full_graph_share": whole / len(numbers) if numbers else None,
            "breaks": sum(row["breaks"] for row in numbers),
            "break_sites": sum(row["break_sites"] for row in numbers),
            "statuses": statuses,
        }

    def list_models(self, query):
        rows = self.models
        for key in ("family", "status"):
            if query.get(key):
                rows = [row for row in rows if row[key] == query[key]]
        for key in ("reason", "gb_id"):
            if query.get(key):
                rows = [row for row in rows if any(one[key] == query[key] for one in row["reasons"])]
        if query.get("filter"):
            if query["filter"].startswith("nope:"):
                return 400, 'unknown key "nope:" in the selector; did you mean "type:"?'
            rows = [row for row in rows if fnmatch.fnmatchcase(row["model"], query["filter"])]
        rows = sorted_by(rows, query.get("sort", "rank"))
        page, following = self.page(rows, query)
        return {
            "toolchain": "default",
            "models_tracked": len(self.models),
            "models_with_numbers": 45000,
            "models_matched": len(rows),
            "models": list(map(public, page)),
            "next": following,
        }

    def page(self, rows, query):
        start, limit = int(query.get("cursor", 0)), int(query.get("limit", 100))
        return rows[start : start + limit], str(start + limit) if start + limit < len(rows) else None

    def model(self, query, name):
        row = self.by_name.get(name)
        if row is None:
            return 404, f'no result of model "{name}"'
        found = row["breaks"] is not None
        sites = [SITES[s] for s in row["_sites"]]
        ends = [site["site_id"] for site in sites for _ in range(site["occurrences"])] + [""]
        segments = [
            {
                "index": n,
                "compile_id": f"{n}/0",
                "file": "transformers/models/bert/modeling_bert.py",
                "line": 200 + n,
                "function": "forward",
                "ops": {"call_function": 120, "call_method": 40},
                "ops_total": 20 + 160 * (n % 4),
                "top_ops": {"linear": 70, "layer_norm": 24},
                "inputs": 30,
                "guards": 120,
                "ended_by": end,
            }
            for n, end in enumerate(ends)
        ]
        keys = ("graphs", "breaks", "break_sites", "ops_captured", "frames_fallback", "recompiles")
        return {
            "schema": 1,
            "sweep_id": self.sweeps[0]["sweep_id"],
            "model": name,
            "requested_id": "",
            "hub_id": digest(name)[:24],
            "revision": row["commit"],
            "family": row["family"],
            "task": "fill-mask",
            "library": "transformers",
            "model_type": "bert",
            "architectures": ["BertModel"],
            "params": 110_000_000,
            "downloads": row["downloads"],
            "likes": 12,
            "gated": "",
            "private": False,
            "disabled": False,
            "custom_code": False,
            "config_source": "hub",
            "rank": row["rank"],
            "architecture": "BertModel",
            "captured_params": 4_000_000,
            "status_detail": row["status_detail"],
            "mode": query.get("mode") or "eval",
            "device": "cpu",
            "dtype": "float32",
            "status": row["status"],
            "phase": "done",
            **{key: row[key] for key in keys},
            "dynamo_counter_breaks": row["breaks"],
            "explain_breaks": row["breaks"],
            "unique_reasons": len(row["reasons"]) if found else None,
            "frames_total": 4 if found else None,
            "unexplained_events": 0 if found else None,
            "depth": "reduced",
            "depth_mismatch": None,
            "flaky": False,
            "capture_s": 1.4,
            "cpu_s": 1.3,
            "wall_s": 2.1,
            "peak_rss_mb": 812.0,
            "phase_s": {"create": 0.2, "eager": 0.1, "capture": 1.1},
            "inputs": {"kind": "tokens", "batch": 2, "length": 32} if found else None,
            "inputs_digest": "",
            "sites": sites,
            "segments": segments if found else [],
            "mode_detail": tried_fixes(row, sites) if query.get("mode") == "fix" else None,
            "error": ""
            if found
            else "Traceback (most recent call last):\n  AttributeError: 'Config' has no attribute 'hidden_size'",
            "output_tail": "",
            "started_at": at(3),
            "toolchain": "default",
            "torch": "2.15.0",
            "transformers": "5.23.0",
            "python": "3.11.2",
            "worker": "7",
            "toolchain_device": "cpu",
            "structure": row["structure"] or "",
            "capture_id": row["capture_id"] or "",
            "shared_from": "",
            "rebuild_reason": "new model",
            "reused": False,
            "finished_at": at(3),
            "other_results": [
                {
                    "mode": "train",
                    "toolchain": "default",
                    "status": "graph_breaks",
                    "breaks": 3,
                    "break_sites": 2,
                    "sweep_id": self.sweeps[0]["sweep_id"],
                },
                *([] if query.get("mode") == "train" else [self.fix_in_a_line(row)]),
            ],
            "differences": [],
        }

    def fix_in_a_line(self, row):
        return {
            "mode": "fix",
            "toolchain": "default",
            "status": row["status"],
            "breaks": row["breaks"],
            "break_sites": row["break_sites"],
            "sweep_id": self.sweeps[0]["sweep_id"],
            "fixes": "better with no_cache (3 breaks at 2 sites, 4 graphs -> 1 break at 1 site, 2 graphs)",
        }

    def history(self, query):
        row = self.by_name.get(query.get("model"))
        if row is None:
            return 404, "no result of this model"
        keys = (
            "status",
            "status_detail",
            "graphs",
            "breaks",
            "break_sites",
            "ops_captured",
            "frames_fallback",
            "recompiles",
        )
        rows = [
            {
                "sweep_id": sweep["sweep_id"],
                "finished_at": sweep["finished_at"],
                "revision": row["commit"],
                "mode": "eval",
                "toolchain": sweep["toolchain"]["name"],
                "torch": sweep["toolchain"]["torch"],
                "transformers": "5.23.0",
                "reused": n % 3 > 0,
                "capture_id": row["capture_id"] or "",
                "structure": row["structure"] or "",
                **{key: row[key] for key in keys},
            }
            for n, sweep in enumerate(self.sweeps[:60])
        ]
        page, following = self.page(rows, query)
        return {"history": page, "next": following}

    @cached
    def site_row(self, s):
        site, rows = SITES[s], self.with_site.get(s, [])
        keys = ("site_id", "reason", "gb_id", "file", "line", "function")
        return {key: site[key] for key in keys} | {
            "fixability": "source change",
            "category": site["fixability"],
            "models": len(rows),
            "events": len(rows) * site["occurrences"],
            "families": sorted({row["family"] for row in rows}),
            "downloads": sum(row["downloads"] for row in rows),
            "example_model": rows[0]["model"] if rows else "",
        }

    def sites(self, query):
        rows = [self.site_row(s) for s in range(len(SITES))]
        for key in ("reason", "gb_id"):
            rows = [row for row in rows if not query.get(key) or row[key] == query[key]]
        rows = [row for row in rows if query.get("file", "") in row["file"]]
        page, following = self.page(sorted_by(rows, query.get("sort", "-models")), query)
        return {"sites_matched": len(rows), "sites": page, "next": following}

    def site(self, _, site_id):
        for s, site in enumerate(SITES):
            if site["site_id"] == site_id:
                keys = ("explanation", "context", "hints", "source_line", "frame", "module_path", "stack",
                        "stack_source")  # fmt: skip
                return (
                    self.site_row(s)
                    | {key: site[key] for key in keys}
                    | {
                        "url": "https://example.org/gb",
                        "with_site": [
                            {
                                "model": row["model"],
                                "family": row["family"],
                                "commit": row["commit"],
                                "rank": row["rank"],
                                "downloads": row["downloads"],
                                "line": site["line"],
                                "events": site["occurrences"],
                                "capture_id": row["capture_id"],
                            }
                            for row in self.with_site.get(s, [])[:1000]
                        ],
                    }
                )
        return 404, f"no site {site_id}"

    @cached
    def reason_row(self, reason, gb_id, fixability):
        rows = [(row, one) for row in self.models for one in row["reasons"] if one["reason"] == reason]
        families = {}
        for row, _ in rows:
            families[row["family"]] = families.get(row["family"], 0) + 1
        return {
            "reason": reason,
            "gb_id": gb_id,
            "fixability": "setting" if gb_id else "untested",
            "url": "javascript:alert(1)" if not gb_id else f"https://example.org/{gb_id}",
            "events": sum(one["events"] for _, one in rows),
            "sites": sum(site["reason"] == reason for site in SITES),
            "models": len(rows),
            "leverage": sum(len(row["reasons"]) == 1 for row, _ in rows),
            "downloads": sum(row["downloads"] for row, _ in rows),
            "families": families,
            "category": fixability,
            "tried": len(rows) // 2,
            "made_whole": len(rows) // 4,
            "fixed_by": {"capture_scalar_outputs": len(rows) // 3, "no_cache": 1},
        }

    def reasons(self, query):
        rows = [self.reason_row(*one[:3]) for one in REASONS]
        return {"reasons": sorted_by(rows, query.get("sort", "-events"))}

    def reason(self, _, name):
        for reason, gb_id, fixability, _ in REASONS:
            if name in (reason, gb_id):
                models = [(row, one) for row in self.models for one in row["reasons"] if one["reason"] == reason][:1000]
                return self.reason_row(reason, gb_id, fixability) | {
                    "with_reason": [
                        {
                            "model": row["model"],
                            "family": row["family"],
                            "commit": row["commit"],
                            "rank": row["rank"],
                            "downloads": row["downloads"],
                            "events": one["events"],
                            "sites": one["sites"],
                            "only_reason": len(row["reasons"]) == 1,
                        }
                        for row, one in models
                    ],
                    "at": [self.site_row(s) for s, site in enumerate(SITES) if site["reason"] == reason],
                }
        return 404, f'no reason "{name}"'

    def list_sweeps(self, query):
        rows = [
            row for row in self.sweeps if not query.get("toolchain") or row["toolchain"]["name"] == query["toolchain"]
        ]
        page, following = self.page(rows, query)
        return {"sweeps": page, "next": following}

    def one_sweep(self, _, sweep_id):
        found = [row for row in self.sweeps if row["sweep_id"] == sweep_id or sweep_id == "latest"]
        return found[0] if found else (404, f'no sweep "{sweep_id}"')

    def failures(self, _, sweep_id):
        return {
            "failures": [
                {
                    "status": "failed_create",
                    "mode": "eval",
                    "phase": "create",
                    "status_detail": "the config has no attribute",
                    "suggestion": "use another transformers",
                    "models": 2100,
                    "example_model": HOSTILE[0],
                    "error": None,
                },
                {
                    "status": "timeout",
                    "mode": "eval",
                    "phase": "capture",
                    "status_detail": "no end after 300 s",
                    "suggestion": None,
                    "models": 900,
                    "example_model": "org/slow",
                    "error": None,
                },
            ]
        }

    def sweep_reasons(self, _, sweep_id):
        keys = ("reason", "gb_id", "fixability", "events", "sites", "models", "leverage")
        rows = [self.reason_row(*one[:3]) for one in REASONS]
        return {
            "reasons": [
                {key: row[key] for key in keys}
                | {"families": "nlp,vision", "example_model": "org/m", "example_site": None, "url": None}
                | {"fix": None, "fixed_models": 0, "tried_models": 0, "made_whole": 0, "leverage_downloads": 0}
                | {"made_whole_downloads": 0, "category": "other"}
                for row in rows
            ]
        }

    def compare(self, query):
        if query.get("a") == "nonsense":
            return 400, '"nonsense" is no sweep, toolchain or model; the newest sweeps: latest, previous'

        def change(site):
            return {
                key: site[key]
                for key in ("site_id", "reason", "gb_id", "file", "line", "function", "source_line", "module_path")
            } | {"breaks_a": 0, "breaks_b": 2}

        verdicts = ["worse", "mixed", "gone", "better", "new", "flaky"]
        rows = [
            {
                "model": row["model"],
                "mode": "eval",
                "verdict": verdicts[n // 8 % 6],
                "status_a": "full_graph",
                "status_b": "graph_breaks",
                "breaks_a": 0,
                "breaks_b": 2 + n,
                "sites_a": 0,
                "sites_b": 1,
                "new_sites": [change(SITES[n % len(SITES)])],
                "gone_sites": [],
                "changed_sites": [],
                "note": "",
                "differences": [{"what": "commit", "a": "abc", "b": "def"}],
                "changes": [{"quantity": "breaks", "a": 0, "b": 2 + n, "worse": True}],
            }
            for n, row in enumerate(self.models[:120])
        ]
        totals = {
            "models": 50000,
            "clean": 30000,
            "broken": 15000,
            "without_numbers": 5000,
            "breaks": 67000,
            "sites": 31000,
        }
        both = {"a": totals, "b": totals | {"clean": 29950, "broken": 15050, "breaks": 67210}}
        page, following = self.page(rows, query)
        return {
            "format": "breakwatch-comparison",
            "version": 1,
            "a": f"sweep {self.sweeps[1]['sweep_id']}",
            "b": f"sweep {self.sweeps[0]['sweep_id']}",
            "summary": "50 models are worse, 20 better, 49,930 unchanged.",
            "verdicts": {"worse": 50, "better": 20, "same": 49930},
            "totals": {"compared": both, "all": both},
            "differences": [{"what": "transformers", "a": "5.22.0", "b": "5.23.0", "models": 50000}],
            "models": page,
            "reasons": [
                {
                    "reason": REASONS[0][0],
                    "gb_id": REASONS[0][1],
                    "breaks_a": 9000,
                    "breaks_b": 9210,
                    "sites_a": 900,
                    "sites_b": 950,
                    "models_a": 7000,
                    "models_b": 7050,
                }
            ],
            "gate": None,
            "total": len(rows),
            "next": following,
        }

    def trends(self, query):
        changes = dict.fromkeys(("fixed", "broken", "breaks_change", "came", "came_full_graph", "departed"), 0)

        def points(offset):
            common = {"models_tracked": 50000, "models_with_numbers": 45000, "full_graph": 30000, "models": 15000}
            common |= {"break_sites": 31000, "departed_full_graph": 0} | changes
            return [
                common
                | {"day": day(n), "breaks": 67000 + 10 * n}
                | {"full_graph_share": 0.72 - offset - n * 0.0011 + 0.01 * (n % 7 == 0)}
                for n in days
            ]

        by = query.get("by", "all")
        days = [n for n in reversed(range(120)) if day(n) >= query.get("since", "")]
        series = [{"points": points(0)}]
        if by == "family":
            series = [{"family": name, "points": points(0.05 * n)} for n, name in enumerate(FAMILIES)]
        if by == "reason":
            series = [
                {
                    "reason": REASONS[0][0],
                    "gb_id": REASONS[0][1],
                    "points": [
                        {
                            "day": day(n),
                            "models_tracked": 50000,
                            "models_with_numbers": 45000,
                            "breaks": 4000 + 9 * n,
                            "break_sites": 300 + n,
                            "models": 1900 + 4 * n,
                            "leverage": 600,
                        }
                        for n in days
                    ],
                }
            ]
        return {
            "by": by,
            "since": query.get("since"),
            "until": None,
            "toolchain": "default",
            "series": series,
            "series_left_out": 0,
        }

    def quarantine(self, _):
        rows = [row for row in self.models if row["status"] == "quarantined"][:20]
        return {
            "quarantine": [
                {
                    "model": row["model"],
                    "family": row["family"],
                    "commit": row["commit"],
                    "rank": row["rank"],
                    "status_detail": "three time-outs; until tomorrow 11:00",
                    "suggestion": "raise capture.limits.capture",
                    "attempted_at": row["attempted_at"],
                }
                for row in rows
            ]
        }

    def dead_letters(self, query):
        rows = [
            {
                "exporter": "loki",
                "event_id": 4000 + n,
                "state": "dead",
                "refused_at": at(30),
                "reason": "entry out of order <b>",
                "event": {"msg": "graph_break", "model": HOSTILE[0]},
            }
            for n in range(30)
        ]
        page, following = self.page(rows, query)
        return {"dead_letters": page, "next": following}

    def exporters(self, _):
        common = {"attempts": 340, "failures": 2, "oldest_at": None, "last_failure": at(80), "paused": False}
        return {
            "exporters": [
                common | {"exporter": "pushgateway", "events_pending": 0, "dead_letters": 0, "last_success": at(3)},
                common | {"exporter": "loki", "events_pending": 0, "dead_letters": 30, "last_success": at(3)},
                common
                | {
                    "exporter": "otlp",
                    "events_pending": 41200,
                    "dead_letters": 0,
                    "last_success": None,
                    "oldest_at": at(70),
                },
            ]
        }

    def settings(self, _):
        return {
            "settings": [
                {"key": key, "value": value, "default": default, "origin": origin, "type": "text"}
                for key, value, default, origin in (
                    ("hub.top", 50000, 30, "/etc/breakwatch.yaml:3"),
                    ("exporters.loki.url", "http://loki:3100", "", "environment"),
                    ("web.token", "<secret>", "", "environment"),
                    ("capture.modes", ["eval"], ["eval"], "default"),
                )
            ],
            "files": ["/etc/breakwatch.yaml"],
            "warnings": [],
        }

    def version(self, _):
        return {
            "version": "0.1.0",
            "toolchains": [TOOLCHAIN],
            "configured_toolchains": ["default", "torch2.13.0"],
        }

    def requests(self, _):
        return {
            "requests": [
                {
                    "id": "api-20261123T080000-1",
                    "kind": "sweep",
                    "state": "done",
                    "requested_at": at(9),
                    "started_at": at(9),
                    "finished_at": at(3),
                    "sweep_id": self.sweeps[0]["sweep_id"],
                    "sweeps": [self.sweeps[0]["sweep_id"]],
                    "exporters_behind": [],
                    "exit_code": 0,
                }
            ]
        }
