"""Makes the pictures of dashboards/page/README.md from a store.

.venv-test/bin/python tests/page/screenshots.py PROGRAM STATE_DIR MODEL
"""

import re
import shutil
import subprocess
import sys
from pathlib import Path
from urllib.parse import quote

from PIL import Image
from playwright.sync_api import sync_playwright

PAGE = Path(__file__).parents[2] / "dashboards/page"
PICTURES = {  # name: (view, width, height, theme)
    "overview": ("#/", 1180, 860, "light"),
    "models": ("#/models?sort=-breaks", 1180, 560, "light"),
    "model": ("#/models/{model}", 1180, 800, "light"),
    "model-narrow": ("#/models/{model}", 360, 900, "dark"),
}


def save(browser, url, name, width, height, theme):
    page = browser.new_page(viewport={"width": width, "height": height}, color_scheme=theme)
    page.goto(url)
    page.wait_for_load_state("networkidle")
    page.wait_for_function("() => !document.querySelector('[aria-busy=true]')")
    page.screenshot(path=PAGE / f"{name}.png")
    with Image.open(PAGE / f"{name}.png") as picture:
        picture.convert("RGB").quantize(96).save(PAGE / f"{name}.png", optimize=True)
    page.close()


def main(program, state_dir, model):
    command = [program, "page", "--state_dir", state_dir, "--listen", "127.0.0.1:0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server, sync_playwright() as started:
        base = re.search(r"http://\S+", server.stdout.readline())[0]
        browser = started.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        for name, (view, width, height, theme) in PICTURES.items():
            save(browser, base + view.format(model=quote(model, safe="")), name, width, height, theme)
        browser.close()
        server.terminate()


main(*sys.argv[1:])
