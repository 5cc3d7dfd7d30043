"""The real huggingface_hub client, and transformers, against the replayed Hub."""

import json
import os
import ssl
import subprocess
import sys
import threading
from pathlib import Path
from socket import create_server

import pytest

huggingface_hub = pytest.importorskip("huggingface_hub")
httpx2 = pytest.importorskip("httpx2")

from huggingface_hub import HfApi, errors  # noqa: E402
from huggingface_hub.utils import _http, get_session, parse_ratelimit_headers  # noqa: E402
from replay_support import CONFIG, OLD_SHA, SHA, SNAPSHOT, safetensors, serving  # noqa: E402

VISIBLE = ["org/gone", "org/broken", "google-t5/t5-small", "org/with--dashes", "org/beta", "org/alpha"]


@pytest.fixture
def url(recording):
    with serving(recording.done(), "self") as address:
        yield address


@pytest.fixture
def api(url):
    return HfApi(endpoint=url, token=False)


@pytest.fixture
def no_waiting(monkeypatch):
    """The client's pauses between attempts, without waiting."""
    pauses = []
    monkeypatch.setattr(_http.time, "sleep", pauses.append)
    return pauses


def ids(models):
    return [model.id for model in models]


def python(code, **environment):
    """Runs code in its own process: the client reads its environment once, when it is imported."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("HF_", "TRANSFORMERS_"))}
    environment = kept | {"HF_HUB_DISABLE_PROGRESS_BARS": "1"} | environment
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


# --- listing ----------------------------------------------------------------------------------------------------------


def test_a_listing_of_pages_has_every_model_once(api, url):
    pages = []
    address = f"{url}/api/models?limit=2&sort=downloads"
    while address:
        answer = get_session().get(address)
        pages.append([model["id"] for model in answer.json()])
        address = answer.links.get("next", {}).get("url")
    assert [len(page) for page in pages] == [2, 2, 2]
    assert sum(pages, []) == VISIBLE
    assert ids(api.list_models(sort="downloads")) == VISIBLE


def test_a_limit_ends_the_listing(api):
    assert ids(api.list_models(sort="downloads", limit=2)) == VISIBLE[:2]


def test_link_names_the_hub_by_default(recording):
    with serving(recording.done()) as address:
        link = get_session().get(f"{address}/api/models?limit=2").headers["link"]
    assert link.startswith("<https://huggingface.co/api/models?limit=2&cursor=")


@pytest.mark.parametrize(
    ("sort", "first"),
    [
        ("downloads", "org/gone"),
        ("likes", "org/alpha"),
        ("last_modified", "org/gone"),
        ("created_at", "org/gone"),
        ("trending_score", "org/gone"),
    ],
)
def test_every_sort_key_orders(api, sort, first):
    assert ids(api.list_models(sort=sort))[0] == first


def test_filters_select(api):
    assert ids(api.list_models(filter=["transformers", "gpt2"])) == ["org/beta"]
    assert ids(api.list_models(author="google-t5")) == ["google-t5/t5-small"]
    assert ids(api.list_models(search="ALPH")) == ["org/alpha"]
    assert ids(api.list_models(gated=True)) == ["org/beta"]
    assert "org/beta" not in ids(api.list_models(gated=False))
    assert ids(api.list_models(num_parameters="min:6B,max:128B")) == ["org/beta"]
    assert "org/with--dashes" not in ids(api.list_models(pipeline_tag="fill-mask"))
    assert ids(api.list_models(search="none of them")) == []


def test_expand_returns_exactly_the_requested_fields(api):
    found = next(iter(api.list_models(search="alpha", expand=["sha", "safetensors", "gated", "trendingScore"])))
    assert (found.sha, found.safetensors.total, found.gated) == (SHA, 6, False)
    assert found.trending_score == 0.7000000000000001
    assert found.downloads is None
    assert next(iter(api.list_models(search="beta", expand=["gated"]))).gated == "auto"


def test_an_unknown_expand_value_is_refused_with_the_known_ones(api):
    with pytest.raises(errors.HfHubHTTPError) as refused:
        list(api.list_models(expand=["foo"]))
    text = str(refused.value)
    assert refused.value.response.status_code == 400
    known = text[text.index('"expand" must be one of [') :].split("[")[1].split("]")[0].split(", ")
    assert set(huggingface_hub.hf_api.ExpandModelProperty_T.__args__) <= set(known)


def test_full_and_config_add_fields(api):
    found = next(iter(api.list_models(search="alpha", full=True, fetch_config=True)))
    assert found.sha == SHA
    assert found.private is False


def test_a_model_may_come_again_on_the_next_page(recording):
    recording.write("faults.json", {"repeat_across_pages": True})
    with serving(recording.done(), "self") as address:
        listed = []
        page = f"{address}/api/models?limit=3&sort=downloads"
        while page:
            answer = get_session().get(page)
            listed += [model["id"] for model in answer.json()]
            page = answer.links.get("next", {}).get("url")
    assert len(listed) > len(set(listed)) == 7


def test_a_page_that_fails_once_is_requested_again(recording, no_waiting):
    recording.write("faults.json", {"list": {"status": 504, "after": 1, "times": 1}})
    with serving(recording.done(), "self") as address:
        pages = huggingface_hub.utils.paginate(f"{address}/api/models", params={"limit": 3}, headers={})
        assert len(list(pages)) == 7
    assert no_waiting


def test_hf_models_ls_prints_json(url):
    command = ["hf", "models", "ls", "--format", "json"]
    code = f"import sys; from huggingface_hub.cli.hf import main; sys.argv = {command}; main()"
    assert {model["id"] for model in json.loads(python(code, HF_ENDPOINT=url))} == set(VISIBLE)


# --- one repository ---------------------------------------------------------------------------------------------------


def test_model_info_returns_the_head_and_an_older_commit(api):
    assert api.model_info("org/alpha").sha == SHA
    assert api.model_info("org/alpha", revision=OLD_SHA).sha == OLD_SHA
    assert api.model_info("org/alpha", expand=["downloads"]).downloads == 10


def test_model_info_knows_sizes_and_digests(api):
    siblings = {file.rfilename: file for file in api.model_info("org/alpha", files_metadata=True).siblings}
    assert siblings["README.md"].size == 8
    assert siblings["model.safetensors"].lfs.size == len(safetensors())


def test_a_renamed_id_leads_to_its_repository(api):
    assert api.model_info("t5-small").id == "google-t5/t5-small"


def test_an_id_with_two_dashes_is_its_own(api, url):
    # The client rejects such an id as an argument, but it can occur in listings.
    assert ids(api.list_models(search="with--dashes")) == ["org/with--dashes"]
    assert get_session().get(f"{url}/api/models/org/with--dashes").json()["id"] == "org/with--dashes"


def test_commits_refs_tree_and_paths(api):
    assert [commit.commit_id for commit in api.list_repo_commits("org/alpha")] == [SHA, OLD_SHA]
    assert api.list_repo_refs("org/alpha").branches[0].target_commit == SHA
    flat = [entry.path for entry in api.list_repo_tree("org/alpha")]
    deep = [entry.path for entry in api.list_repo_tree("org/alpha", recursive=True, expand=True)]
    assert flat == ["README.md", "config.json", "model.safetensors", "sub"]
    assert deep == [*flat, "sub/notes.txt"]
    infos = api.get_paths_info("org/alpha", ["config.json", "none", "sub"])
    assert [info.path for info in infos] == ["config.json", "sub"]


def test_safetensors_headers_are_read_by_range(api):
    metadata = api.get_safetensors_metadata("org/alpha")
    assert metadata.parameter_count == {"F32": 6}


# --- files ------------------------------------------------------------------------------------------------------------


def test_file_metadata(api, url):
    small = api.get_hf_file_metadata(url=f"{url}/org/alpha/resolve/main/config.json")
    assert (small.commit_hash, small.size) == (SHA, len(json.dumps(CONFIG)))
    assert len(small.etag) == 40
    assert "/api/resolve-cache/models/org/alpha/" in small.location
    large = api.get_hf_file_metadata(url=f"{url}/org/alpha/resolve/main/model.safetensors")
    assert (len(large.etag), large.size) == (64, len(safetensors()))
    assert large.location.startswith(f"{url}/lfs/")


def test_a_download_is_cached_and_then_needs_no_network(api, url, tmp_path):
    cache = tmp_path / "cache"
    path = api.hf_hub_download("org/alpha", "config.json", cache_dir=cache)
    assert json.loads(Path(path).read_bytes()) == CONFIG
    large = api.hf_hub_download("org/alpha", "model.safetensors", cache_dir=cache)
    assert Path(large).read_bytes() == safetensors()
    folder = api.snapshot_download("org/alpha", cache_dir=cache)
    assert sorted(os.listdir(folder)) == ["README.md", "config.json", "model.safetensors", "sub"]
    code = f"from huggingface_hub import snapshot_download as s; print(s('org/alpha', cache_dir={str(cache)!r}))"
    assert python(code, HF_ENDPOINT="http://127.0.0.1:9", HF_HUB_OFFLINE="1").strip() == folder
    found = huggingface_hub.try_to_load_from_cache("org/alpha", "config.json", cache_dir=cache)
    assert found == path


def test_the_absence_of_a_file_is_cached(api, tmp_path):
    with pytest.raises(errors.RemoteEntryNotFoundError):
        api.hf_hub_download("org/alpha", "none.json", cache_dir=tmp_path)
    found = huggingface_hub.try_to_load_from_cache("org/alpha", "none.json", cache_dir=tmp_path)
    assert found is huggingface_hub.file_download._CACHED_NO_EXIST


def test_file_exists(api):
    assert api.file_exists("org/alpha", "config.json")
    assert not api.file_exists("org/alpha", "none.json")


def test_parts_and_unchanged_files(url):
    address = f"{url}/api/resolve-cache/models/org/alpha/{SHA}/config.json"
    whole = get_session().get(address)
    part = get_session().get(address, headers={"Range": "bytes=2-5"})
    assert (part.status_code, part.content) == (206, whole.content[2:6])
    assert part.headers["content-range"] == f"bytes 2-5/{len(whole.content)}"
    assert get_session().get(address, headers={"If-None-Match": whole.headers["etag"]}).status_code == 304


# --- refusals ---------------------------------------------------------------------------------------------------------


def test_gated_disabled_revision_and_entry_have_their_errors(api):
    with pytest.raises(errors.GatedRepoError):
        api.hf_hub_download("org/beta", "config.json")
    with pytest.raises(errors.DisabledRepoError):
        api.get_hf_file_metadata(url=f"{api.endpoint}/org/broken/resolve/main/config.json")
    with pytest.raises(errors.RevisionNotFoundError):
        api.model_info("org/alpha", revision="none")
    with pytest.raises(errors.RemoteEntryNotFoundError):
        list(api.list_repo_tree("org/alpha", "none"))


@pytest.mark.parametrize("name", ["org/none", "org/gone", "org/secret"])
def test_a_missing_or_private_repository_with_a_token_is_not_found(url, name):
    with pytest.raises(errors.RepositoryNotFoundError):
        HfApi(endpoint=url, token="hf_any").model_info(name)


def test_without_tls_a_missing_repository_is_a_plain_401(api):
    # The client treats a 401 without a code as "not found" only if the address begins with https://.
    with pytest.raises(errors.HfHubHTTPError) as refused:
        api.model_info("org/none")
    assert not isinstance(refused.value, errors.RepositoryNotFoundError)
    assert refused.value.response.status_code == 401


def test_tokens_give_access_to_their_repositories(recording):
    recording.write("faults.json", {"tokens": {"hf_reader": ["org/beta"]}})
    with serving(recording.done()) as address:
        api = HfApi(endpoint=address, token="hf_reader")
        assert api.file_exists("org/beta", "config.json")
        assert api.whoami()["name"] == "replay"
        with pytest.raises(errors.HfHubHTTPError) as refused:
            HfApi(endpoint=address, token="hf_unknown").model_info("org/alpha")
    assert refused.value.response.headers["x-error-message"] == "Invalid credentials in Authorization header"


def test_rate_headers_are_on_every_answer_and_a_used_window_is_waited_for(recording):
    recording.write("faults.json", {"rate_limit": {"api": 2, "window_s": 1}})
    with serving(recording.done()) as address:
        api = HfApi(endpoint=address, token=False)
        answer = get_session().get(f"{address}/api/models")
        info = parse_ratelimit_headers(answer.headers)
        assert (info.resource_type, info.remaining, info.limit, info.window_seconds) == ("api", 1, 2, 1)
        assert get_session().get(f"{address}/api/models/org/none").headers["ratelimit"].startswith('"api";r=0;t=')
        assert len(list(api.list_models())) == 7, "the client waits for the next window"


@pytest.fixture
def tls(url, tmp_path):
    """A TLS proxy with a temporary certificate in front of the server, and a client that trusts it."""
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    make = f"openssl req -x509 -newkey rsa:2048 -nodes -days 1 -keyout {key} -out {certificate} -subj /CN=localhost"
    subprocess.run([*make.split(), "-addext", "subjectAltName=IP:127.0.0.1"], check=True, capture_output=True)
    served = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    served.load_cert_chain(certificate, key)
    listener = create_server(("127.0.0.1", 0))

    def serve():
        while True:
            try:
                plain, _ = listener.accept()
            except OSError:
                return
            with served.wrap_socket(plain, server_side=True) as client:
                head = b""
                while b"\r\n\r\n" not in head and (more := client.recv(65536)):
                    head += more
                method, target = head.decode().split(" ")[:2]
                sent = httpx2.request(method, url + target)
                fields = [f"{name}: {value}" for name, value in sent.headers.items()]
                lines = [f"HTTP/1.1 {sent.status_code} X", *fields, "connection: close", "", ""]
                client.sendall("\r\n".join(lines).encode() + sent.content)

    threading.Thread(target=serve, daemon=True).start()
    trusting = ssl.create_default_context(cafile=certificate)
    huggingface_hub.set_client_factory(lambda: httpx2.Client(verify=trusting))
    yield f"https://127.0.0.1:{listener.getsockname()[1]}"
    huggingface_hub.set_client_factory(_http.default_client_factory)
    listener.close()


@pytest.mark.parametrize("name", ["org/none", "org/gone", "org/secret"])
def test_with_tls_a_missing_or_private_repository_is_not_found(tls, name):
    with pytest.raises(errors.RepositoryNotFoundError):
        HfApi(endpoint=tls, token=False).model_info(name)


# --- transformers -----------------------------------------------------------------------------------------------------


def test_auto_config_reads_the_bundled_snapshot(tmp_path):
    pytest.importorskip("transformers")
    code = """
from transformers import AutoConfig
for name in ("google-t5/t5-small", "t5-small", "sample/WhisperForConditionalGeneration", "distilgpt2"):
    print(AutoConfig.from_pretrained(name).model_type)
"""
    with serving(SNAPSHOT) as address:
        printed = python(code, HF_ENDPOINT=address, HF_HOME=str(tmp_path))
    assert printed.split() == ["t5", "t5", "whisper", "gpt2"]
