"""Captures a timm model. Its config.json has the architecture, arguments and image size."""

import torch

from ..model.architecture import Stop
from .library_run import Candidate, LibraryRun, construct, need

_SIDE = 128  # large images are reduced to this if the model accepts any size


def _input_size(values: dict) -> tuple:
    """(channels, height, width) from the pretrained configuration."""
    pretrained = values.get("pretrained_cfg")
    size = pretrained.get("input_size") if isinstance(pretrained, dict) else None
    if isinstance(size, (list, tuple)) and len(size) == 3 and all(isinstance(n, int) and n > 0 for n in size):
        return tuple(size)
    return 3, 224, 224


class TimmRun(LibraryRun):
    def candidates(self):
        timm = need("timm")
        values = self._job["config"]
        name = values["architecture"]
        self._known = {"architecture": name, "model_type": "timm", "dtype": "float32"}
        if not timm.is_model(name):
            raise Stop("failed_create", f"timm {timm.__version__} has no model {name[:80]!r}",
                       f"use a toolchain whose timm has {name[:80]}")
        arguments = values.get("model_args") if isinstance(values.get("model_args"), dict) else {}
        # A configuration must not name files of this machine.
        arguments = {key: value for key, value in arguments.items() if key not in ("checkpoint_path", "cache_dir")}
        if isinstance(values.get("num_classes"), int):
            arguments = {"num_classes": values["num_classes"], **arguments}
        if isinstance(values.get("global_pool"), str):
            arguments = {"global_pool": values["global_pool"], **arguments}
        channels, height, width = _input_size(values)

        def make():
            return construct(lambda: timm.create_model(name, pretrained=False, **arguments))

        def call(height, width):
            # The first parameter of forward is called x or input.
            return lambda model: {_first_name(model): torch.randn(
                2, channels, height, width, generator=torch.Generator().manual_seed(7))}

        # A model that accepts any size gets a small image. One that checks the size fails and gets its own size.
        if height > _SIDE and width > _SIDE and self._depth != "original":
            note = f"image {height}x{width}->{_SIDE}x{_SIDE}"
            yield Candidate("original", note, make, call(_SIDE, _SIDE))
        yield Candidate("original", "", make, call(height, width))


def _first_name(model) -> str:
    import inspect

    return next(iter(inspect.signature(model.forward).parameters))
