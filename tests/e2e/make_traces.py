"""Runs modules under TORCH_TRACE and under the worker's count at the same time: two counts of the same calls.

make_traces.py DIR: DIR/<module>/ is the trace, DIR/<module>.json the worker's count. Each module has its own process,
like a job.
"""

import json
import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "collectors/capture/worker"), str(ROOT / "tests/worker")]


def trace_one(kind, folder, handler):
    import torch
    from breakwatch_worker.dynamo.trace import trace

    handler.root_dir = str(folder / kind.__name__)
    os.mkdir(handler.root_dir)
    found = trace(kind().eval(), {"x": torch.ones(3)})
    (folder / f"{kind.__name__}.json").write_text(json.dumps(found.numbers(), default=str))


def main(folder):
    # Set before torch is imported: only then does torch create the handler.
    os.environ["TORCH_TRACE"] = str(folder)
    import torch._logging._internal as torch_logging
    import zoo
    from breakwatch_worker.dynamo import trace as _  # noqa: F401  imported before the processes part

    for kind in zoo.ALL:
        sys.stdout.flush()
        child = os.fork()
        if child == 0:
            try:
                trace_one(kind, folder, torch_logging.LOG_TRACE_HANDLER)
            finally:
                torch_logging.LOG_TRACE_HANDLER.flush()
                os._exit(0)
        assert os.waitpid(child, 0)[1] == 0, kind


if __name__ == "__main__":
    main(Path(sys.argv[1]))
