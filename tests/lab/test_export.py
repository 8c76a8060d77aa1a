"""`glassformer lab --export`: the pages as files, the same answers as the lab's, from a plain file server in a real browser."""

import functools
import http.server
import json
import threading

import pytest
from command_line import glassformer

import glassformer as gf
from glassformer.errors import GlassformerError
from glassformer.lab import export as exports

PRESETS = ("bert-base", "vit-b16", "transformer")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    found = tmp_path_factory.mktemp("export") / "course" / "lab"
    exports.export(("bert-base", "layers=3"), found, PRESETS)
    return found


def test_an_answer_in_a_file_is_the_answer_of_the_lab(folder, lab):
    import urllib.request

    index = json.loads((folder / "data/index.json").read_text(encoding="utf-8"))
    assert index["known"]["address"] == "/bench?spec=bert-base&layers=3"
    spec = {"name": "bert-base", "fields": {"layers": "3"}}
    for url, body in exports._questions(*spec.values()):
        stored = json.loads((folder / "data" / index["files"][exports.key(url, body)]).read_text(encoding="utf-8"))
        asked = urllib.request.Request(
            f"{lab.address}{url}", json.dumps(body).encode(), {**lab.key, "content-type": "application/json"}
        )
        assert stored[exports.key(url, body)] == json.loads(urllib.request.urlopen(asked).read())


def test_nothing_is_overwritten_and_a_file_leaves_no_path_behind(tmp_path, folder):
    with pytest.raises(GlassformerError, match="exists already: choose another name, nothing is overwritten"):
        exports.export((), folder)
    config = tmp_path / "config.json"
    config.write_text(json.dumps({**gf.spec("bert-tiny").to_dict(), "d_model": 64}), encoding="utf-8")
    exports.export((str(config),), tmp_path / "made", ())
    text = (tmp_path / "made/data/index.json").read_text(encoding="utf-8")
    assert str(tmp_path) not in text
    assert "d_model=64" in json.loads(text)["known"]["address"]
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]


def test_the_command_reports_an_error_in_one_line_and_writes_nothing(tmp_path):
    result = glassformer("lab", "bert-base", "heads=7", "--export", tmp_path / "out")
    assert result.returncode == 2
    assert len(result.stderr.splitlines()) == 1 and "heads=7 does not divide" in result.stderr
    assert not (tmp_path / "out").exists()


@pytest.fixture
def served(folder):
    """The address of the export below a folder of a plain file server."""
    quiet = type("Quiet", (http.server.SimpleHTTPRequestHandler,), {"log_message": lambda *_: None})
    handler = functools.partial(quiet, directory=str(folder.parent))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}/lab"
    server.shutdown()
    server.server_close()


def total(page, spec):
    count = f"{gf.count(spec).total:,}"
    page.wait_for_function("(count) => document.querySelector('[data-testid=total]')?.textContent === count", arg=count)


def test_the_walk_and_the_bench_open_from_a_file_server(browser, served):
    context = browser.new_context()
    page = context.new_page()
    faults = []
    page.on("request", lambda request: request.url.startswith(served) or faults.append(request.url))
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("console", lambda message: message.type == "error" and faults.append(message.text))
    page.goto(f"{served}/")
    total(page, "bert-base layers=3")
    page.get_by_role("link", name="Start").click()
    page.wait_for_function("() => document.querySelector('.walk-says')?.textContent.startsWith('“it” looks at “animal”')")
    for _ in range(7):
        page.get_by_role("button", name="next →").click()
    page.wait_for_selector(".walk-class")
    assert page.url == f"{served}/walk/?scene=8"
    page.reload()
    page.wait_for_selector(".walk-class")
    page.get_by_role("navigation", name="go on").get_by_role("link").click()
    page.get_by_label("preset").select_option("vit-b16")
    total(page, "vit-b16")
    page.get_by_label("preset").select_option("transformer")
    total(page, "transformer")
    page.get_by_role("tab", name="Shapes").click()
    page.wait_for_selector("table.rows td")
    page.get_by_role("tab", name="Equations").click()
    page.wait_for_selector(".equation")
    context.close()
    assert faults == []
