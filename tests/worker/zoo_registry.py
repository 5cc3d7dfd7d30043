"""Raises every type of break that has a registered id in this release of torch, in each form in which Dynamo raises
breaks."""

from breakwatch_worker.dynamo import breaks, compat
from torch._dynamo import exc

_unimplemented = getattr(exc, "unimplemented_v2", exc.unimplemented)  # with a type, as in torch 2.7 to 2.9


def raised(gb_type: str, **more) -> exc.Unsupported:
    try:
        _unimplemented(gb_type=gb_type, context="here", explanation="because", hints=[], **more)
    except exc.Unsupported as error:
        return error


FORMS = {
    "by itself": lambda gb_type: raised(gb_type),
    "replaced by another": lambda gb_type: raised("graph break in loop", from_exc=raised(gb_type)),
    "about an exception": lambda gb_type: raised(gb_type, from_exc=exc.ObservedTypeError()),
}


def ids_lost() -> list:
    """[(type, form)] for which the reason differs or lacks the registered id."""
    return [(gb_type, form) for gb_type, gb_id in compat.registry().items() for form, raise_on in FORMS.items()
            if breaks.reason_of(raise_on(gb_type))[:2] != (" ".join(gb_type.split()), gb_id)]
