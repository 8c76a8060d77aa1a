"""The built site: no warning, nothing loaded from another machine, and a search that works from a folder."""

import importlib.util
import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LOADS = dict.fromkeys(("script", "img", "iframe", "source", "video", "audio", "embed"), "src") | {"link": "href"}
OTHER_NAMES = re.compile(r"^(?:https?:)?//")


def loaded_from_elsewhere(text: str, kind: str) -> list[str]:
    """Addresses on other machines that a browser would fetch for a page, a style or a script by itself."""
    if kind == ".css":
        return [found for found in re.findall(r"(?:url\(|@import)\s*[\"']?([^\"')\s]+)", text) if OTHER_NAMES.match(found)]
    if kind == ".js":
        return re.findall(r"(?:fetch|import|importScripts)\(?\s*[\"'`]((?:https?:)?//[^\"'`]+)", text)
    found = []

    class Page(HTMLParser):
        def handle_starttag(self, tag, attrs):
            values = dict(attrs)
            address = values.get(LOADS.get(tag, ""), "") or ""
            if OTHER_NAMES.match(address) and values.get("rel") not in ("canonical", "license"):
                found.append(address)
            found.extend(loaded_from_elsewhere(values.get("style") or "", ".css"))

        def handle_data(self, data):
            if self.lasttag in ("style", "script"):
                found.extend(loaded_from_elsewhere(data, ".css" if self.lasttag == "style" else ".js"))

    Page().feed(text)
    return found


@pytest.mark.parametrize(
    ("text", "kind", "found"),
    [
        ('<script src="https://cdn.example/x.js"></script>', ".html", ["https://cdn.example/x.js"]),
        ('<link rel="stylesheet" href="//fonts.example/a">', ".html", ["//fonts.example/a"]),
        ('<img src="http://a.example/b.png">', ".html", ["http://a.example/b.png"]),
        ("<style>@import 'https://a.example/c.css';</style>", ".html", ["https://a.example/c.css"]),
        ('<p style="background: url(https://a.example/d)">', ".html", ["https://a.example/d"]),
        ("<script>fetch('https://a.example/e')</script>", ".html", ["https://a.example/e"]),
        ('@font-face{src:url("https://a.example/f.woff2")}', ".css", ["https://a.example/f.woff2"]),
        ('<a href="https://a.example">x</a><script src="a.js"></script><img src="data:,">', ".html", []),
        ("a{background:url(data:image/png;base64,//)}", ".css", []),
    ],
)
def test_what_a_page_would_load_from_elsewhere_is_found(text, kind, found):
    assert loaded_from_elsewhere(text, kind) == found


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The site, built; where `make docs` has just built it, GLASSFORMER_SITE says where."""
    if "GLASSFORMER_SITE" in os.environ:
        return Path(os.environ["GLASSFORMER_SITE"]).resolve()
    if importlib.util.find_spec("sphinx") is None:
        pytest.skip("Sphinx is not installed: make docs installs it")
    folder = tmp_path_factory.mktemp("site")
    subprocess.run([sys.executable, "docs/site/sources.py", folder / "docs"], cwd=ROOT, check=True)
    sphinx = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-c", "docs/site", folder / "docs", folder / "site"]
    done = subprocess.run(sphinx, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return folder / "site"


@pytest.mark.slow
def test_no_page_loads_anything_from_another_machine(site):
    files = [path for path in site.rglob("*") if path.suffix in (".html", ".css", ".js")]
    assert len(files) > 40
    found = {path.name: loaded_from_elsewhere(path.read_text(encoding="utf-8"), path.suffix) for path in files}
    assert {name: addresses for name, addresses in found.items() if addresses} == {}


@pytest.mark.slow
def test_search_works_from_a_folder_without_a_network(site, browser):
    context = browser.new_context(offline=True)
    page, asked = context.new_page(), []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"{(site / 'search.html').as_uri()}?q=softmax")
    page.wait_for_selector("ul.search li a")
    assert "Known mistakes" in page.inner_text("ul.search")
    assert [url for url in asked if not url.startswith("file:")] == []
    context.close()
