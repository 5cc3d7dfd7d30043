"""Mode `repro`: the capture of `eval`, and a Python file that repeats it with torch and transformers alone."""

import contextlib
import io

import torch
import torch._dynamo

from ..process import fork
from ..repro import script, values
from ..text import one_line
from .base import Call, Found, Mode

_DETAIL = 400


class Repro(Mode):
    """The file is in `mode_detail`, with the answer to whether it was seen to find the same in another process."""

    detail_bytes = 1000 << 10

    def capture(self, call: Call) -> Found:
        found, is_error = fork.call(self._found, call)
        if is_error:  # once more, for the error itself; nothing else is done in this process
            trace = self._trace(call)
            return Found(trace, error=trace.error)
        try:
            if call.positional:
                raise values.CannotWrite("its call has positional arguments")
            numbers = found.numbers()
            text = script.text_of(call.model, call.arguments,
                                  script.Found(numbers["sites"], numbers["dynamo_counter_breaks"]))
        except values.CannotWrite as error:
            return Found(found, mode_detail={"repro": {"script": "", "why_not": str(error)}})
        differs = fork.call(_run, text)
        return Found(found, mode_detail={"repro": {"script": text, "why_not": "", "differs": differs}})

    def _found(self, call: Call) -> tuple:
        """(the capture without what cannot leave this process, whether it failed)."""
        found = self._trace(call)
        failed = found.error is not None
        found.parts, found.error = [], None
        return found, failed


def _run(text: str) -> str:
    """Runs the file. What went wrong, or nothing."""
    torch._dynamo.reset()
    torch._dynamo.utils.counters.clear()  # of what this process did before
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            exec(compile(text, "repro.py", "exec"), {"__name__": "__main__"})
    except BaseException as error:  # including a SystemExit
        return one_line(f"{type(error).__name__}: {error}", _DETAIL)
    return ""
