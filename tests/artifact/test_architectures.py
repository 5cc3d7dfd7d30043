"""Packages of eight model classes of several families. `make artifacts` takes all that are listed."""

import architectures
import pytest
from packages_support import RUNNER, needs


@pytest.fixture(scope="module")
def zygote():
    import packages_support

    needs(RUNNER)
    made = packages_support.zygote()
    yield made
    made.close()


QUICK = architectures.listed(lambda entry: entry.get("quick"))


@pytest.mark.parametrize("entry", QUICK, ids=lambda entry: entry["class"])
def test_a_package_is_whole(zygote, entry, tmp_path):
    row = architectures.package_of(zygote, entry, tmp_path)
    assert architectures.is_whole(row), row


def test_thirty_classes_of_every_family_are_listed():
    entries = architectures.listed()
    assert len(entries) >= 30
    assert {entry["family"] for entry in entries} >= {
        "nlp", "vision", "audio", "multimodal", "tabular", "reinforcement_learning", "other"}
    assert len(QUICK) == 8
