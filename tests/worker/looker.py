"""A real zygote whose child reports what it can see instead of capturing."""

import json
import os
import sys

from breakwatch_worker.process import child, zygote
from breakwatch_worker.process.lines import write_line


def body(job, depth, scratch, protocol):
    def run(result_fd, output_fd):
        child._confine(job, output_fd, protocol, scratch)
        descriptors = {}
        for name in os.listdir("/proc/self/fd"):
            try:
                target = os.readlink(f"/proc/self/fd/{name}")
            except OSError:
                continue
            if not target.startswith("/proc"):
                descriptors[name] = target
        seen = {"environment": dict(os.environ), "descriptors": descriptors, "session": os.getsid(0) == os.getpid(),
                "threads": len(os.listdir("/proc/self/task"))}
        write_line(result_fd, {"type": "result", "status": "full_graph", "detail": json.dumps(seen), "phase": "done"})
        os._exit(0)

    return run


if __name__ == "__main__":
    child.body = body
    code = zygote.main()
    sys.stderr.flush()
    os._exit(code)
