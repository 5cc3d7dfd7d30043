"""Models of libraries other than transformers: timm, and diffusers' pipelines and single components."""


def run_class_of(job: dict):
    """The attempt for this job, or None where transformers is the library."""
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
    """Whether an attempt, as `run_class_of` gives it, makes its inputs of recipes.yaml."""
    return found is None or found.__module__ == f"{__name__}.sentence"
