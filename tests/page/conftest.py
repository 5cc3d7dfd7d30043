"""A real browser, and a stand-in of the daemon with many models."""

import shutil

import pytest
from stand_in import ROOT, StandIn
from world import World

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed: make test-venv")
MODELS = 50_000


@pytest.fixture(scope="session")
def browser():
    path = shutil.which("chromium")
    if not path:
        pytest.skip("chromium is not installed: make test-packages")
    with playwright.sync_playwright() as started:
        opened = started.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture(scope="session")
def world():
    return World(MODELS)


@pytest.fixture(scope="session")
def stand_in(world):
    server = StandIn(world)
    yield server.url
    server.shutdown()


class Watched:
    """A page, with everything that it must not do: complain, or ask another host."""

    def __init__(self, browser, base, **options):
        self.context = browser.new_context(viewport={"width": 1280, "height": 900}, **options)
        self.page, self.base, self.faults = self.context.new_page(), base, []
        self.expected = ()  # parts of messages that the test provokes
        self.page.on("console", lambda message: message.type in ("error", "warning") and self.fault(message.text))
        self.page.on("pageerror", lambda error: self.fault(str(error)))
        self.page.on("dialog", lambda dialog: (self.fault("a dialog: " + dialog.message), dialog.dismiss()))
        self.page.on("request", lambda asked: asked.url.startswith(base) or self.fault("elsewhere: " + asked.url))

    def fault(self, text):
        if not any(part in text for part in self.expected):
            self.faults.append(text)

    def open(self, hash_=""):
        """Opens a view and waits until all that it reads is there."""
        self.page.goto(f"{self.base}/#/{hash_}")
        self.settle()
        return self.page

    def settle(self):
        # A click changes the address at once, and the view after the event: two frames later that is done.
        self.page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        self.page.wait_for_function(
            "() => document.querySelector('h1') && !document.body.innerText.includes('Loading…')"
            " && !document.querySelector('[aria-busy=true]')"
        )


@pytest.fixture
def watch(browser):
    """Opens watched pages; afterwards none of them may have a fault."""
    opened = []

    def start(base, **options):
        opened.append(Watched(browser, base, **options))
        return opened[-1]

    yield start
    for one in opened:
        one.context.close()
        assert one.faults == []


@pytest.fixture(scope="session")
def program():
    path = ROOT / "build/release/breakwatch"
    if not path.exists():
        pytest.skip(f"{path} is not built: make build")
    return str(path)
