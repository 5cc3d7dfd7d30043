"""One diffusers model (a ModelMixin): its class called on its config, reduced where possible, with generated inputs."""

import importlib

from ..model import architecture, sizes
from . import diffusers_inputs, diffusers_sizes
from .library_run import Candidate, LibraryRun, construct, need


def class_of(library: str, name: str):
    """The class of diffusers that model_index.json or `_class_name` names. None if it is not a module class."""
    import torch

    diffusers = need("diffusers")
    if not (isinstance(name, str) and name.isidentifier() and library.replace("_", "a").isidentifier()):
        raise architecture.Stop("failed_create", f"not the name of a class: {library[:40]}.{name[:80]}",
                                "correct the name of the class in the config")
    if library == "diffusers":
        cls = getattr(diffusers, name, None)
        if cls is None:
            raise architecture.Stop("failed_create", f"diffusers {diffusers.__version__} has no class {name}",
                                    f"use a toolchain whose diffusers has {name}")
    else:
        # A pipeline's own folder in the library; anything else would be code from the repository.
        try:
            cls = getattr(importlib.import_module(f"diffusers.pipelines.{library}"), name, None)
        except ModuleNotFoundError:
            cls = None
        if cls is None:
            raise architecture.Stop("skipped_custom_code", f"{library}.{name} is not a class of diffusers")
    if not (isinstance(cls, type) and issubclass(cls, torch.nn.Module)):
        return None
    return cls


class ComponentRun(LibraryRun):
    def candidates(self):
        values = architecture.decode_floats(self._job["config"])
        library = self._job.get("library") or "diffusers"
        cls = class_of(library if library not in ("", "transformers", "timm") else "diffusers", values["_class_name"])
        self._known = {"architecture": values["_class_name"], "model_type": "diffusers", "dtype": "float32"}
        if cls is None:
            raise architecture.Stop("skipped_unsupported_library", f"{values['_class_name']} is not a module",
                                    "none: only modules have a graph to capture")
        values.pop("quantization_config", None)
        if hasattr(cls, "config_class"):  # a pipeline's own module on top of a transformers model
            yield from self._of_transformers(cls, values)
            return
        if not hasattr(cls, "from_config"):
            raise architecture.Stop("failed_create", f"{cls.__name__} cannot be made from a configuration",
                                    "none: the class cannot be made without weights")
        defaults = diffusers_sizes.with_defaults(cls, values)
        for depth, note, config in diffusers_sizes.plans(cls, defaults, self._depth):
            yield Candidate(
                depth, note, lambda config=config: construct(lambda: cls.from_config(config)),
                lambda model, config=config: diffusers_inputs.make(model, config))

    def _of_transformers(self, cls, values: dict):
        config, _ = architecture.make_config(cls.config_class, values)
        for size in sizes.plans(config, self._depth):
            yield Candidate(
                size.depth, size.note, lambda size=size: construct(lambda: cls(size.make(cls.config_class))),
                lambda model: diffusers_inputs.make(model, {}))
