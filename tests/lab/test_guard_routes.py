"""Every attack on every route: a route that is added tomorrow is in this list tomorrow."""

import pytest
from starlette.applications import Starlette
from starlette.responses import Response
from starlette.routing import Route
from starlette.testclient import TestClient

from glassformer.lab import server
from glassformer.lab.front import Front
from glassformer.lab.guard import Guard
from glassformer.lab.start import start

PORT = 8126
HERE = f"http://127.0.0.1:{PORT}"
JSON = {"content-type": "application/json"}

HOSTS = [
    "evil.example",
    f"evil.example:{PORT}",
    "127.0.0.1:1",
    "127.0.0.1",
    f"127.0.0.1:{PORT}.evil.example",
    f"0.0.0.0:{PORT}",
    "",
]
ORIGINS = ["http://evil.example", "null", "http://127.0.0.1:1", f"https://127.0.0.1:{PORT}", f"{HERE}.evil.example", ""]
SITES = ["cross-site", "same-site", "whatever"]
KINDS = ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "text/json", ""]


class Door:
    """The lab with every endpoint replaced by one that remembers that it was reached."""

    def __init__(self) -> None:
        self.lab = start([], PORT)
        guard = server.app(self.lab)
        self.routes = guard.app.routes
        self.reached: list[str] = []
        self.before = [route.app for route in self.routes]
        for route in self.routes:
            route.app = self.endpoint
        self.client = TestClient(guard, base_url=HERE)
        self.key = {"x-glassformer-token": self.lab.token}

    def close(self) -> None:
        """The routes belong to the pages and are restored afterwards."""
        for route, app in zip(self.routes, self.before, strict=True):
            route.app = app

    async def endpoint(self, scope, receive, send) -> None:
        self.reached.append(scope["path"])
        await Response("reached")(scope, receive, send)

    def ask(self, route: Route, method: str | None = None, **headers: str) -> int:
        method = method or ("POST" if "POST" in route.methods else "GET")
        given = {**(JSON if method == "POST" else {}), **{name.replace("_", "-"): value for name, value in headers.items()}}
        path = route.path.replace("{", "").replace("}", "").replace(":path", "")
        return self.client.request(method, path, headers=given, content=b"{}" if method == "POST" else None).status_code


@pytest.fixture(scope="module")
def door():
    made = Door()
    yield made
    made.close()


def attacks(key: dict[str, str]) -> dict[str, tuple[int, dict[str, str]]]:
    """What is sent, and the status that refuses it."""
    token = key["x-glassformer-token"]
    keys = ["", "wrong", token[:-1], f"{token}x", token.swapcase(), f"{token},{token}"]
    return {
        "no key": (401, {}),
        **{f"key {wrong[:5]}…": (401, {"x-glassformer-token": wrong}) for wrong in keys},
        "the key as a cookie": (401, {"cookie": f"glassformer={token}; key={token}"}),
        "the key as a password": (401, {"authorization": f"Bearer {token}"}),
        **{f"host {host}": (403, {**key, "host": host}) for host in HOSTS},
        **{f"origin {origin}": (403, {**key, "origin": origin}) for origin in ORIGINS},
        **{f"site {site}": (403, {**key, "sec-fetch-site": site}) for site in SITES},
    }


def test_no_attack_reaches_any_route(door, figure):
    tried = 0
    for route in door.routes:
        for name, (status, headers) in attacks(door.key).items():
            assert (route.path, name, door.ask(route, **headers)) == (route.path, name, status)
            tried += 1
        if "POST" in route.methods:
            for kind in KINDS:
                assert (route.path, kind, door.ask(route, **door.key, content_type=kind)) == (route.path, kind, 415)
                tried += 1
        for method in ("PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "PROPFIND"):
            assert (route.path, method, door.ask(route, method, **door.key)) == (route.path, method, 405)
            tried += 1
    assert door.reached == []
    said = f"{len(door.routes)} routes × every attack, {tried:,} requests: none reached a route"
    figure("W3", said, cases=tried)
    figure("W1", f"{len(HOSTS)} names × {len(door.routes)} routes: all refused", cases=len(HOSTS) * len(door.routes))
    cross = len(ORIGINS) + len(SITES) + len(KINDS)
    figure(
        "W2", f"{cross} foreign origins, sites and forms × {len(door.routes)} routes: all refused", cases=cross * len(door.routes)
    )


def test_with_the_key_every_route_is_reached(door):
    """Control: a guard that refuses everything would pass the test above."""
    door.reached.clear()
    for route in door.routes:
        assert door.ask(route, **door.key, origin=HERE, sec_fetch_site="same-origin") == 200
    assert len(door.reached) == len(door.routes)
    door.reached.clear()


def test_every_route_is_a_plain_one_below_api_that_reads_or_posts(door):
    for route in door.routes:
        assert type(route) is Route and route.path.startswith("/api/")
        assert route.methods <= {"GET", "HEAD"} or route.methods == {"POST"}


def test_requests_that_change_something_are_posts(door):
    """A GET of any page's data leaves nothing behind: nothing that stops, starts or deletes may be one."""
    words = ("start", "stop", "resume", "delete", "remove", "save", "write", "edit")
    assert [route.path for route in door.routes if "GET" in route.methods and route.path.rpartition("/")[2] in words] == []


def test_a_new_route_anywhere_is_behind_the_guard():
    reached = []

    async def forgotten(request):
        reached.append(request.url.path)
        return Response("secret")

    app = Starlette(routes=[Route(path, forgotten) for path in ("/secret", "/bench", "/static/app.js", "/api/new")])
    client = TestClient(Guard(app, Front.read(server.STATIC, ["/bench"]), token="k" * 43, port=PORT), base_url=HERE)
    for path in ("/secret", "/bench", "/static/app.js", "/api/new", "//api/new", "/API/new", "/static/../api/new", "/api"):
        assert "secret" not in client.get(path).text
    assert reached == []
    assert client.get("/api/new", headers={"x-glassformer-token": "k" * 43}).text == "secret"


def test_files_come_from_a_fixed_list_of_names(door, figure, tmp_path):
    names = [name for name in door.client.app.front.files if name.startswith("/static/")]
    for name in names:
        assert door.client.get(name).status_code == 200
    below = ["../server.py", "..%2fserver.py", "%2e%2e/server.py", "....//server.py", "..\\server.py", "%5c..%5cserver.py"]
    other = [
        "index.html",
        "app.js/",
        "app.js%00.css",
        "/etc/passwd",
        "%2fetc%2fpasswd",
        "app.js/../../server.py",
        ".",
        "",
        "CON",
        "a" * 300,
    ]
    for place in ("/static/", "/bench/", "/"):
        for path in (*below, *other):
            answer = door.client.get(place + path)
            assert answer.status_code in (200, 404) and "def app(" not in answer.text and "root:" not in answer.text
            if place == "/static/" and path not in ("/static/",):
                assert answer.status_code == 404, path
    folder = tmp_path / "static"
    folder.mkdir()
    (folder / "index.html").write_text("page")
    front = Front.read(folder, [])
    (folder / "later.js").write_text("later")
    assert front.at("/static/later.js").status_code == 404
    with pytest.raises(TypeError):
        front.files["/static/later.js"] = (b"", "")
    tried = 3 * len(below + other)
    figure("W7", f"{len(names)} names are served from memory; {tried} other paths: none found", cases=tried)
