"""Reading a config.json into a config object."""

import math

import pytest
from breakwatch_worker import architecture


def test_a_float_that_json_cannot_spell_is_a_number_again():
    decoded = architecture.decode_floats({"limit": [0.0, {"__float__": "Infinity"}], "low": {"__float__": "-Infinity"},
                                          "none": {"__float__": "NaN"}})
    assert decoded["limit"] == [0.0, math.inf]
    assert decoded["low"] == -math.inf
    assert math.isnan(decoded["none"])


@pytest.mark.parametrize("value", [{"__float__": "1e5"}, {"__float__": [1]}, {"__float__": "NaN", "x": 1}])
def test_what_only_looks_like_one_stays(value):
    assert architecture.decode_floats(value) == value


def test_decoding_leaves_the_given_values_alone():
    values = {"inner": {"a": 1}}
    architecture.decode_floats(values)["inner"]["a"] = 2
    assert values == {"inner": {"a": 1}}
