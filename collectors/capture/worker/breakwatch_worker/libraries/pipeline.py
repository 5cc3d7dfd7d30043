"""Captures a diffusers pipeline: each component that is a module by itself. The result is the sum."""

import gc
import hashlib
import json

from .. import failure, model_run
from ..dynamo.segments import MAX_SEGMENTS
from ..model import architecture
from ..process.ends import CAPTURED
from ..text import one_line
from .diffusers_model import ComponentRun, class_of

_SUMS = ("params", "graphs", "breaks", "dynamo_counter_breaks", "explain_breaks", "ops_captured", "frames_total",
         "frames_fallback", "recompiles", "unexplained_events")


def components_of(values: dict) -> list:
    """[(name, library, class name, config or None)] in the order of model_index.json, without null entries."""
    found = []
    for name, entry in values["model_index"].items():
        if isinstance(entry, list) and len(entry) == 2 and all(isinstance(part, str) for part in entry):
            config = values["components"].get(name)
            found.append((name, *entry, config if isinstance(config, dict) else None))
    return found


class PipelineRun(model_run.ModelRun):
    def run(self) -> dict:
        values = architecture.decode_floats(self._job["config"])
        pipeline = values["model_index"].get("_class_name")
        self._known = {"architecture": pipeline if isinstance(pipeline, str) else "", "model_type": "diffusers",
                       "dtype": "float32"}
        captured, others = {}, []
        for name, library, cls, config in components_of(values):
            part = self._capture_component(name, library, cls, config)
            if part is None:
                others.append(name)
            else:
                captured[name] = part
            gc.collect()  # free the memory of this component before the next
        if not captured:
            raise architecture.Stop("skipped_no_config", "model_index.json names no module with a configuration",
                                    "none: the pipeline has no module that can be built")
        return {**self._known, **combine(captured, others)}

    def _capture_component(self, name: str, library: str, cls: str, config):
        """The result of a component. None if it is not a module."""
        if self._phases.current != "create":
            self._phases.enter("create")
        try:
            if library == "transformers":
                found = self._of_transformers(cls, config)
            else:
                found = self._of_diffusers(library, cls, config)
            if found is None:
                return None
            if config is None:
                return {"status": "skipped_no_config", "detail": f"{cls} without a {name}/config.json"}
            result = found.run()
            result.setdefault("phase", self._phases.current)
            return result
        except Exception as error:
            return {**failure.result_of(self._phases.current, error), "phase": self._phases.current}

    def _of_transformers(self, cls: str, config):
        if config is None and architecture._exported(cls) is None:
            return None
        job = {**self._job, "config": config, "library": "transformers", "architecture": cls, "task": ""}
        return model_run.ModelRun(job, self._depth, self._phases)

    def _of_diffusers(self, library: str, cls: str, config):
        if class_of(library, cls) is None:
            return None
        job = {**self._job, "config": {**(config or {}), "_class_name": cls}, "library": library}
        return ComponentRun(job, self._depth, self._phases)


def together(details: dict) -> dict:
    """The `mode_detail` by component. The profiles of a measure mode are one list, each with its component."""
    if not all("profiles" in detail for detail in details.values()):
        return details
    profiles = [{"component": name, **profile} for name, detail in details.items() for profile in detail["profiles"]]
    worst = max((detail["noise"] for detail in details.values()), key=lambda noise: not noise["quiet"])
    return {"measure": next(iter(details.values()))["measure"], "noise": worst, "profiles": profiles}


def combine(parts: dict, others: list) -> dict:
    """The result of all components: sums, sites grouped by site_id, and the status of the first failure, if any."""
    sites, segments, reasons = {}, [], set()
    for name, part in parts.items():
        for site in part.get("sites") or []:
            reasons.add(site.get("gb_id") or site.get("reason"))
            if site["site_id"] in sites:  # two components may have the same code
                sites[site["site_id"]]["occurrences"] += site["occurrences"]
            else:
                path = ".".join(filter(None, (name, site.get("module_path") or "")))
                sites[site["site_id"]] = {**site, "module_path": path}
        segments += part.get("segments") or []
    segments = [{**segment, "index": index} for index, segment in enumerate(segments[:MAX_SEGMENTS])]
    result = {key: sum(part.get(key) or 0 for part in parts.values()) for key in _SUMS
              if any(part.get(key) is not None for part in parts.values())}
    texts = [f"{name}: {part['detail'].split(';')[0] if part['status'] in CAPTURED else part['status']}"
            for name, part in parts.items()]
    bad = {name: part for name, part in parts.items() if part["status"] not in CAPTURED}
    if bad:
        name, part = next(iter(bad.items()))
        result.update(status=part["status"], phase=part.get("phase") or "create")
        texts.insert(0, f"{name}: {part['detail']}")
        result.update({key: part[key] for key in ("error", "suggestion") if part.get(key)})
    else:
        broken = any(part["status"] == "graph_breaks" for part in parts.values())
        result.update(status="graph_breaks" if broken else "full_graph", phase="done")
        texts.insert(0, model_run.verdict({"breaks": 0, "graphs": 0, **result, "break_sites": len(sites)}))
    if others:
        texts.append("not modules: " + ", ".join(others))
    depths = [part.get("depth") for part in parts.values()]
    inputs = {name: part["inputs"] for name, part in parts.items() if part.get("inputs")}
    details = {name: part["mode_detail"] for name, part in parts.items() if part.get("mode_detail")}
    for key in ("optional_passed", "optional_left_out"):
        result[key] = [f"{name}.{argument}" for name, part in parts.items() for argument in part.get(key) or ()][:64]
    result.update(
        detail=one_line("; ".join(texts)), depth=next((d for d in ("reduced", "full") if d in depths), "original"),
        sites=list(sites.values()), break_sites=len(sites), unique_reasons=len(reasons), inputs=inputs,
        inputs_digest=hashlib.sha256(json.dumps(inputs, sort_keys=True).encode()).hexdigest()[:16])
    if segments:
        result["segments"] = segments
    if details:
        result["mode_detail"] = together(details)
    return result
