"""Small models through a real zygote of every installed toolchain."""

import pytest
from worker_support import BERT, Zygote
from zoo_test import PRESENT, python_of

LONGFORMER = {
    "model_type": "longformer", "architectures": ["LongformerModel"], "hidden_size": 32, "num_hidden_layers": 2,
    "num_attention_heads": 2, "intermediate_size": 64, "vocab_size": 99, "attention_window": [8, 8],
}


@pytest.fixture(scope="module", params=PRESENT[1:])  # the test of the zoo is skipped for a missing toolchain
def other(request):
    made = Zygote(python_of(request.param), "-m", "breakwatch_worker")
    made.hello = made.receive("hello")
    yield request.param, made
    made.close()


def test_a_zygote_reports_its_toolchain(other):
    name, made = other
    assert f"torch{made.hello['torch'].split('+')[0]}-transformers{made.hello['transformers']}" == name


def test_a_model_without_breaks_is_one_graph(other):
    result = other[1].capture(BERT)
    assert (result["status"], result["graphs"], result["unexplained_events"]) == ("full_graph", 1, 0), result
    assert result["segments"][0]["ops_total"] == result["ops_captured"] > 0


def test_a_model_with_breaks_has_sites_modules_and_segments(other):
    result = other[1].capture(LONGFORMER)
    assert (result["status"], result["unexplained_events"]) == ("graph_breaks", 0), result
    assert sum(site["occurrences"] for site in result["sites"]) == result["breaks"]
    assert result["sites"][0]["module_path"] and result["sites"][0]["frame"] == "library"
    assert len(result["segments"]) == result["graphs"]
    ended = {segment["ended_by"] for segment in result["segments"]}
    assert ended <= {site["site_id"] for site in result["sites"]} | {""}
