"""Numbers on their path to Prometheus: through the store, the packaged Pushgateway and a scrape."""

import signal

from e2e_support import breaks_by_series, eventually, get


def three_models(hub):
    return {
        "org/broken": hub.model("org/broken", 300, sites=[["branching", "GB0170", 4], ["branching", "GB0170", 1],
                                                            ["print", "GB0059", 2]]),
        "org/clean": hub.model("org/clean", 200),
        "org/failing": hub.model("org/failing", 100, status="failed_eager"),
    }  # fmt: skip


def expected(breakwatch):
    """The numbers of the store, in the form of the query."""
    series = {}
    for result in breakwatch.results().values():
        if result["status"] == "full_graph":
            series[result["model"], result["revision"], "none"] = 0.0
        for site in result["sites"] if result["status"] == "graph_breaks" else []:
            key = result["model"], result["revision"], site["reason"]
            series[key] = series.get(key, 0.0) + site["occurrences"]
    return series


def test_the_query_equals_the_store_zeros_included(breakwatch, hub, gateway, prometheus):
    shas = three_models(hub)
    breakwatch.run("sweep", "--exporters.pushgateway.url", gateway.url)
    wanted = expected(breakwatch)
    assert wanted == {
        ("org/broken", shas["org/broken"], "branching"): 5.0,
        ("org/broken", shas["org/broken"], "print"): 2.0,
        ("org/clean", shas["org/clean"], "none"): 0.0,
    }
    assert eventually(lambda: breaks_by_series(prometheus.url) == wanted), breaks_by_series(prometheus.url)


def test_a_second_sweep_changes_nothing_and_captures_nothing(breakwatch, hub, gateway, prometheus):
    three_models(hub)
    breakwatch.run("sweep", "--exporters.pushgateway.url", gateway.url)
    wanted = expected(breakwatch)
    captures = breakwatch.captures()
    breakwatch.run("sweep", "--exporters.pushgateway.url", gateway.url)
    assert breakwatch.captures() == captures
    assert expected(breakwatch) == wanted
    assert eventually(lambda: breaks_by_series(prometheus.url) == wanted)


def test_a_new_commit_replaces_the_old_one(breakwatch, hub, gateway, prometheus):
    three_models(hub)
    breakwatch.run("sweep", "--exporters.pushgateway.url", gateway.url)
    old = expected(breakwatch)
    assert eventually(lambda: breaks_by_series(prometheus.url) == old)
    sha = hub.model("org/broken", 300, sites=[["branching", "GB0170", 1]])
    done = breakwatch.run("sweep", "--exporters.pushgateway.url", gateway.url)
    new = expected(breakwatch)
    assert new != old and new["org/broken", sha, "branching"] == 1.0, done.stderr
    assert eventually(lambda: breaks_by_series(prometheus.url) == new), breaks_by_series(prometheus.url)


def test_a_new_commit_removes_the_old_numbers_even_if_it_fails(breakwatch, hub, gateway):
    three_models(hub)
    breakwatch.run("sweep", "--exporters.pushgateway.url", gateway.url)
    hub.model("org/broken", 300, status="failed_capture")
    breakwatch.run("sweep", "--exporters.pushgateway.url", gateway.url)
    assert not [line for line in get(gateway.url + "/metrics")[1].splitlines()
                if line.startswith("compile_breaks_total") and "org/broken" in line]  # fmt: skip
    assert 'status="failed_capture"' in get(gateway.url + "/metrics")[1]


def test_a_gateway_restarted_empty_gets_the_metrics_without_a_sweep(breakwatch, hub, gateway):
    three_models(hub)
    breakwatch.run("sweep", "--exporters.pushgateway.url", gateway.url)
    child, _ = breakwatch.serve("--exporters.pushgateway.url", gateway.url, "--delivery.check_target", "200ms")
    assert eventually(lambda: "compile_breaks_total" in get(gateway.url + "/metrics")[1])
    gateway.kill()
    gateway.start()
    assert eventually(lambda: "compile_breaks_total" in get(gateway.url + "/metrics")[1])
    child.send_signal(signal.SIGTERM)
    assert child.wait(timeout=15) == 0


def test_an_unavailable_gateway_leads_to_exit_code_3_and_the_next_run_delivers(breakwatch, hub, gateway):
    three_models(hub)
    gateway.kill()
    arguments = ("sweep", "--exporters.pushgateway.url", gateway.url, "--delivery.drain_timeout", "1s")
    done = breakwatch.run(*arguments, code=3)
    assert "pushgateway" in done.stderr
    assert len(breakwatch.results()) == 3
    events = (breakwatch.state / "logs/events.jsonl").read_text()
    assert '"msg":"delivery_failed"' in events and '"exporter":"pushgateway"' in events
    gateway.start()
    breakwatch.run(*arguments)
    assert "compile_breaks_total" in get(gateway.url + "/metrics")[1]


def test_an_optional_gateway_that_is_unavailable_is_not_a_failure(breakwatch, hub, gateway):
    three_models(hub)
    gateway.kill()
    breakwatch.run("sweep", "--exporters.pushgateway.url", gateway.url, "--exporters.pushgateway.required=false")


def test_models_without_numbers_have_a_status_series_only(breakwatch, hub, gateway):
    shas = three_models(hub)
    breakwatch.run("sweep", "--exporters.pushgateway.url", gateway.url)
    lines = [line for line in get(gateway.url + "/metrics")[1].splitlines() if "org/failing" in line]
    assert [line for line in lines if line.startswith("breakwatch_model_status") and shas["org/failing"] in line]
    assert not [line for line in lines if line.startswith("compile_")]
