"""The HTTP API of a real daemon against its OpenAPI document, with generated requests."""

import json
import re
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest
from e2e_support import get
from test_api import TOKEN, ended, post

EXAMPLES, SEED, DEADLINE_S = 8, 1, 110
# Without the stream, which never ends (test_events.py), and without requests for sweeps of the whole ranking.
LEFT_OUT = ["getEvents"]
CHECKS = ["not_a_server_error", "status_code_conformance", "content_type_conformance", "response_headers_conformance",
          "response_schema_conformance", "unsupported_method", "allow_header_conformance", "ignored_auth"]  # fmt: skip


@pytest.fixture
def address(breakwatch, hub):
    """A daemon with results of two sweeps."""
    hub.model("org/broken", 3, sites=[["a reason", "GB0001", 3], ["another", "", 1]])
    hub.model("org/whole", 2)
    hub.model("org/failing", 1, status="failed_eager", suggestion="install it")
    child, address = breakwatch.serve(BREAKWATCH_WEB_TOKEN=TOKEN)
    for _ in range(2):
        _, _, headers = post(address, {"rebuild": "always"})
        assert ended(address, headers["Location"])["state"] == "done"
    yield address
    assert child.poll() is None, "the daemon ended"
    child.terminate()
    child.wait(timeout=DEADLINE_S)


def schema_of(document, path):
    """JSON pointer to the schema of a 200 of the most literal template that matches a path."""
    templates = [t for t in document["paths"] if re.fullmatch(re.sub(r"{[^}]+}", "[^/]+", t), path)]
    template = min(templates or ["/api/v1/models/{model}"], key=lambda t: t.count("{"))
    return f"/paths/{template.replace('/', '~1')}/get/responses/200/content/application~1json/schema"


def test_every_response_is_as_the_document_says(address, tmp_path):
    schemathesis = Path(sys.executable).with_name("schemathesis")
    if not schemathesis.exists():
        pytest.skip("schemathesis is not installed: make test installs tests/requirements.lock")
    left_out = [option for operation in LEFT_OUT for option in ("--exclude-operation-id", operation)]
    done = subprocess.run(
        [str(schemathesis), "run", address + "/api/v1/openapi.json", "--checks", ",".join(CHECKS), *left_out,
         "--phases", "examples,coverage,fuzzing", "--max-examples", str(EXAMPLES), "--seed", str(SEED),
         "--workers", "2", "--header", f"Authorization: Bearer {TOKEN}", "--request-timeout", "20", "--no-shrink",
         "--warnings", "off", "--suppress-health-check", "all"],
        capture_output=True, text=True, timeout=DEADLINE_S, cwd=tmp_path)  # fmt: skip
    assert done.returncode == 0, done.stdout[-20000:] + done.stderr[-2000:]


def test_lists_of_a_real_store_agree(address):
    document = json.loads(get(address + "/api/v1/openapi.json")[1])

    def ask(path):
        answer = json.loads(get(address + "/api/v1/" + path)[1])
        jsonschema.validate(answer, document | {"$ref": "#" + schema_of(document, "/api/v1/" + path.split("?")[0])})
        return answer

    models = ask("models?sort=-breaks")
    assert [m["model"] for m in models["models"]] == ["org/broken", "org/whole", "org/failing"]
    assert (models["models_tracked"], models["models_with_numbers"], models["next"]) == (3, 2, None)
    newest, older = (sweep["sweep_id"] for sweep in ask("sweeps")["sweeps"])
    assert ask("sweeps?limit=1")["next"] == newest
    pages, path = [], f"sweeps/{newest}/results?limit=1"
    while path:
        page = ask(path)
        pages += page["results"]
        path = page["next"] and f"sweeps/{newest}/results?limit=1&cursor={page['next']}"
    assert [row["model"] for row in pages] == ["org/broken", "org/whole", "org/failing"]
    assert [row["model"] for row in ask("plan?limit=2")["models"]] == ["org/broken", "org/whole"]
    assert {row["sweep_id"] for row in ask("history?model=org/broken")["history"]} == {newest, older}
    sites = ask("sites")["sites"]
    assert {site["gb_id"] for site in sites} == {"GB0001", ""}
    assert ask("sites/" + sites[0]["site_id"].replace(" ", "%20"))["with_site"][0]["model"] == "org/broken"
    assert ask("reasons/GB0001")["with_reason"][0]["model"] == "org/broken"
    assert ask(f"compare?a={older}&b={newest}&all=true")["verdicts"]["same"] == 3
    assert ask("compare?a=previous&b=latest")["models"] == []
    assert ask("captures/" + models["models"][0]["capture_id"])["breaks"] == 4
    assert ask("families")["families"][0]["full_graph_share"] == 0.5
    assert ask("models/org/broken")["breaks"] == 4
    assert [row["example_model"] for row in ask(f"sweeps/{newest}/failures")["failures"]] == ["org/failing"]
    for path in ("status", "exporters", "quarantine", "version", "requests", "dead-letters", "model-ids", "results",
                 "trends", "trends?by=family", "trends?by=reason", f"sweeps/{newest}", f"sweeps/{newest}/reasons"):
        ask(path)
    assert {setting["key"] for setting in ask("settings")["settings"]} >= {"web.token", "hub.top"}
    assert TOKEN not in get(address + "/api/v1/settings")[1]
