#!/usr/bin/env python3
"""Makes the bundled snapshot: a small recording of a Hub, for sweeps without a network.

    .venv/bin/python collectors/hub/snapshot/make_snapshot.py FACTS [--out DIR]

DIR is the folder of this script by default. FACTS is a folder with the recorded answers recorded_model_info.jsonl
(2024-03-14 to 2025-03-21), models_by_downloads_2022-02.jsonl (2022-02-21) and header_captures.json (redirects, 2026).
The output depends only on them and on the installed transformers; two runs produce the same bytes.

The rules that select models. None of them uses the result of a capture.

1. Real repositories: every recorded body with a sha, a download count and a model type of transformers, the newest
   record for each id. An id that a recorded redirect replaced is listed in redirects.json instead. An id of one part is
   omitted if there is a record of `<organisation>/<that id>`, because the Hub moved such ids there. The models are
   grouped by family and ranked by recorded downloads (ties by id), at most REAL_PER_CLASS for each family and class,
   and at most REAL_PER_FAMILY for each family. The class is the recorded architecture if transformers still has it,
   else the head that TASKS names first. Ids, shas, tags and figures are those recorded at `recorded_at`.
2. Samples, `sample/<class>`: every model type of transformers with a head in TASKS or an entry in NO_HEAD, one for each
   class (the type with the name of the class, else the alphabetically first), grouped by family and ordered by type.
   Every k-th of a family is used, with the smallest k that keeps the family within SAMPLES_PER_FAMILY. Downloads are
   null, and there are no other figures.

Neither includes a type whose configuration class requires arguments or whose config.json is larger than
MAX_CONFIG_BYTES. Every config.json is the default of its class, not a published file, so each entry contains
`"config_source": "class_default"`. The commit of a sample is the first 40 hex digits of the SHA-256 of its config.json.
A missing `_id` is made: the seconds of createdAt, then a digest (real) or the position in the order (samples).
"""

import argparse
import datetime
import email.utils
import hashlib
import json
import pathlib
import shutil
import sys
import warnings

API = "/api/models/"
MAX_TOTAL_BYTES = 2_000_000
MAX_CONFIG_BYTES = 16_000
REAL_PER_FAMILY = 40
REAL_PER_CLASS = 2
SAMPLES_PER_FAMILY = 34

FACTS_INFO = "recorded_model_info.jsonl"
FACTS_HEADERS = "header_captures.json"
FACTS_2022 = "models_by_downloads_2022-02.jsonl"
DATE_2022 = "2022-02-21"
# The Hub returns this date for every older repository.
CREATED_FLOOR = "2022-03-02T23:29:04.000Z"
CREATED_SAMPLE = "2026-11-21T00:00:00.000Z"

# The Hub's tasks by family.
TASK_FAMILY = {
    "text-generation": "nlp",
    "text2text-generation": "nlp",
    "fill-mask": "nlp",
    "text-classification": "nlp",
    "token-classification": "nlp",
    "question-answering": "nlp",
    "table-question-answering": "nlp",
    "zero-shot-classification": "nlp",
    "translation": "nlp",
    "summarization": "nlp",
    "conversational": "nlp",
    "sentence-similarity": "nlp",
    "feature-extraction": "nlp",
    "image-classification": "vision",
    "object-detection": "vision",
    "image-segmentation": "vision",
    "image-to-text": "vision",
    "image-to-image": "vision",
    "depth-estimation": "vision",
    "mask-generation": "vision",
    "keypoint-detection": "vision",
    "video-classification": "vision",
    "zero-shot-image-classification": "vision",
    "zero-shot-object-detection": "vision",
    "automatic-speech-recognition": "audio",
    "audio-classification": "audio",
    "audio-to-audio": "audio",
    "text-to-audio": "audio",
    "text-to-speech": "audio",
    "voice-activity-detection": "audio",
    "any-to-any": "multimodal",
    "document-question-answering": "multimodal",
    "image-text-to-text": "multimodal",
    "visual-question-answering": "multimodal",
    "visual-document-retrieval": "multimodal",
    "tabular-classification": "tabular",
    "tabular-regression": "tabular",
    "time-series-forecasting": "tabular",
    "reinforcement-learning": "reinforcement_learning",
    "robotics": "reinforcement_learning",
    "other": "other",
}

# Auto mappings and their tasks. A type has the task of the first mapping that contains it: special tasks come first.
TASKS = (
    ("TIME_SERIES_PREDICTION", "time-series-forecasting"),
    ("TIME_SERIES_CLASSIFICATION", "tabular-classification"),
    ("TIME_SERIES_REGRESSION", "tabular-regression"),
    ("TABLE_QUESTION_ANSWERING", "table-question-answering"),
    ("DOCUMENT_QUESTION_ANSWERING", "document-question-answering"),
    ("VISUAL_QUESTION_ANSWERING", "visual-question-answering"),
    ("RETRIEVAL", "visual-document-retrieval"),
    ("SPEECH_SEQ_2_SEQ", "automatic-speech-recognition"),
    ("CTC", "automatic-speech-recognition"),
    ("TDT", "automatic-speech-recognition"),
    ("RNNT", "automatic-speech-recognition"),
    ("TEXT_TO_SPECTROGRAM", "text-to-speech"),
    ("AUDIO_CLASSIFICATION", "audio-classification"),
    ("IMAGE_TEXT_TO_TEXT", "image-text-to-text"),
    ("MULTIMODAL_LM", "any-to-any"),
    ("TEXT_TO_WAVEFORM", "text-to-audio"),
    ("ZERO_SHOT_IMAGE_CLASSIFICATION", "zero-shot-image-classification"),
    ("ZERO_SHOT_OBJECT_DETECTION", "zero-shot-object-detection"),
    ("OBJECT_DETECTION", "object-detection"),
    ("UNIVERSAL_SEGMENTATION", "image-segmentation"),
    ("INSTANCE_SEGMENTATION", "image-segmentation"),
    ("SEMANTIC_SEGMENTATION", "image-segmentation"),
    ("MASK_GENERATION", "mask-generation"),
    ("DEPTH_ESTIMATION", "depth-estimation"),
    ("KEYPOINT_DETECTION", "keypoint-detection"),
    ("KEYPOINT_MATCHING", "keypoint-detection"),
    ("VIDEO_CLASSIFICATION", "video-classification"),
    ("IMAGE_TO_IMAGE", "image-to-image"),
    ("IMAGE_CLASSIFICATION", "image-classification"),
    ("MASKED_LM", "fill-mask"),
    ("SEQ_TO_SEQ_CAUSAL_LM", "text2text-generation"),
    ("CAUSAL_LM", "text-generation"),
    ("DECISION", "other"),
)

# Types of families without a head among the Auto mappings, or whose head does not identify the family: these use the
# base class (or the head, if there is no base class).
NO_HEAD = {
    "autoformer": "time-series-forecasting",
    "informer": "time-series-forecasting",
    "time_series_transformer": "time-series-forecasting",
    "decision_transformer": "reinforcement-learning",
    "pi0": "robotics",
    "esm": "other",  # protein sequences
    "evolla": "other",  # proteins and questions about them
    "univnet": "audio-to-audio",
    "encodec": "audio-to-audio",
}


def seconds(iso):
    return int(datetime.datetime.fromisoformat(iso.replace("Z", "+00:00")).timestamp())


class Library:
    """Heads by model type and default configurations of the installed transformers. Builds no model."""

    def __init__(self):
        warnings.simplefilter("ignore")
        import transformers
        from transformers.models.auto import configuration_auto, modeling_auto

        transformers.logging.set_verbosity_error()
        self.version = transformers.__version__
        self.classes = set(dir(transformers))  # by name: nothing is imported
        self.config_names = configuration_auto.CONFIG_MAPPING_NAMES
        self.config_mapping = configuration_auto.CONFIG_MAPPING
        self.base = modeling_auto.MODEL_MAPPING_NAMES
        self.heads = {}
        for mapping, task in TASKS:
            names = getattr(modeling_auto, f"MODEL_FOR_{mapping}_MAPPING_NAMES", {})
            for model_type, name in names.items():
                self.heads.setdefault(model_type, (self._one(name), task))
        for model_type, task in NO_HEAD.items():
            name = self.base.get(model_type) or self.heads.get(model_type, (None,))[0]
            if name:
                self.heads[model_type] = (self._one(name), task)
        self._configs = {}

    @staticmethod
    def _one(name):
        return name if isinstance(name, str) else name[0]

    def has_class(self, name):
        return name in self.classes

    def config_bytes(self, model_type, architecture):
        """The default config.json, or None if the class requires arguments or the file is too large."""
        if model_type not in self._configs:
            try:
                config = self.config_mapping[model_type]()
                self._configs[model_type] = json.loads(config.to_json_string(use_diff=True))
            except Exception as error:  # whatever it needs: it cannot be made without arguments
                print(f"no default: {model_type}: {type(error).__name__}", file=sys.stderr)
                self._configs[model_type] = None
        content = self._configs[model_type]
        if content is None:
            return None
        content = content | {"architectures": [architecture], "model_type": model_type}
        text = json.dumps(content, indent=1, sort_keys=True, ensure_ascii=True, allow_nan=False) + "\n"
        return text.encode() if len(text) <= MAX_CONFIG_BYTES else None


def recorded_redirects(facts):
    for line in (facts / FACTS_INFO).read_text().splitlines():
        record = json.loads(line)
        if record["status"]["code"] == 307:
            yield record["uri"].split(API, 1)[1], record["headers"]["Location"][0].removeprefix(API)
    for capture in json.loads((facts / FACTS_HEADERS).read_text())["captures"]:
        _, _, old = (capture["request"] or "").partition(API)
        new = {name.lower(): value for name, value in capture["headers"]}.get("location", "").removeprefix(API)
        if old and new and "?" not in old:
            yield old, new


def recorded_bodies(facts):
    """(date, body) of every recorded full answer, oldest first."""
    rows = [(DATE_2022, json.loads(line)) for line in (facts / FACTS_2022).read_text().splitlines()]
    for line in (facts / FACTS_INFO).read_text().splitlines():
        record = json.loads(line)
        if record["status"]["code"] == 200 and "?" not in record["uri"]:
            date = email.utils.parsedate_to_datetime(record["headers"]["Date"][0]).date().isoformat()
            rows.append((date, json.loads(record["body"])))
    return sorted(rows, key=lambda row: row[0])


def real_entry(library, date, body):
    """A models.jsonl entry and its config.json, or None if the record lacks a required field."""
    name = body.get("id") or body.get("modelId")
    recorded = body.get("config") or {}
    model_type = recorded.get("model_type")
    if not body.get("sha") or not isinstance(body.get("downloads"), int) or model_type not in library.config_names:
        return None
    architecture = next(iter(recorded.get("architectures") or []), None)
    if not library.has_class(architecture):
        architecture = library.heads.get(model_type, (None,))[0]
    if not library.has_class(architecture):
        return None
    config = library.config_bytes(model_type, architecture)
    if config is None:
        return None
    created = body.get("createdAt", CREATED_FLOOR)
    made_id = f"{seconds(created):08x}" + hashlib.sha256(name.encode()).hexdigest()[:16]
    entry = {
        "_id": body.get("_id", made_id),
        "id": name,
        "modelId": name,
        "author": name.split("/")[0] if "/" in name else None,
        "sha": body["sha"],
        "createdAt": created,
        "lastModified": body["lastModified"],
        "private": body["private"],
        "gated": body.get("gated", False),
        "disabled": body.get("disabled", False),
        "downloads": body["downloads"],
        "likes": body["likes"],
        "library_name": body.get("library_name"),
        "pipeline_tag": body.get("pipeline_tag"),
        "tags": body["tags"],
        "config": {"architectures": [architecture], "model_type": model_type},
        "safetensors": body.get("safetensors"),
        "transformersInfo": body.get("transformersInfo"),
        "recorded_at": date,
    }
    return entry, config


def real_models(library, facts, redirects):
    newest = {}
    for date, body in recorded_bodies(facts):
        made = real_entry(library, date, body)
        if made and made[0]["id"] not in redirects:
            newest[made[0]["id"]] = made
    for moved in [name.split("/")[1] for name in newest if "/" in name]:
        newest.pop(moved, None)
    by_family = {}
    for entry, config in sorted(newest.values(), key=lambda made: (-made[0]["downloads"], made[0]["id"])):
        task = entry["pipeline_tag"] or library.heads.get(entry["config"]["model_type"], (None, None))[1]
        by_family.setdefault(TASK_FAMILY.get(task, "other"), []).append((entry, config))
    for _, models in sorted(by_family.items()):
        of_class = {}
        taken = 0
        for entry, config in models:
            architecture = entry["config"]["architectures"][0]
            of_class[architecture] = of_class.get(architecture, 0) + 1
            if of_class[architecture] <= REAL_PER_CLASS and taken < REAL_PER_FAMILY:
                taken += 1
                yield entry, config


def is_named_after(architecture, model_type):
    return architecture.lower().startswith(model_type.replace("_", "").replace("-", "").lower())


def sample_models(library):
    types_of_class = {}
    for model_type in sorted(library.config_names):
        architecture, task = library.heads.get(model_type, (None, None))
        if library.has_class(architecture) and library.config_bytes(model_type, architecture):
            foreign = not is_named_after(architecture, model_type)
            types_of_class.setdefault(architecture, []).append((foreign, model_type, task))
    by_family = {}
    for architecture, types in types_of_class.items():
        _, model_type, task = min(types)
        member = (model_type, architecture, task, library.config_bytes(model_type, architecture))
        by_family.setdefault(TASK_FAMILY[task], []).append(member)
    chosen = []
    for members in by_family.values():
        step = -(-len(members) // SAMPLES_PER_FAMILY)
        chosen += sorted(members)[::step]
    for place, (model_type, architecture, task, config) in enumerate(sorted(chosen)):
        name = f"sample/{architecture}"
        entry = {
            "_id": f"{seconds(CREATED_SAMPLE):08x}{place + 1:016x}",
            "id": name,
            "modelId": name,
            "author": "sample",
            "sha": hashlib.sha256(config).hexdigest()[:40],
            "createdAt": CREATED_SAMPLE,
            "lastModified": CREATED_SAMPLE,
            "private": False,
            "gated": False,
            "disabled": False,
            "downloads": None,
            "likes": None,
            "library_name": "transformers",
            "pipeline_tag": task,
            "tags": ["transformers", model_type, task],
            "config": {"architectures": [architecture], "model_type": model_type},
        }
        yield entry, config


def write_snapshot(library, facts, out):
    out.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(out / "files", ignore_errors=True)
    redirects = dict(recorded_redirects(facts))
    models = [*real_models(library, facts, redirects), *sample_models(library)]
    models.sort(key=lambda made: (made[0]["downloads"] is None, -(made[0]["downloads"] or 0), made[0]["_id"]))
    lines = []
    for entry, config in models:
        entry = {key: value for key, value in entry.items() if value is not None or key in ("downloads", "likes")}
        entry |= {"siblings": [{"rfilename": "config.json"}], "config_source": "class_default"}
        lines.append(json.dumps(entry, ensure_ascii=True, separators=(",", ":")) + "\n")
        folder = out / "files" / entry["id"].replace("/", "--") / entry["sha"]
        folder.mkdir(parents=True)
        (folder / "config.json").write_bytes(config)
    (out / "models.jsonl").write_text("".join(lines))
    known = {entry["id"] for entry, _ in models}
    kept = {old: new for old, new in sorted(redirects.items()) if new in known}
    (out / "redirects.json").write_text(json.dumps(kept, indent=1) + "\n")
    about = {
        "format": 1,
        "recorded_at": CREATED_SAMPLE,
        "endpoint": "https://huggingface.co",
        "note": "Bundled snapshot. Real ids carry the sha and figures that the Hub gave on their recorded_at date "
        f"(2022-02-21 to 2025-03-21). Every config.json is the default of its class in transformers {library.version}, "
        "not the published file. sample/<class> are not on the Hub: no figures, the commit is a digest of the config.",
    }
    (out / "recording.json").write_text(json.dumps(about, indent=1) + "\n")
    return len(models)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("facts", type=pathlib.Path, help="folder with the recorded answers")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path(__file__).parent)
    options = parser.parse_args()
    count = write_snapshot(Library(), options.facts, options.out)
    size = sum(path.stat().st_size for path in options.out.rglob("*.json*"))
    print(f"{count} models, {size} bytes in {options.out}")
    return 0 if size <= MAX_TOTAL_BYTES else 1


if __name__ == "__main__":
    sys.exit(main())
