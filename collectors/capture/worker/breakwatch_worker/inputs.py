"""The arguments of one forward call, from the config and the signature. The recipes are data: recipes.yaml."""

import functools
import inspect
import os
import re

import torch
import yaml

from .make_values import CannotMake, NodeSizes, Sizes, make_value, sub_configs

_PLACEHOLDERS = (  # token of a modality, the argument it stands for, the method that says how many it takes
    (("image_token_id", "image_token_index"), "pixel_values", "get_image_features"),
    (("audio_token_id", "audio_token_index"), "input_features", "get_audio_features"),
    (("audio_token_id", "audio_token_index"), "input_values", "get_audio_features"),
    (("video_token_id", "video_token_index"), "pixel_values_videos", "get_video_features"),
    (("video_token_index",), "pixel_values", "get_video_features"),
)


@functools.cache
def load_recipes() -> dict:
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "recipes.yaml"), encoding="utf-8") as file:
        return yaml.safe_load(file)


class Plan:
    """What is passed to one class, and how it is made: the general recipes with the rules that match it."""

    def __init__(self, model, config, variant: dict):
        recipes = load_recipes()
        parameters = inspect.signature(model.forward).parameters.values()
        self.names = {p.name for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)}
        self.required = [p.name for p in parameters if p.default is p.empty and p.name in self.names]
        self.main = getattr(model, "main_input_name", "input_ids")
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
        self.arguments.update(variant.get("arguments") or {})
        self.add += variant.get("add") or []
        self.omit |= set(variant.get("omit") or [])

    def _matches(self, when: dict, config) -> bool:
        """All conditions given must hold: of the model's type, a part's type, its class (a pattern), its signature."""
        tests = {
            "model_type": lambda wanted: self.types[0] in wanted,
            "part": lambda wanted: bool(set(self.types) & set(wanted)),
            "class": lambda pattern: re.search(pattern, self.class_name) is not None,
            "has": lambda wanted: set(wanted) <= self.names,
            "lacks": lambda wanted: not set(wanted) & self.names,
            "config_has": lambda wanted: all(self.sizes.find(name, None) is not None for name in wanted),
            "main": lambda wanted: self.main in wanted,
        }
        return all(tests[name](wanted) for name, wanted in when.items())

    def chosen(self) -> list:
        """The arguments to pass, in the order they are made."""
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
        return [name for name in wanted if name not in self.omit]


def fill_gaps(config) -> list:
    """A placeholder token that the config leaves open gets one of the last ids of the vocabulary. Says which."""
    notes = []
    vocab = Sizes(config, {})("vocab")
    for node in sub_configs(config):
        for offset, key in enumerate(key for keys, _, _ in _PLACEHOLDERS for key in keys):
            if key in vars(node) and getattr(node, key) is None and vocab > 64:
                setattr(node, key, vocab - 2 - offset)
                notes.append(f"{key} set")
    return notes


def fill_required(config, why: str) -> list:
    """Values that models need and configs may leave null or out. `why` is what the model said. Says which were set.

    Null is filled where the model could not be made, or named the key; a key that is not there where it was missed.
    """
    notes = []
    missed = re.search(r"'(\w+)' object has no attribute '(\w+)'", why)
    for node in sub_configs(config):
        for key, value in load_recipes()["gaps"].items():
            null = key in vars(node) and getattr(node, key) is None and (why.startswith("create:") or key in why)
            absent = missed and missed.groups() == (type(node).__name__, key)
            if not (null or absent):
                continue
            try:
                setattr(node, key, NodeSizes(node)(value))
            except CannotMake:
                continue
            notes.append(f"{key} set")
    return notes


def variants(model_class) -> list:
    """The ways of calling to try, most complete first."""
    names = set(inspect.signature(model_class.forward).parameters)
    return [variant for variant in load_recipes()["variants"] if set(variant.get("has", ())) <= names]


def make(model, config, variant: dict, vary: dict = None) -> dict:
    """The arguments by name. `vary` makes named sizes others: name -> (numerator, denominator) of what they were."""
    plan = Plan(model, config, variant)
    for name, (numerator, denominator) in (vary or {}).items():
        plan.sizes.define({name: plan.sizes(name) * numerator // denominator})
    made = {}
    for name in plan.chosen():
        recipe = plan.arguments.get(name)
        if recipe is None:
            if name in plan.required:
                raise CannotMake(f"no recipe for the required argument {name} of {plan.class_name}")
            continue
        try:
            if "only_if" in recipe and not plan.sizes(recipe["only_if"]):
                continue
            made[name] = make_value(name, recipe, plan.sizes)
        except CannotMake:
            if name in plan.required or name == plan.main:
                raise
    _keep_clear_of_tokens(made, plan)
    _place_tokens(model, made, plan)
    return made


def _special_ids(config) -> set:
    found = set()
    for node in sub_configs(config):
        for key, value in vars(node).items():
            if key.endswith(("_token_id", "_token_index", "_token_ids")):
                found |= {item for item in (value if isinstance(value, (list, tuple)) else [value])
                          if isinstance(item, int)}
    return found


def _keep_clear_of_tokens(made: dict, plan: Plan) -> None:
    """Random ids never are a special token; the last one is the end of the sequence, as a tokenizer leaves it."""
    special = _special_ids(plan.sizes.config)
    for name in ("input_ids", "decoder_input_ids"):
        ids = made.get(name)
        if not isinstance(ids, torch.Tensor) or ids.dim() != 2:
            continue
        vocab = plan.sizes("vocab")
        plain = [token for token in range(min(vocab, 4096)) if token not in special]
        if plain:
            made[name] = ids = torch.tensor(plain)[ids % len(plain)]
        end = getattr(plan.sizes.text, "eos_token_id", None)
        end = end[0] if isinstance(end, (list, tuple)) and end else end
        if name == "input_ids" and isinstance(end, int) and 0 <= end < vocab:
            ids[:, -1] = end


def _place_tokens(model, made: dict, plan: Plan) -> None:
    """Where text holds places for images or sounds, as many places as the model itself makes features."""
    ids = made.get("input_ids")
    if not isinstance(ids, torch.Tensor) or ids.dim() != 2:
        return
    for keys, argument, method in _PLACEHOLDERS:
        token = next((value for key in keys if isinstance(value := plan.sizes.find(key, None), int)), None)
        if token is None or argument not in made:
            continue
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
    """Rows of features the model makes of what is passed, summed over the batch; 0 where it has no such method."""
    best = {}
    chosen = None
    for owner in model.modules():  # outer models pass on whatever they get: an inner one says what it takes
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


def fresh(value):
    """A copy that the call may write into."""
    if isinstance(value, torch.Tensor):
        return value.clone()
    if isinstance(value, dict):
        return {key: fresh(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(fresh(item) for item in value)
    return value


def describe(value):
    """What is recorded: shape and type of tensors, plain values as they are."""
    if isinstance(value, torch.Tensor):
        return {"shape": list(value.shape), "dtype": str(value.dtype).removeprefix("torch.")}
    if isinstance(value, dict):
        return {str(key): describe(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [describe(item) for item in value]
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    return type(value).__name__


def is_finite(output) -> bool:
    """No NaN in any floating tensor of the output. Infinities are allowed: masks and log-probabilities hold them."""
    if isinstance(output, torch.Tensor):
        return not (output.is_floating_point() and bool(torch.isnan(output).any()))
    if isinstance(output, dict):
        return all(is_finite(item) for item in output.values())
    if isinstance(output, (list, tuple)):
        return all(is_finite(item) for item in output)
    return True
