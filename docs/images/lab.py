"""Takes the README's picture of the lab from the lab itself, with Playwright and Chromium: `python docs/images/lab.py`."""

import io
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

PICTURE = Path(__file__).with_suffix(".png")
COLOURS = 192  # the page has few; a palette makes the file a third


def main() -> None:
    command = [sys.executable, "-m", "glassformer", "lab", "--no-browser"]
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        lab = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=folder)
        try:
            address = re.search(r"http\S+", lab.stdout.readline())[0]
            browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
            page = browser.new_page(viewport={"width": 1280, "height": 840}, reduced_motion="reduce")
            page.goto(address)
            page.locator(".walk-says .door").first.click()
            page.get_by_text("share = exp(score)").wait_for()
            page.mouse.move(0, 0)
            page.wait_for_timeout(1000)
            shot = page.screenshot()
            browser.close()
        finally:
            lab.terminate()
    Image.open(io.BytesIO(shot)).convert("RGB").quantize(COLOURS).save(PICTURE, optimize=True)


if __name__ == "__main__":
    main()
