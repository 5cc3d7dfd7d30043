"""Every view of the page in a real browser, by mouse and by keyboard."""

import json
import re
import shlex
from urllib.parse import quote

import pytest
from axe_playwright_python.sync_playwright import Axe
from world import HOSTILE, SITES

SITE = SITES[0]["site_id"]


@pytest.fixture(scope="session")
def broken(world):
    return next(row for row in world.models[20:] if len(row["_sites"]) > 2)


@pytest.fixture(scope="session")
def views(world, broken):
    """Address -> heading."""
    failed = next(row["model"] for row in world.models[20:] if row["status"] == "failed_create")
    site = SITES[broken["_sites"][0]]["site_id"]
    return {
        "": "Overview",
        "?by=family&range=year": "Overview",
        "models?sort=-breaks": "Models",
        f"models/{quote(broken['model'], safe='')}?break={site}": broken["model"],
        f"models/{quote(broken['model'], safe='')}?mode=fix": broken["model"],
        f"models/{quote(failed, safe='')}": failed,
        f"models/{quote(HOSTILE[0], safe='')}": HOSTILE[0],
        "reasons": "Reasons",
        "reasons/GB0170": "Data-dependent branching GB0170",
        "sites": "Sites",
        f"sites/{SITE}": f"{SITES[0]['file']}:{SITES[0]['line']}",
        "compare": "Compare",
        "sweeps": "Sweeps",
        f"sweeps/{world.sweeps[0]['sweep_id']}": f"Sweep {world.sweeps[0]['sweep_id']}",
        "health": "Health",
        "nowhere": "No such view",
    }


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 360])
def test_each_view_is_accessible_and_fits(watch, stand_in, views, width, scheme):
    one = watch(stand_in, color_scheme=scheme)
    one.page.set_viewport_size({"width": width, "height": 900})
    for hash_, heading in views.items():
        page = one.open(hash_)
        assert page.locator("h1").inner_text() == heading
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), f"{hash_} is wider than {width}"
        found = Axe().run(page).response["violations"]
        assert found == [], f"{hash_} at {width} {scheme}: " + json.dumps(found)[:3000]


def test_the_first_paint_of_fifty_thousand_models_is_within_a_second(watch, stand_in):
    def first_paint():
        page = watch(stand_in).open("models")
        assert "50,000 models tracked" in page.inner_text("main")
        return page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")

    assert min(first_paint() for _ in range(3)) < 1000


def test_the_whole_state_of_a_view_is_in_its_address(watch, stand_in):
    one = watch(stand_in)
    page = one.open("models")
    page.get_by_label("Name or selector").fill("bert")
    page.get_by_label("Name or selector").press("Enter")
    page.get_by_label("Family").select_option("nlp")
    page.get_by_role("button", name="Breaks").click()
    page.wait_for_function("() => location.hash.includes('sort=-breaks')")
    one.settle()
    page.get_by_role("button", name="Next").click()
    page.wait_for_function("() => location.hash.includes('cursor=')")
    one.settle()
    rows = page.locator("tbody").inner_text()
    assert all("bert" in row for row in page.locator("tbody a.name").all_inner_texts())
    other = watch(stand_in)
    other.page.goto(page.url)
    other.settle()
    assert other.page.locator("tbody").inner_text() == rows
    page.go_back()
    one.settle()
    assert page.locator("tbody").inner_text() != rows
    assert "sort=-breaks" in page.url


def test_everything_works_with_the_keyboard_alone(watch, stand_in, broken):
    one = watch(stand_in)
    page = one.open()

    def focused(property_="innerText"):
        return page.evaluate(f"document.activeElement.{property_}")

    def tab_to(text, property_="innerText"):
        for _ in range(120):
            page.keyboard.press("Tab")
            if (focused(property_) or "").startswith(text):
                return
        raise AssertionError(f"the Tab key does not reach {text}")

    page.keyboard.press("Tab")
    assert focused() == "Skip to the content"
    page.keyboard.press("Enter")
    assert focused("id") == "main"
    page.reload()
    one.settle()
    tab_to("Models")
    page.keyboard.press("Enter")
    page.wait_for_function("() => document.activeElement.tagName === 'H1'")
    assert focused() == "Models"
    one.settle()
    tab_to("search", "type")
    page.keyboard.type(broken["model"])
    page.keyboard.press("Enter")
    page.wait_for_function("() => document.querySelectorAll('tbody tr').length === 1")
    one.settle()
    tab_to("Breaks")
    page.keyboard.press("Enter")
    page.wait_for_selector("th[aria-sort=descending]")
    one.settle()
    tab_to(broken["model"])
    page.keyboard.press("Enter")
    page.wait_for_selector(".strip")
    one.settle()
    tab_to("break", "className")
    page.keyboard.press("Space")
    page.wait_for_selector("#break")
    assert page.locator("#break").inner_text().startswith("Break 1: ")
    assert focused("ariaPressed") == "true"


def test_a_break_tells_why_where_and_who_else_has_it(watch, stand_in, broken):
    one = watch(stand_in)
    page = one.open("models/" + quote(broken["model"], safe=""))
    site = SITES[broken["_sites"][1]]
    assert page.locator(".strip .graph").count() == broken["graphs"]
    page.get_by_role("button", name=f"break 2: {site['reason']}").first.click()
    one.settle()
    text = page.locator("main").inner_text()
    for part in (site["explanation"], site["source_line"], site["hints"][0], site["module_path"], "Also in"):
        assert part in text
    assert f"break={site['site_id']}" in page.url
    page.reload()
    one.settle()
    assert page.locator("#break").inner_text() == f"Break 2: {site['reason']}"


def test_the_tried_fixes_lead_from_the_model_to_the_lines_to_write(watch, stand_in, broken):
    one = watch(stand_in)
    page = one.open("models/" + quote(broken["model"], safe=""))
    page.get_by_role("link", name="Tried on default").click()
    page.wait_for_function("() => location.hash.includes('mode=fix')")
    one.settle()
    rows = page.get_by_role("region", name="Fixes that were tried").locator("tbody tr").all_inner_texts()
    assert [row.split("\t")[1] for row in rows] == ["same", "timeout", "better", "different result"]
    assert f"{broken['breaks']} → 1" in rows[2]
    text = page.locator("main").inner_text()
    assert "Recommended: no_cache" in text and "Caution: no past_key_values" in text
    assert page.locator("pre", has_text="torch._dynamo.config.no_cache = True  # <b>").count() == 1
    left = page.get_by_role("region", name="Sites that no fix removes").locator("tbody tr")
    assert left.count() == 1 and SITES[broken["_sites"][-1]]["file"] in left.inner_text()


def test_a_model_without_tried_fixes_names_the_command_that_tries_them(watch, stand_in, broken):
    page = watch(stand_in).open("models/" + quote(broken["model"], safe="") + "?mode=train")
    assert "None was tried on this model" in page.locator("main").inner_text()
    assert page.locator("pre", has_text="breakwatch fix " + broken["model"]).count() == 1


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_name_is_only_text(watch, stand_in, world, name):
    one = watch(stand_in)
    page = one.open("models")
    rank = world.by_name[name]["rank"]
    page.locator("tbody tr").nth(rank - 1).locator("a").click()
    page.wait_for_function("() => document.querySelector('h1').innerText !== 'Models'")
    one.settle()
    shown = re.sub("[\u202e]", "⟨U+202E⟩", name)
    assert page.locator("h1").text_content() == shown
    assert page.evaluate("document.querySelectorAll('img, main svg, main script').length") == 0
    command = page.locator("pre", has_text="breakwatch sweep").inner_text()
    assert shlex.split(command)[:4] == ["breakwatch", "sweep", "--model", f"{name}@{world.by_name[name]['commit']}"]


def test_an_address_in_data_is_no_link_unless_it_is_https(watch, stand_in):
    reason = "Encountered graph break: <b>bold</b>"
    page = watch(stand_in).open("reasons/" + quote(reason, safe=""))
    assert page.locator("h1").inner_text().strip() == reason
    assert page.locator("a[href^=javascript]").count() == 0
    assert watch(stand_in).open("reasons/GB0170").get_by_role("link", name="page of the reason").count() == 1


def test_a_problem_is_shown_with_the_text_of_the_api(watch, stand_in):
    one = watch(stand_in)
    one.expected = ("400 (Bad Request)",)
    page = one.open("models?q=nope:x")
    assert 'did you mean "type:"?' in page.get_by_role("alert").inner_text()
    page = one.open("compare?a=nonsense")
    assert "no sweep, toolchain or model" in page.get_by_role("alert").inner_text()


def test_a_daemon_that_does_not_answer_is_reported(watch, stand_in):
    one = watch(stand_in)
    one.expected = ("net::ERR", "uPlot cannot be loaded")  # if the first chart was not drawn yet
    page = one.open()
    one.context.set_offline(True)
    page.get_by_role("link", name="Sweeps").first.click()
    # Not that of the view before, which the next one replaces.
    page.locator("main").get_by_text(re.compile("Is it running|cannot be loaded")).first.wait_for()


def test_a_running_sweep_appears_and_advances_by_itself(watch, stand_in, world):
    one = watch(stand_in)
    one.page.clock.install()
    page = one.open()
    assert page.get_by_role("heading", name="Running sweep").count() == 0
    world.running = {
        "sweep_id": "20261123T140000Z-aaaaaa",
        "source": "hub",
        "toolchain": "default",
        "started_at": world.sweeps[0]["started_at"],
        "done": 10,
        "total": 50_000,
        "statuses": {"full_graph": 10},
        "newest": HOSTILE[0],
        "eta_s": 5400,
    }
    try:
        page.clock.fast_forward(16_000)
        page.get_by_text("10 of 50,000 results, about 90 min left").or_(page.get_by_text("1.5 h left")).wait_for()
        world.running = world.running | {"done": 31_000}
        page.clock.fast_forward(3_000)
        page.get_by_text("31,000 of 50,000 results").wait_for()
    finally:
        world.running = None
    page.clock.fast_forward(3_000)
    page.get_by_role("heading", name="Running sweep").wait_for(state="detached")
