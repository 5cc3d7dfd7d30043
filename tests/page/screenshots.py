"""Makes the pictures of dashboards/page/README.md from the stand-in's answers.

    .venv-test/bin/python tests/page/screenshots.py
"""

import shutil
from urllib.parse import quote

from PIL import Image
from playwright.sync_api import sync_playwright
from stand_in import PAGE, StandIn
from world import HOSTILE, SITES, World

PICTURES = {  # name: (view, width, height, theme)
    "overview": ("overview", 1180, 860, "light"),
    "models": ("models", 1180, 560, "light"),
    "model": ("model", 1180, 800, "light"),
    "model-narrow": ("model", 360, 900, "dark"),
}


def main():
    world = World(50_000)
    world.models = world.models[len(HOSTILE) :]
    model = next(row for row in world.models if len(row["_sites"]) > 2 and SITES[row["_sites"][0]]["gb_id"] == "GB0170")
    chosen = SITES[model["_sites"][0]]["site_id"]
    views = {
        "overview": "#/",
        "models": "#/models?sort=-breaks",
        "model": f"#/models/{quote(model['model'], safe='')}?break={chosen}",
    }
    server = StandIn(world)
    with sync_playwright() as started:
        browser = started.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        for name, (view, width, height, theme) in PICTURES.items():
            page = browser.new_page(viewport={"width": width, "height": height}, color_scheme=theme)
            page.goto(f"{server.url}/{views[view]}")
            page.wait_for_load_state("networkidle")
            page.wait_for_function("() => !document.querySelector('[aria-busy=true]')")
            page.screenshot(path=PAGE / f"{name}.png")
            with Image.open(PAGE / f"{name}.png") as picture:
                picture.convert("RGB").quantize(96).save(PAGE / f"{name}.png", optimize=True)
            page.close()
        browser.close()


main()
