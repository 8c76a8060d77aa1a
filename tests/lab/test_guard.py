"""Who may ask, how much and how often."""

import pytest
from starlette.testclient import TestClient

from glassformer.lab import guard, server
from glassformer.lab.start import start

PORT = 8123
HERE = f"http://127.0.0.1:{PORT}"
SPEC = {"spec": {"name": "bert-base", "fields": {}}}


@pytest.fixture
def client():
    lab = start([], PORT)
    with TestClient(server.app(lab), base_url=HERE, raise_server_exceptions=False) as made:
        made.token = {"x-glassformer-token": lab.token}
        yield made


def asks(client, **headers: str):
    return client.post("/api/bench/derive", json=SPEC, headers={**client.token, **headers})


def test_our_own_page_is_answered(client):
    answer = asks(client, origin=HERE, **{"sec-fetch-site": "same-origin"})
    assert (answer.status_code, answer.json()["total"]) == (200, 109_482_240)


@pytest.mark.parametrize(
    "host", ["evil.example", f"evil.example:{PORT}", "127.0.0.1:1", "127.0.0.1", f"127.0.0.1:{PORT}.evil.example"]
)
def test_another_name_for_this_machine_is_refused(client, host):
    assert asks(client, host=host).status_code == 403
    assert client.get("/bench", headers={"host": host}).status_code == 403


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://127.0.0.1:1", f"https://127.0.0.1:{PORT}"])
def test_another_origin_is_refused(client, origin):
    answer = asks(client, origin=origin)
    assert answer.status_code == 403
    assert answer.json() == {"error": "this request comes from another site; the lab answers only its own pages."}


def test_a_link_from_another_site_opens_a_page_but_reads_no_data(client):
    from_elsewhere = {"sec-fetch-site": "cross-site"}
    assert client.get("/bench?spec=bert-base", headers=from_elsewhere).status_code == 200
    assert client.get("/api/bench/fields", headers={**client.token, **from_elsewhere}).status_code == 403
    assert client.get("/api/bench/fields", headers=client.token).status_code == 200


@pytest.mark.parametrize("token", ["", "wrong", "é"])
def test_reading_and_posting_need_the_key_of_this_start(client, token):
    key = {"x-glassformer-token": token.encode("latin-1")}
    for answer in (client.post("/api/bench/derive", json=SPEC, headers=key), client.get("/api/bench/fields", headers=key)):
        assert answer.status_code == 401
        assert answer.json()["error"] == (
            "the key is missing or belongs to an earlier start: open the address that the lab printed."
        )


def test_two_keys_are_refused(client):
    twice = [("x-glassformer-token", client.token["x-glassformer-token"])] * 2
    assert client.get("/api/lab", headers=twice).status_code == 401


def test_two_starts_have_two_tokens():
    tokens = {start([], 1).token for _ in range(50)}
    assert len(tokens) == 50 and min(map(len, tokens)) >= 43  # 256 bits


def test_a_large_body_is_refused_whether_or_not_it_says_so(client):
    large = b"x" * (guard.MOST_BODY + 1)
    given = {**client.token, "content-type": "application/json"}
    said = client.post("/api/bench/derive", content=large, headers=given)
    unsaid = client.post("/api/bench/derive", content=iter([large[:1000], large]), headers=given)
    assert [said.status_code, unsaid.status_code] == [413, 413]
    assert unsaid.json() == {"error": "the request is too large: at most 4,000,000 bytes."}


def test_a_long_address_is_refused(client):
    assert client.get("/bench?spec=" + "x" * guard.MOST_QUERY).status_code == 414


@pytest.mark.parametrize("path", ["/bench", "/static/app.js", "/nowhere", "/api/nowhere", "/static/../server.py"])
def test_every_answer_has_the_headers(client, path, figure):
    for key in ({}, client.token):
        headers = client.get(path, headers=key).headers
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy and "require-trusted-types-for 'script'" in policy
        assert not {"unsafe", "http:", "https:", "*"} & set(policy.replace("-", " ").split())
        assert (headers["x-content-type-options"], headers["cache-control"]) == ("nosniff", "no-store")
        assert headers["referrer-policy"] == "no-referrer" and "set-cookie" not in headers
    figure("W6", "pages, files, data and errors: every response has the policy")


def test_a_failure_of_ours_is_one_line_with_the_headers(client, monkeypatch):
    monkeypatch.setattr("glassformer.lab.pages.bench._derived", lambda *_: 1 / 0)
    answer = asks(client)
    assert answer.status_code == 500
    assert answer.json()["error"].startswith("the lab failed at /api/bench/derive")
    assert "ZeroDivision" not in answer.text and answer.headers["x-content-type-options"] == "nosniff"


def test_too_many_simultaneous_requests_are_refused_in_one_line(client, monkeypatch):
    monkeypatch.setattr(client.app.requests, "here", guard.MOST_AT_ONCE + guard.MOST_WAITING)
    answer = asks(client)
    assert (answer.status_code, answer.headers["retry-after"]) == (429, "1")
    assert answer.json() == {"error": "the lab is already handling 1,088 requests. Try again in a moment."}
    assert client.get("/bench").status_code == 200


def test_a_queue_that_is_too_long_is_refused_in_one_line(client, monkeypatch):
    monkeypatch.setattr("glassformer.lab.threads.MOST_WAITING", -2)
    assert asks(client).status_code == 429


def test_requests_in_progress_are_released(client):
    for _ in range(3):
        asks(client)
        client.get("/nowhere")
    assert (client.app.requests.here, client.app.streams.here) == (0, 0)
