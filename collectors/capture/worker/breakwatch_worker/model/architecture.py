"""From config.json to a config object and the model class. Reads data only; builds no model."""

import re

from .. import restore
from ..errors import WorkerError

# The Auto class for each task, used if `architectures` names no class.
_AUTO_BY_TASK = {
    "text-generation": "AutoModelForCausalLM",
    "text2text-generation": "AutoModelForSeq2SeqLM",
    "translation": "AutoModelForSeq2SeqLM",
    "summarization": "AutoModelForSeq2SeqLM",
    "fill-mask": "AutoModelForMaskedLM",
    "text-classification": "AutoModelForSequenceClassification",
    "zero-shot-classification": "AutoModelForSequenceClassification",
    "token-classification": "AutoModelForTokenClassification",
    "question-answering": "AutoModelForQuestionAnswering",
    "table-question-answering": "AutoModelForTableQuestionAnswering",
    "visual-question-answering": "AutoModelForVisualQuestionAnswering",
    "document-question-answering": "AutoModelForDocumentQuestionAnswering",
    "image-classification": "AutoModelForImageClassification",
    "zero-shot-image-classification": "AutoModelForZeroShotImageClassification",
    "object-detection": "AutoModelForObjectDetection",
    "zero-shot-object-detection": "AutoModelForZeroShotObjectDetection",
    "image-segmentation": "AutoModelForSemanticSegmentation",
    "mask-generation": "AutoModelForMaskGeneration",
    "depth-estimation": "AutoModelForDepthEstimation",
    "keypoint-detection": "AutoModelForKeypointDetection",
    "keypoint-matching": "AutoModelForKeypointMatching",
    "image-to-text": "AutoModelForImageTextToText",
    "image-text-to-text": "AutoModelForImageTextToText",
    "video-text-to-text": "AutoModelForImageTextToText",
    "any-to-any": "AutoModelForMultimodalLM",
    "image-to-image": "AutoModelForImageToImage",
    "video-classification": "AutoModelForVideoClassification",
    "automatic-speech-recognition": "AutoModelForSpeechSeq2Seq",
    "audio-classification": "AutoModelForAudioClassification",
    "text-to-speech": "AutoModelForTextToWaveform",
    "text-to-audio": "AutoModelForTextToWaveform",
    "time-series-forecasting": "AutoModelForTimeSeriesPrediction",
}

# Libraries whose repositories have no transformers model, whatever is in config.json.
_UNSUPPORTED_LIBRARIES = {
    "diffusers", "gguf", "llama.cpp", "peft", "adapter-transformers", "onnx", "onnxruntime", "openvino", "coreml",
    "keras", "tf-keras", "tensorflowtts", "tflite", "paddlenlp", "paddlepaddle", "nemo", "speechbrain",
    "pyannote-audio", "spacy", "fasttext", "stable-baselines3", "ml-agents", "sample-factory", "sklearn", "flair",
    "allennlp", "espnet", "asteroid", "fastai", "open_clip", "ultralytics", "stanza", "mlx", "mlx-image", "ctranslate2",
    "tensorrt", "transformers.js", "unity-sentis", "cleanrl", "rl-algo-impls", "bertopic", "lerobot",
}
# Classes without a forward of their own -> the part that is captured: the one for text, or the one for audio.
_STAND_INS = {
    "Qwen2_5OmniForConditionalGeneration": ("thinker_config", "Qwen2_5OmniThinkerForConditionalGeneration"),
    "Qwen3OmniMoeForConditionalGeneration": ("thinker_config", "Qwen3OmniMoeThinkerForConditionalGeneration"),
    "BarkModel": ("semantic_config", "BarkSemanticModel"),
    "JukeboxModel": ("vqvae_config", "JukeboxVQVAE"),
}
# Messages about a missing package, the most reliable first.
_PACKAGE = r"[`'\"]?([A-Za-z0-9](?:[A-Za-z0-9_.\-]*[A-Za-z0-9])?)"
_DEPENDENCY = tuple(re.compile(pattern) for pattern in (
    r"pip3? install (?:-\S+ )*" + _PACKAGE,
    r"No module named " + _PACKAGE,
    r"requires? the following packages? that were not found in your environment: " + _PACKAGE,
    r"requires? (?:the )?" + _PACKAGE,
    _PACKAGE + r"[`'\"]? (?:package |library )?is (?:either )?not (?:installed|available)",
    r"[Ii]nstall (?:the )?" + _PACKAGE))
# Words that can follow and are not a package, as in "install a compatible version".
_NO_PACKAGE = frozenset((
    "a", "an", "and", "at", "compatible", "following", "git", "it", "latest", "least", "library", "missing", "of", "or",
    "package", "packages", "python", "that", "the", "them", "this", "to", "version"))
_UNNAMED = "a package"  # the message names none


_ADD_TYPE = "add model_type to the config"


class Stop(WorkerError):
    """Ends the capture with this status and detail before a model exists."""

    def __init__(self, status: str, detail: str, suggestion: str = ""):
        super().__init__(detail, suggestion)
        self.status, self.detail = status, detail


def missing_dependency(error: BaseException) -> str:
    """The name of the missing package that caused an import error, or ''."""
    seen = 0
    while error is not None and seen < 8:
        if isinstance(error, ModuleNotFoundError) and error.name:
            return error.name.split(".")[0]
        if isinstance(error, ImportError):
            found = (name for pattern in _DEPENDENCY for name in pattern.findall(str(error)))
            return next((name for name in found if name.lower() not in _NO_PACKAGE), _UNNAMED)
        error, seen = error.__cause__ or error.__context__, seen + 1
    return ""


def how_to_install(package: str) -> str:
    """The suggestion for a missing dependency; the default one if its name is unknown."""
    return "" if package == _UNNAMED else f"install {package} in the toolchain"


def check_library(library: str, config) -> None:
    if not isinstance(config, dict):
        raise Stop("failed_create", f"config.json holds a {_json_kind(config)}, not an object",
                   "correct config.json: it must be an object")
    if (library or "").lower() in _UNSUPPORTED_LIBRARIES:
        raise Stop("skipped_unsupported_library", f"library {library} is not transformers")
    if "model_type" not in config and "architectures" not in config:
        if "_class_name" in config:
            raise Stop("skipped_unsupported_library", f"{config['_class_name']} is a diffusers component")
        if "peft_type" in config:
            raise Stop("skipped_unsupported_library", "a PEFT adapter, not a model")
    if not config:
        raise Stop("skipped_no_config", "config.json is empty", "none: from an empty config.json no model can be built")


def _json_kind(value) -> str:
    kinds = {list: "list", str: "text", bool: "boolean", int: "number", float: "number", type(None): "null"}
    return kinds.get(type(value), type(value).__name__)


def _architecture_names(job: dict, config: dict) -> list:
    listed = config.get("architectures")
    names = [job.get("architecture")] + (listed if isinstance(listed, list) else [])
    return [name for name in names if isinstance(name, str) and name.isidentifier()]


def _exported(name: str):
    """The model class with this name in the installed library, or None."""
    import transformers

    cls = getattr(transformers, name, None)
    return cls if isinstance(cls, type) and hasattr(cls, "forward") else None


def config_class_of(job: dict, config: dict):
    """The library's config class for this model. Raises Stop; code from the repository is never used."""
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING

    model_type = config.get("model_type")
    auto_map = isinstance(config.get("auto_map"), dict)
    if "pretrained_cfg" in config and model_type in (None, "timm_wrapper"):
        return CONFIG_MAPPING["timm_wrapper"]
    if isinstance(model_type, str) and model_type in CONFIG_MAPPING:
        return CONFIG_MAPPING[model_type]
    for name in _architecture_names(job, config):
        cls = _exported(name)
        if cls is not None and getattr(cls, "config_class", None) is not None and (
                not model_type or cls.config_class.model_type == model_type):
            return cls.config_class
    if auto_map:
        what = f"model_type {model_type!r}" if model_type else "a config without model_type"
        raise Stop("skipped_custom_code", f"{what} needs code from the repository, which is refused")
    if model_type is None:
        if not _architecture_names(job, config):
            raise Stop("failed_create", "config.json has neither model_type nor architectures", _ADD_TYPE)
        raise Stop("failed_create", "config.json has no model_type", _ADD_TYPE)
    name = str(model_type)[:80]
    raise Stop("failed_create", f"unknown model_type {name!r}", f"use a toolchain whose transformers knows {name}")


def make_config(config_class, values: dict):
    """(config object, notes). Quantization is ignored: it changes weights, and its kernels need other hardware."""
    values = decode_floats(values)
    notes = []
    if strip_quantization(values):
        notes.append("quantization_config ignored")
    values.pop("auto_map", None)
    try:
        # A config with a type only is the default of the class: from_dict of some classes takes missing keys for null.
        return (from_dict(config_class, values) if values.keys() - {"model_type"} else config_class()), notes
    except Exception as error:
        if (package := missing_dependency(error)):
            raise Stop("skipped_missing_dependency", f"{config_class.__name__} needs {package}",
                       how_to_install(package)) from error
        raise


def from_dict(config_class, values: dict):
    """The library's from_dict, without printing the config: some releases do so for a log that is off. Printing makes
    the defaults of all parts, which may read the Hub or fail."""
    from transformers import PretrainedConfig as base

    with restore.replaced(base, __repr__=object.__repr__):
        return config_class.from_dict(values)


def decode_floats(value):
    """A copy of JSON values in which {"__float__": "Infinity"} is a number: JSON has no infinity."""
    if isinstance(value, list):
        return [decode_floats(item) for item in value]
    if not isinstance(value, dict):
        return value
    if value.keys() == {"__float__"} and value["__float__"] in ("Infinity", "-Infinity", "NaN"):
        return float(value["__float__"])
    return {key: decode_floats(item) for key, item in value.items()}


def strip_quantization(values: dict) -> bool:
    found = values.pop("quantization_config", None) is not None
    for value in values.values():
        if isinstance(value, dict):
            found = strip_quantization(value) or found
    return found


def model_class_of(job: dict, values: dict, config):
    """(class, note), from `architecture`, the config's list, the Auto class of the task or the plain Auto class."""
    names = _architecture_names(job, values)
    for name in names:
        cls = _exported(name)
        if cls is not None and _fits(cls, config):
            return cls, ""
    note = f"{names[0]} is not a class of the library; " if names else "no architectures; "
    for auto in (_AUTO_BY_TASK.get(job.get("task") or ""), "AutoModel", "AutoModelForPreTraining",
                 "AutoModelForCausalLM", "AutoModelForImageTextToText"):
        cls = _auto_class(auto, config)
        if cls is not None:
            return cls, f"{note}{auto} returned {cls.__name__}"
    what = f"the library has no class {names[0]}" if names else "config.json names no architectures"
    raise Stop("failed_create", f"{what}, and no Auto class takes {type(config).__name__}",
               f"use a toolchain whose transformers has {names[0]}" if names else
               "add architectures to the config: the name of the model class")


def stand_in(cls, config) -> tuple:
    """(class, config, note) of what is captured: the class itself, or a part if the class has no forward."""
    if cls.forward.__name__ != "_forward_unimplemented":
        wanted = getattr(cls, "config_class", None)
        if wanted is not None and not isinstance(config, wanted):
            for name, part in vars(config).items():  # an Auto class may have returned the class of a part
                if isinstance(part, wanted):
                    return cls, part, f"{cls.__name__} is the model of {name} only"
        return cls, config, ""
    key, name = _STAND_INS.get(cls.__name__, ("", ""))
    part, part_class = getattr(config, key, None) if key else None, _exported(name) if name else None
    if part is None or part_class is None:
        raise Stop("failed_create", f"{cls.__name__} has no forward of its own: nothing to capture",
                   "name one of its parts as the architecture: the class has no forward")
    return part_class, part, f"{cls.__name__} has no forward of its own, its {part_class.__name__} is captured"


def _fits(cls, config) -> bool:
    wanted = getattr(cls, "config_class", None)
    return wanted is None or isinstance(config, wanted) or wanted.model_type == config.model_type or (
        config.model_type.split("_")[0] == wanted.model_type.split("_")[0])


def _auto_class(name, config):
    if not name:
        return None
    import transformers

    mapping = getattr(transformers, name)._model_mapping
    try:
        found = mapping[type(config)]
    except KeyError:
        return None
    if isinstance(found, (tuple, list)):
        found = found[0]
    return found
