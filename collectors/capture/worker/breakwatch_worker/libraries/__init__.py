"""Models of other libraries than transformers: timm, sentence-transformers, pipelines and components of diffusers."""


def run_class_of(job: dict):
    """The class that runs this job, or None for a plain transformers model."""
    values = job.get("config")
    if not isinstance(values, dict):
        return None
    if isinstance(values.get("model_index"), dict) and isinstance(values.get("components"), dict):
        from .pipeline import PipelineRun

        return PipelineRun
    if isinstance(values.get("_class_name"), str) and "model_type" not in values and "architectures" not in values:
        from .diffusers_model import ComponentRun

        return ComponentRun
    if isinstance(values.get("architecture"), str) and "pretrained_cfg" in values and not values.get("model_type"):
        from .timm_model import TimmRun

        return TimmRun
    if (job.get("library") or "").lower() == "sentence-transformers":
        from .sentence import EncoderRun

        return EncoderRun
    return None


def has_recipes(found) -> bool:
    """Whether a class returned by `run_class_of` makes its inputs from recipes.yaml."""
    return found is None or found.__module__ == f"{__name__}.sentence"
