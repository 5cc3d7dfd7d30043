"""A real zygote that also keeps the configuration and the arguments of each call that mode `fix` captures, in the file
that the job's field `keep` names."""

import os
import pickle
import sys

from breakwatch_worker.modes import table
from breakwatch_worker.modes.fix import Fix
from breakwatch_worker.process import zygote


class Keeping(Fix):
    def configure(self, job: dict) -> None:
        super().configure(job)
        self._file = job["keep"]

    def capture(self, call):
        cls = type(call.model)
        with open(self._file, "wb") as file:
            pickle.dump({"module": cls.__module__, "class": cls.__name__, "config": call.model.config,
                         "inputs": call.by_name()}, file)
        return super().capture(call)


if __name__ == "__main__":
    table._MODES["fix"] = Keeping
    code = zygote.main()
    sys.stderr.flush()
    os._exit(code)
