"""A module as the exported program that AOTInductor and ONNX are made of."""

import torch


def exported(module: torch.nn.Module, positional: tuple, named: dict = None, dynamic_shapes=None):
    with torch.no_grad():
        return torch.export.export(module, positional, named, dynamic_shapes=dynamic_shapes, strict=False)
