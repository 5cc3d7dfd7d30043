"""Makes a draft as small as the break allows. Each step is tried in a fork, and kept if the site is still there."""

import dataclasses
import time

from . import alone, config, run, smaller
from .draft import Draft

_EACH_S = 60.0  # for one capture
_MOST_PARTS = 48  # attempts to leave out values of the config


class Search:
    """Owner: the process of the capture, which makes the forks. `best` always shows the site. `done` says what was
    reduced; `outside` why no module of the model is alone; `kept` has larger drafts, each with what was reduced."""

    def __init__(self, draft: Draft, site_id: str, end: float):
        self.best, self.seen = draft, run.Seen(error="it was not tried")
        self.done, self.outside, self.kept = [], "", []
        self.stopped = False
        self._site_id, self._end = site_id, end

    def run(self, module_path: str) -> bool:
        """False if not even the first draft shows the site: then nothing was reduced."""
        if not self._try(self.best):
            return False
        self._keep()  # what to give if the smaller one fails in another process
        self._narrow()
        self._one_layer()
        self._keep()
        self._alone(module_path)
        self._fewer_arguments()
        self._smaller_arguments()
        self._shorter_config()
        self._draw_integers()
        return True

    def _keep(self) -> None:
        self.kept.append((self.best, list(self.done)))

    def site(self) -> dict:
        """The site as `best` shows it."""
        return self.seen.site(self._site_id)

    def _left(self) -> float:
        return self._end - time.monotonic()

    def _try(self, draft: Draft, what: str = "") -> bool:
        """Captures the draft. If it shows the site, it is the best one."""
        if self._left() <= 0:
            self.stopped = True
            return False
        seen = run.capture(draft, min(self._left(), _EACH_S))
        if seen.site(self._site_id) is None or (self.kept and seen.parameters > self.seen.parameters):
            self.seen = self.seen if self.kept else seen
            return False
        self.best, self.seen = draft, seen
        if what and what not in self.done:
            self.done.append(what)
        return True

    def _with(self, **changes) -> Draft:
        return dataclasses.replace(self.best, **changes)

    def _narrow(self) -> None:
        whole = self._whole_tree()
        if whole is not None and (tree := smaller.narrower(whole)) is not None:
            self._try_tree(tree, "smaller widths")

    def _one_layer(self) -> None:
        """All numbers of layers together; if that fails, one after another."""
        if not self._reduce_layers(one_by_one=False):
            self._reduce_layers(one_by_one=True)

    def _reduce_layers(self, one_by_one: bool) -> bool:
        reduced = False
        for keys in smaller.layer_keys(self._whole_tree() or {}, one_by_one):
            tree = self._whole_tree()  # with the keys before it reduced
            reduced |= tree is not None and self._try_tree(smaller.with_one_layer(tree, keys), "one layer")
        return reduced

    def _whole_tree(self):
        """The best config with the values that its class sets."""
        return run.in_fork(_EACH_S, _everything, self.best)

    def _try_tree(self, tree: dict, what: str) -> bool:
        """`tree` has every value; the draft gets those that matter."""
        written = run.in_fork(_EACH_S, _written, self.best.config_class, tree)
        return written is not None and self._try(self._with(tree=written), what)

    def _alone(self, module_path: str) -> None:
        paths = alone.above(module_path)
        if not paths:
            self.outside = "the break is in the model's own forward"
            return
        found = run.in_fork(min(max(self._left(), 1), _EACH_S), alone.drafts, self.best, module_path)
        if found is None:
            self.outside = "the arguments of its modules could not be recorded"
        for path, draft, why in found or ():
            if draft is None:
                self.outside = self.outside or f"{path}: {why}"
            elif self._try(draft, f"{path} alone"):
                self.outside = ""
                return
            else:
                self.outside = self.outside or f"{path} does not break alone"

    def _fewer_arguments(self) -> None:
        for name in smaller.optional_arguments(self.best):
            self._try(smaller.without_argument(self.best, name), "fewer arguments")

    def _smaller_arguments(self) -> None:
        for size in smaller.sizes(self.best):
            for new, first in ((1, 0), (2, 0), (2, size - 2)):  # the last token of a sequence may matter
                if new < size and self._try(smaller.with_size(self.best, size, new, first), "smaller arguments"):
                    break

    def _shorter_config(self) -> None:
        """Leaves out values of the config: all, then halves of what is left, and so on."""
        parts, attempts = [smaller.without_keys(self.best.tree)], 0
        while parts and attempts < _MOST_PARTS and not self.stopped:
            part = parts.pop(0)
            attempts += 1
            if not part or self._try(self._with(tree=smaller.removed(self.best.tree, part)), "fewer config values"):
                continue
            if len(part) > 1:
                parts += [part[:len(part) // 2], part[len(part) // 2:]]

    def _draw_integers(self) -> None:
        self._try(self._with(exact=False))


def _everything(draft: Draft) -> dict:
    return config.make(draft.config_class, draft.tree).to_dict()


def _written(config_class, tree: dict) -> dict:
    return config.written(config.make(config_class, tree))
