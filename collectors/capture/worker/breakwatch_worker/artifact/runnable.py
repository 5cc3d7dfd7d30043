"""What a model is told so that its package runs without Python."""

_ITS_OWN_OPERATOR = "grouped_mm"  # registered in Python, so only a program with Python can run it
_OF_TORCH = "batched_mm"


def without_custom_operators(model) -> None:
    """Lets the experts of a model of transformers compute with operators of torch only. The results are the same, up to
    rounding; without its grouped product each token gets copies of its experts' weights."""
    config = getattr(model, "config", None)
    if getattr(config, "_experts_implementation", None) == _ITS_OWN_OPERATOR:
        model.set_experts_implementation(_OF_TORCH)
