"""Changes of objects, classes and modules that are undone afterwards. Each function here is a context manager."""

import contextlib
import os

_INHERITED = object()


@contextlib.contextmanager
def replaced(owner, **values):
    """Inside this context, the attributes of `owner` have these values. At its end, each has its value again, and one
    that was inherited is inherited again."""
    before = {name: vars(owner).get(name, _INHERITED) for name in values}
    for name, value in values.items():
        setattr(owner, name, value)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is _INHERITED:
                delattr(owner, name)
            else:
                setattr(owner, name, value)


@contextlib.contextmanager
def kept(modules):
    """Undoes what the code inside this context leaves on modules of torch, such as fake tensors in a model's own
    caches. The tensors themselves are not copied."""
    before = [(module, dict(vars(module)), dict(module._buffers)) for module in modules]
    try:
        yield
    finally:
        for module, attributes, buffers in before:
            vars(module).clear()
            vars(module).update(attributes)
            module._buffers.clear()
            module._buffers.update(buffers)


@contextlib.contextmanager
def environment(**values):
    """Inside this context, the variables of the environment have these values."""
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value
