"""Captures the encoder of a sentence-transformers repository: config.json describes the encoder."""

from .. import model_run
from ..process.ends import CAPTURED


class EncoderRun(model_run.ModelRun):
    """The encoder as transformers builds it. The pooling after it has few operations and is described in
    modules.json."""

    def run(self) -> dict:
        result = super().run()
        if result.get("status") in CAPTURED:
            result["detail"] += "; the encoder only, without pooling"
        return result
