"""Small modules that break, for tests of mode `fix`. Nothing of breakwatch is imported here, because plain torch also
reads this file."""

import logging

import torch

logger = logging.getLogger(__name__)


class Layers(torch.nn.Module):
    """Two layers of the same size."""

    def __init__(self):
        super().__init__()
        self.first, self.second = torch.nn.Linear(4, 4), torch.nn.Linear(4, 4)


class Whole(Layers):
    def forward(self, x):
        return self.second(self.first(x))


class ReadsAValue(Layers):
    def forward(self, x):
        x = self.first(x)
        return self.second(x * x.sum().item())


class SizeDependsOnData(Layers):
    """Whole with symbols for numbers and for sizes, not with one of them alone."""

    def forward(self, x):
        x = self.first(x)
        return self.second(x * x.sum().item()).sum() + torch.nonzero(x).float().sum()


class Prints(Layers):
    def forward(self, x):
        x = self.first(x)
        print("half done")
        return self.second(x)


class Logs(Layers):
    def forward(self, x):
        x = self.first(x)
        logger.warning("half done")
        return self.second(x)


class PrintsAndReads(Layers):
    def forward(self, x):
        x = self.first(x)
        print("half done")
        return self.second(x * x.sum().item())


class BreaksItself(Layers):
    """Nothing that a caller sets removes this break."""

    def forward(self, x):
        x = self.first(x)
        torch._dynamo.graph_break()
        return self.second(x)


class Helper(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = BreaksItself()

    def forward(self, x):
        return self.inner(x) + 1


class Switched(Layers):
    """Breaks while `checked` is true. `scale` changes what it returns."""

    def __init__(self):
        super().__init__()
        self.checked, self.scale = True, 1.0

    def forward(self, x):
        x = self.first(x)
        if self.checked:
            torch._dynamo.graph_break()
        return self.second(x) * self.scale


class MoreOutputs(Layers):
    """Returns what a caller may not need, with a break."""

    def forward(self, x, use_cache=True):
        x = self.first(x)
        if not use_cache:
            return {"y": self.second(x)}
        torch._dynamo.graph_break()
        return {"y": self.second(x), "cache": x}


class Draws(Layers):
    """Other results in every call, whatever the seed."""

    calls = 0

    def forward(self, x):
        torch._dynamo.graph_break()
        return self.second(x) + torch.rand((), generator=torch.Generator().manual_seed(torch.seed() % 1000))


def printing_module():
    return PrintsAndReads(), {"x": torch.ones(2, 4)}
