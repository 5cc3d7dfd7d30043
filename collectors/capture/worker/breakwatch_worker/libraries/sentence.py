"""A sentence-transformers repository: its config.json is the encoder's."""

from .. import model_run
from ..process.ends import CAPTURED


class EncoderRun(model_run.ModelRun):
    """The encoder as transformers builds it. Its pooling is an operation or two behind it, and needs modules.json."""

    def run(self) -> dict:
        result = super().run()
        if result.get("status") in CAPTURED:
            result["detail"] += "; the encoder, without its pooling"
        return result
