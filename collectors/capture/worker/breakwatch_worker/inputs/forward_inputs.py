"""Makes the arguments of one forward call from the config and the signature. The recipes are data: recipes.yaml."""

import contextlib
import functools
import inspect
import itertools
import math
import re
import sys

import torch

from ..model import windows
from ..tables import for_release, read_beside
from ..text import clip
from . import calls
from .copies import fresh
from .make_values import CannotMake, Sizes, make_value, sub_configs

PLACEHOLDERS = (  # (config keys of a placeholder token, its argument, the method that makes the argument's features)
    (("image_token_id", "image_token_index"), "pixel_values", "get_image_features"),
    (("audio_token_id", "audio_token_index"), "input_features", "get_audio_features"),
    (("audio_token_id", "audio_token_index"), "input_values", "get_audio_features"),
    (("video_token_id", "video_token_index"), "pixel_values_videos", "get_video_features"),
    (("video_token_index",), "pixel_values", "get_video_features"),
)
TOKEN_SUFFIXES = ("_token_id", "_token_ids", "_token_index", "_patch_id")
_ITEMS, _TEXT_BYTES = 256, 400  # bounds on a list and on a text in the description of arguments


@functools.cache
def load_recipes() -> dict:
    """The recipes for the installed release of transformers."""
    return for_release(read_beside(__file__, "recipes.yaml"))


def names_of(parameters) -> set:
    """The arguments that a call can name: the parameters of forward, and those that forward passes on by **kwargs."""
    named = {p.name for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)}
    forwards_more = "input_ids" in named and any(p.kind == p.VAR_KEYWORD for p in parameters)
    return named | set(load_recipes()["forwarded"] if forwards_more else ())


class Plan:
    """The arguments for one class and their recipes: the general recipes, changed by the rules that match the class."""

    def __init__(self, model, config, variant: dict):
        recipes = load_recipes()
        parameters = inspect.signature(model.forward).parameters.values()
        self.names = names_of(parameters)
        self.required = [p.name for p in parameters if p.default is p.empty and p.name in self.names]
        main = getattr(model, "main_input_name", "input_ids")
        self.main = main[0] if isinstance(main, (list, tuple)) else main
        self.arguments = dict(recipes["arguments"])
        self.sizes = Sizes(config, recipes["sizes"])
        self.add, self.omit, self.prepare, self.tokens = [], set(), {}, None
        self.types = [node.model_type for node in sub_configs(config)]
        self.class_name = type(model).__name__
        for rule in recipes["rules"]:
            if self._matches(rule["when"], config):
                self.arguments.update(rule.get("arguments") or {})
                self.sizes.define(rule.get("sizes"))
                self.add += rule.get("add") or []
                self.omit |= set(rule.get("omit") or [])
                self.omit -= set(rule.get("add") or [])
                self.tokens = rule.get("tokens", self.tokens)
        usual = self.sizes("seq")
        self._length = windows.Length(config, usual, variant.get("trains", False))
        self.sizes.define({"usual_seq": usual, "seq": self._length.tokens})
        steps = variant.get("steps", [variant])
        self.call, self.step = variant.get("call") or calls.DEFAULT, steps[-1]
        calls.begin(self)
        for more in (*steps, variant.get("spec") or {}):
            self._apply(more)

    def _apply(self, more: dict) -> None:
        """Applies an input fix, a call variant or the user's inputs_spec. The last one wins. A size may use its old
        value."""
        self.sizes.define({name: self.sizes(value) for name, value in (more.get("sizes") or {}).items()})
        self.arguments.update(more.get("arguments") or {})
        self.tokens = more.get("tokens", self.tokens)
        self.add += more.get("add") or []
        self.omit -= set(more.get("add") or [])
        self.omit |= set(more.get("omit") or [])

    def too_short(self) -> list:
        """Notes for the result's detail: the windows of the config that the text does not exceed."""
        missed = self._length.missed(self.sizes("seq")) if "input_ids" in self.chosen() else []
        return [f"input shorter than {key}" for key in missed]

    def _matches(self, when: dict, config) -> bool:
        """Whether all conditions hold: on the model's type, a part's type, the class (a pattern), the signature, the
        config."""
        tests = {
            "model_type": lambda wanted: self.types[0] in wanted,
            "part": lambda wanted: bool(set(self.types) & set(wanted)),
            "class": lambda pattern: re.search(pattern, self.class_name) is not None,
            "has": lambda wanted: set(wanted) <= self.names,
            "lacks": lambda wanted: not set(wanted) & self.names,
            "config_has": lambda wanted: all(self.sizes.find(name, None) is not None for name in wanted),
            "config_null": lambda wanted: all(vars(config).get(name, "") is None for name in wanted),
            "main": lambda wanted: self.main in wanted,
        }
        return all(tests[name](wanted) for name, wanted in when.items())

    def recipe(self, name: str):
        """The recipe of an argument, by its name or by a pattern. None if there is none."""
        if name in self.arguments:
            return self.arguments[name]
        for pattern in load_recipes()["patterns"]:
            if re.search(pattern["name"], name):
                return pattern["recipe"]
        return None

    def chosen(self) -> list:
        """The arguments to pass, in the order in which they are made."""
        wanted = []
        for rule in load_recipes()["pass"]:
            name = rule["name"]
            if name not in self.names or self.main in rule.get("unless_main", ()):
                continue
            if "needs" in rule and rule["needs"] not in wanted or set(rule.get("unless_has", ())) & self.names:
                continue
            wanted.append(name)
        if self.main in self.names and self.main not in wanted:
            wanted.insert(0, self.main)
        wanted += [name for name in self.required if name not in wanted]
        wanted += [name for name in self.add if name not in wanted and name in self.names]
        return calls.chosen(self, [name for name in wanted if name not in self.omit])


def make(model, config, variant: dict, vary: dict = None) -> dict:
    """The arguments by name. `vary` changes sizes: name -> (numerator, denominator) of the old size."""
    plan = Plan(model, config, variant)
    for name, (numerator, denominator) in (vary or {}).items():
        with contextlib.suppress(CannotMake):  # this model does not have this size
            plan.sizes.define({name: plan.sizes(name) * numerator // denominator})
    made = {}
    for name in plan.chosen():
        recipe = plan.recipe(name)
        if recipe is None:
            if name in plan.required:
                raise _no_recipe(f"{name} of {plan.class_name}", name)
            continue
        try:
            if "only_if" in recipe and not plan.sizes(recipe["only_if"]):
                continue
            made[name] = _made(model, name, recipe, made.get(plan.main), plan.sizes)
        except CannotMake:
            if name in plan.required or name == plan.main:
                raise
    _replace_special_tokens(made, plan)
    _insert_placeholders(model, made, plan)
    return made


def _no_recipe(what: str, name: str) -> CannotMake:
    return CannotMake(f"no recipe for the required argument {what}",
                      f"describe {name} in an inputs file: there is no recipe for it")


def _made(model, name: str, recipe: dict, main, sizes):
    if recipe.get("kind") == "session":
        return _session(model, name, sizes)
    if recipe.get("kind") == "like_main":
        if not isinstance(main, torch.Tensor) or main.dim() not in (2, 3):
            raise CannotMake(f"no main input to take the length of {name} from")
        return torch.ones(main.shape[:2], dtype=torch.long)
    return make_value(name, recipe, sizes)


def _session(model, name: str, sizes):
    """A video session of the class in the signature: two frames, and one object given by a point or by its name."""
    kind = inspect.signature(model.forward).parameters[name].annotation
    if isinstance(kind, str):
        kind = getattr(sys.modules[type(model).__module__], kind.split(".")[-1], None)
    if not hasattr(kind, "add_point_inputs") and not hasattr(kind, "add_prompt"):
        raise _no_recipe(f"{name}: {kind}", name)
    height, width = sizes("height"), sizes("width")
    frames = make_value(name, {"kind": "normal", "shape": [2, "channels", "height", "width"]}, sizes)
    session = kind(video=frames, video_height=height, video_width=width, dtype=torch.float32)
    if hasattr(kind, "add_prompt"):
        prompt = session.add_prompt("an object")
        ids = make_value(name, {"kind": "ids", "low": 3, "below": "vocab", "shape": [1, "seq"]}, sizes)
        session.prompt_input_ids[prompt], session.prompt_attention_masks[prompt] = ids, torch.ones_like(ids)
        return session
    point = {"point_coords": torch.tensor([[[[width / 2, height / 2]]]]), "point_labels": torch.ones(1, 1, 1).long()}
    session.add_point_inputs(session.obj_id_to_idx(1), 0, point)
    session.obj_with_new_inputs = [1]
    return session


def _special_ids(config) -> set:
    found = set()
    for node in sub_configs(config):
        for key, value in vars(node).items():
            if key.endswith(TOKEN_SUFFIXES):
                found |= {item for item in (value if isinstance(value, (list, tuple)) else [value])
                          if isinstance(item, int)}
    return found


def _replace_special_tokens(made: dict, plan: Plan) -> None:
    """Replaces special tokens in random ids. The last id is the end of the sequence, as a tokenizer writes it."""
    special = _special_ids(plan.sizes.config)
    for name in ("input_ids", "decoder_input_ids"):
        ids = made.get(name)
        if not isinstance(ids, torch.Tensor) or ids.dim() < 2:
            continue
        vocab = plan.sizes("vocab")
        plain = [token for token in range(min(vocab, 4096)) if token not in special]
        if plain:
            made[name] = ids = torch.tensor(plain)[ids % len(plain)]
        end = getattr(plan.sizes.text, "eos_token_id", None)
        end = end[0] if isinstance(end, (list, tuple)) and end else end
        if name == "input_ids" and ids.dim() == 2 and isinstance(end, int) and 0 <= end < vocab:
            ids[:, -1] = end


def _insert_placeholders(model, made: dict, plan: Plan) -> None:
    """Inserts as many placeholder tokens for images or audio as the model itself makes features."""
    ids = made.get("input_ids")
    if not isinstance(ids, torch.Tensor) or ids.dim() != 2:
        return
    placed = set()
    for keys, argument, method in PLACEHOLDERS:
        token = next((value for key in keys if isinstance(value := plan.sizes.find(key, None), int)), None)
        if token is None or argument not in made or argument in placed:
            continue
        placed.add(argument)
        if plan.tokens is not None:
            per_sample = int(plan.sizes(plan.tokens))
        else:
            per_sample = _feature_count(model, method, argument, made) // ids.shape[0]
        if not per_sample:
            continue
        places = torch.full((ids.shape[0], per_sample), token, dtype=ids.dtype)
        ids = torch.cat([ids[:, :1], places, ids[:, 1:]], dim=1)
        _widen(made, "attention_mask", per_sample, 1)
        _widen(made, "token_type_ids", per_sample, 0)
        _widen(made, "mm_token_type_ids", per_sample, 2 if "video" in argument else 3 if "input" in argument else 1)
    made["input_ids"] = ids


def _widen(made: dict, name: str, count: int, value: int) -> None:
    old = made.get(name)
    if isinstance(old, torch.Tensor):
        middle = torch.full((old.shape[0], count), value, dtype=old.dtype)
        made[name] = torch.cat([old[:, :1], middle, old[:, 1:]], dim=1)


def _feature_count(model, method: str, argument: str, made: dict) -> int:
    """The rows of features that the model makes, summed over the batch. 0 if the model has no such method."""
    best = {}
    chosen = None
    for owner in model.modules():  # outer models pass on all arguments; the signature of an inner one names them
        function = getattr(owner, method, None)
        names = inspect.signature(function).parameters if function is not None else {}
        if argument in names:
            arguments = {name: value for name, value in made.items() if name in names}
            if len(arguments) > len(best):
                best, chosen = arguments, function
    if chosen is None:
        return 0
    with torch.no_grad():
        return _rows(chosen(**fresh(best)))


def _rows(features) -> int:
    if isinstance(features, torch.Tensor):
        return features.numel() // features.shape[-1]
    if hasattr(features, "pooler_output") and features.pooler_output is not None:
        return _rows(features.pooler_output)
    if hasattr(features, "last_hidden_state"):
        return _rows(features.last_hidden_state)
    if isinstance(features, (list, tuple)):
        first = features[0]
        return sum(_rows(item) for item in features) if isinstance(first, torch.Tensor) and first.dim() <= 3 else _rows(
            first)
    return 0


def describe(value):
    """The description of arguments in a result: shapes and types of tensors, plain values as they are, bounded."""
    if isinstance(value, torch.Tensor):
        return {"shape": [_described_size(size) for size in value.shape],
                "dtype": str(value.dtype).removeprefix("torch.")}
    if isinstance(value, dict):
        return {clip(str(key), _TEXT_BYTES): describe(item) for key, item in itertools.islice(value.items(), _ITEMS)}
    if isinstance(value, (list, tuple)):
        more = [f"and {len(value) - _ITEMS} more"] if len(value) > _ITEMS else []
        return [describe(item) for item in value[:_ITEMS]] + more
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)  # JSON has no infinity and no NaN
    if value is None or isinstance(value, (bool, int, float)):
        return value
    return clip(value if isinstance(value, str) else type(value).__name__, _TEXT_BYTES)


def _described_size(size):
    """The size of a dimension; for a ragged one the name that torch gives it."""
    try:
        return int(size)
    except Exception:  # the error differs between releases
        return clip(str(size), _TEXT_BYTES)


def _has_no_nan(tensor: torch.Tensor) -> bool:
    try:
        return not (tensor.is_floating_point() and bool(torch.isnan(tensor).any()))
    except (RuntimeError, NotImplementedError, TypeError):  # this kind of tensor does not support isnan
        return True


def is_finite(output) -> bool:
    """Whether no floating-point tensor of the output has a NaN. Infinities are allowed: masks have them."""
    if isinstance(output, torch.Tensor):
        return _has_no_nan(output)
    if isinstance(output, dict):
        return all(is_finite(item) for item in output.values())
    if isinstance(output, (list, tuple)):
        return all(is_finite(item) for item in output)
    return True
