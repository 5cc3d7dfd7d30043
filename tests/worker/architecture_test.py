"""Reading a config.json into a config object."""

import math

import pytest
from breakwatch_worker.model import architecture


def test_a_float_that_json_cannot_write_is_decoded():
    decoded = architecture.decode_floats({"limit": [0.0, {"__float__": "Infinity"}], "low": {"__float__": "-Infinity"},
                                          "none": {"__float__": "NaN"}})
    assert decoded["limit"] == [0.0, math.inf]
    assert decoded["low"] == -math.inf
    assert math.isnan(decoded["none"])


@pytest.mark.parametrize("value", [{"__float__": "1e5"}, {"__float__": [1]}, {"__float__": "NaN", "x": 1}])
def test_a_value_that_only_resembles_one_is_not_changed(value):
    assert architecture.decode_floats(value) == value


@pytest.mark.parametrize("text, package", [
    ("`kernels` is either not installed or uses an incompatible version. Please install a compatible version "
     "(0.9 <= version < 1), e.g. `pip install kernels==0.9`", "kernels"),
    ("`kernels` is either not installed or is too old. Please install a compatible version", "kernels"),
    ("NattenModel requires the natten library but it was not found in your environment. You can install it by "
     "referring to: shi-labs.com/natten . You can also install it with pip: `pip install natten`.", "natten"),
    ("LayoutLMv2Model requires the detectron2 library but it was not found in your environment. Check out the "
     "instructions on the installation page", "detectron2"),
    ("This modeling file requires the following packages that were not found in your environment: addict, "
     "einops. Run `pip install addict einops`", "addict"),
    ("Loading an AutoRound model requires auto-round library (`pip install 'auto-round>=0.5'`)", "auto-round"),
    ("Please install the latest version of PEFT `pip install -U peft`", "peft"),
    ("Please install bitsandbytes to use this method.", "bitsandbytes"),
    ("facexlib is not available.", "facexlib"),
    ("No module named 'timm.layers'", "timm.layers"),
    ("Please install InplaceABN:'pip install git+https://github.com/mapillary/inplace_abn.git'", "InplaceABN"),
    ("cannot import name 'x' from 'y'", "a package")])
def test_the_package_in_an_import_error_is_named(text, package):
    assert architecture.missing_dependency(ImportError(text)) == package


def test_an_import_error_behind_another_error_is_found_and_a_module_name_wins():
    error = RuntimeError("model")
    error.__cause__ = ModuleNotFoundError("No module named 'a'", name="mamba_ssm.ops")
    assert architecture.missing_dependency(error) == "mamba_ssm"
    assert architecture.missing_dependency(RuntimeError("install nothing")) == ""


def test_decoding_does_not_change_the_given_values():
    values = {"inner": {"a": 1}}
    architecture.decode_floats(values)["inner"]["a"] = 2
    assert values == {"inner": {"a": 1}}
