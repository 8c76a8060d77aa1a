"""The train page's server: runs as separate processes, identified by their files, and followed as they grow."""

import fcntl
import http.client
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

from glassformer.errors import GlassformerError
from glassformer.lab.pages import train_jobs
from glassformer.lab.pages.train_jobs import Jobs
from glassformer.lab.pages.train_stream import Judge, Tail, marked, tails
from glassformer.lab.runs import EXAMPLE, EXAMPLE_HOME, RunsFolder, standing
from glassformer.show.curves import read_curve

STEP = '{"kind": "step", "step": %d, "epoch": 1, "loss": %s, "accuracy": 0.5, "hex": "0x1p+0", "lr": 0.001}\n'


def ask(port, token, path, body=None, accept="application/json"):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    headers = {"x-glassformer-token": token, "content-type": "application/json", "accept": accept}
    connection.request("GET" if body is None else "POST", path, None if body is None else json.dumps(body), headers)
    answer = connection.getresponse()
    found = json.loads(answer.read())
    connection.close()
    return answer.status, found


def events(port, token, path, mark=""):
    """The events of a stream, one by one, as (name, document, mark)."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    headers = {"x-glassformer-token": token, "accept": "text/event-stream"} | ({"last-event-id": mark} if mark else {})
    connection.request("GET", path, headers=headers)
    answer = connection.getresponse()
    assert answer.status == 200
    fields: dict[str, str] = {}
    try:
        while True:
            line = answer.readline().decode().rstrip("\n")
            if line:
                name, _, value = line.partition(": ")
                fields[name] = value
            elif "data" in fields:
                yield fields["event"], json.loads(fields["data"]), fields.get("id", "")
                fields = {}
    finally:
        connection.close()


def a_run(root, name="one", lines="", epochs=4):
    path = root / name
    path.mkdir(parents=True)
    shutil.copy(EXAMPLE_HOME / "run.json", path)
    (path / "settings.json").write_text(json.dumps({"epochs": epochs, "lr": 0.001}))
    (path / "metrics.jsonl").write_text(lines)
    return path


@contextmanager
def held(path, text=""):
    with path.open("a+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.write(text)
        file.flush()
        yield


def test_running_stopped_killed_failed_and_finished_are_distinguished(tmp_path):
    runs = RunsFolder(tmp_path)
    path = a_run(tmp_path, lines='{"kind": "start", "steps": 40}\n' + STEP % (10, 1.5))
    state = lambda: standing(runs, "one")["state"]  # noqa: E731
    assert state() == "stopped"
    with held(path / "lock", "12345\n"):
        assert state() == "running"
        runs.log("one").parent.mkdir()
        runs.log("one").with_suffix(".stop").write_text("12345\n")
        assert state() == "stopping"
    assert state() == "killed"  # the number stays where a process had no time to take it away
    (path / "lock").write_text("")
    assert state() == "stopped"
    runs.log("one").write_text("\n$ glassformer resume one\nglassformer: the loss is NaN at step 11. Try a smaller --lr.\n")
    found = standing(runs, "one")
    assert (found["state"], found["said"]) == ("failed", "the loss is NaN at step 11. Try a smaller --lr.")
    with held(runs.log("one"), "\n$ glassformer resume one\n"):
        assert state() == "starting"
    with (path / "metrics.jsonl").open("a") as file:
        file.write('{"kind": "end", "step": 40, "epochs": 4, "best": null, "test": {"accuracy": 0.9}}\n')
    assert state() == "finished"


def test_only_runs_of_the_folder_have_a_name(tmp_path):
    (tmp_path / "runs").mkdir()
    elsewhere = a_run(tmp_path, "secret")
    a_run(tmp_path / "runs", "mine")
    (tmp_path / "runs" / "link").symlink_to(elsewhere)
    runs = RunsFolder(tmp_path / "runs")
    assert runs.names() == ["mine"]
    for name in ("../secret", "link", "/etc", "mine/../../secret", "", ".", "a/b/c", "mine\0"):
        with pytest.raises(GlassformerError, match="there is no run"):
            runs.path(name)
    for name in ("../x", "a/b", ".hidden", "x" * 81, "-flag"):
        with pytest.raises(GlassformerError, match="is not allowed"):
            runs.fresh(name)
    with pytest.raises(GlassformerError, match="name=mine is taken"):
        runs.fresh("mine")
    given = RunsFolder(tmp_path / "runs", elsewhere)
    assert given.path(given.name(elsewhere)) == elsewhere


def test_a_log_is_followed_line_by_line_and_sent_anew_when_it_was_cut(tmp_path):
    path = tmp_path / "metrics.jsonl"
    tail = Tail(path)
    assert tail.read() == (False, [])
    path.write_text('{"kind": "start", "steps": 40}\n' + STEP % (10, 1.5) + STEP[:20])
    void, points = tail.read()
    assert (void, [point["kind"] for point in points]) == (False, ["start", "step"])  # half a line waits
    path.write_text('{"kind": "start", "steps": 40}\n' + STEP % (10, 1.5) + STEP % (20, "NaN"))
    assert [point["step"] for point in tail.read()[1]] == [20]
    path.write_text('{"kind": "start", "steps": 40}\n' + STEP % (10, 1.25) + STEP % (20, 1.0) + STEP % (30, 0.5))
    void, points = tail.read()
    assert void
    assert [point.get("loss") for point in points] == [None, 1.25, 1.0, 0.5]


def test_a_stream_continues_from_the_position_of_the_page(tmp_path):
    runs = RunsFolder(tmp_path)
    path = a_run(tmp_path, lines=STEP % (10, 1.5))
    following = tails(runs, ["one"], "")
    following["one"].read()
    with (path / "metrics.jsonl").open("a") as file:
        file.write(STEP % (20, 1.0))
    again = tails(runs, ["one", EXAMPLE], marked(following))
    assert [point["step"] for point in again["one"].read()[1]] == [20]
    assert again[EXAMPLE].offset == 0
    for nonsense in ("one=x.y", "one=9999999.1", "=,=,", "one=5." + "9" * 50):
        void, points = tails(runs, ["one"], nonsense)["one"].read()
        assert [point["step"] for point in points] == [10, 20], void


def test_a_long_log_is_thinned_out(tmp_path):
    path = a_run(
        tmp_path, lines='{"kind": "start", "steps": 300000}\n' + "".join(STEP % (step, 1.0) for step in range(10, 30001, 10))
    )
    points = Tail(path / "metrics.jsonl").read()[1]
    assert 100 < len(points) < 200


def test_the_example_turns_at_epoch_9_and_is_reported_to_overfit():
    found = Judge(EXAMPLE_HOME / "metrics.jsonl").now()
    assert (found["turn"], found["overfits"]) == (9, True)
    assert found["note"].startswith("example overfits from epoch 9: the validation loss rose from 0.254")


def test_of_masked_tokens_the_page_rings_the_epoch_of_the_lowest_loss(tmp_path):
    def epoch(number, loss, accuracy):
        found = {"loss": loss, "accuracy": accuracy}
        return json.dumps({"kind": "epoch", "epoch": number, "step": number, "train": found, "validation": found}) + "\n"

    lines = "".join(epoch(*one) for one in ((1, 2.0, 0.3), (2, 1.0, 0.5), (3, 1.5, 0.6)))
    path = a_run(tmp_path, lines=lines)
    for task, best in (("classify", 3), ("mlm", 2)):
        (path / "run.json").write_text(json.dumps({"data": {"task": task}}))
        found = Judge(path / "metrics.jsonl").now()
        assert (found["best_epoch"], found["turn"]) == (best, 2)


def test_a_verdict_follows_a_log_that_grows_and_one_that_was_cut(tmp_path):
    def epoch(number, loss):
        figures = {"loss": loss, "accuracy": 0.5}
        return json.dumps({"kind": "epoch", "epoch": number, "step": number, "train": figures, "validation": figures}) + "\n"

    path = a_run(tmp_path, lines=STEP % (1, 1.0)) / "metrics.jsonl"
    judge = Judge(path)
    assert judge.now() is None
    path.write_text(STEP % (1, 1.0) + epoch(1, 2.0) + epoch(2, 1.0))
    assert (judge.now()["epochs"], judge.now()["best_epoch"]) == (2, 2)
    path.write_text(STEP % (1, 1.0) + epoch(1, 2.0) + epoch(2, 1.0) + epoch(3, 1.5))
    found = judge.now()
    assert (found["best_epoch"], found["turn"]) == (2, 2)
    said = read_curve(path, name="one").to_dict()
    assert {name: said[name] for name in found if name != "note"} == {name: found[name] for name in found if name != "note"}
    path.write_text(STEP % (1, 1.0) + epoch(1, 0.5) + epoch(2, 1.0))  # resumed from epoch 0, with other figures
    assert (judge.now()["epochs"], judge.now()["best_epoch"]) == (2, 1)
    path.write_text(STEP % (1, 1.0) + epoch(1, 0.5) + epoch(2, "<b>") + epoch("3", 1.0))
    assert judge.now()["epochs"] == 1  # what is no number is left out


@pytest.fixture
def launched(monkeypatch):
    """The commands that would have been started."""
    words: list[list[str]] = []

    def launch(self, name, command, *, fresh=False):
        self.runs.log(name).parent.mkdir(parents=True, exist_ok=True)
        self.runs.log(name).write_text("")
        words.append(command)

    monkeypatch.setattr(Jobs, "_launch", launch)
    return words


@pytest.fixture(scope="module")
def hall(lab_with, tmp_path_factory):
    root = tmp_path_factory.mktemp("hall")
    own = root / "own.csv"
    own.write_text("review,stars\n" + "".join(f"<b>good {n}</b>,up\nbad {n},down\n" for n in range(30)))
    with lab_with(runs=root / "runs", data=[own]) as found:
        yield found


def post(hall, path, **body):
    return ask(hall.lab.port, hall.lab.token, f"/api/train/{path}", body)


def test_a_double_click_starts_one_run(hall, launched):
    asked = {
        "key": "a key of a page",
        "data": "digits",
        "epochs": "10, 30,50",
        "fields": {"layers": "2"},
        "settings": {"lr": "1e-4"},
    }
    first, second = post(hall, "start", **asked), post(hall, "start", **asked)
    assert first[1]["run"] == second[1]["run"] == "digits-1"
    path = hall.lab.runs.root / "digits-1"
    assert launched == [["train", "digits", "--epochs=10,30,50", "--lr=1e-4", "layers=2", f"--out={path}"]]
    assert post(hall, "start", **asked | {"key": "another key"})[1]["run"] == "digits-2"


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"epochs": "0"}, "--epochs 0 is not allowed: a whole number from 1, or several as in 10,30,50."),
        ({"fields": {"heads": "none"}}, "heads=none"),
        ({"fields": {"lairs": "2"}}, "unknown field 'lairs'. Did you mean 'layers'?"),
        ({"settings": {"lr": "fast"}}, "lr=fast is not allowed: a number from 0 to 1,000,000,000."),
        ({"settings": {"decay": "soon"}}, "decay=soon is not allowed: one of cosine, linear, none."),
        ({"settings": {"out": "/tmp/x"}}, "unknown setting 'out'."),
        ({"data": "digit"}, "no such built-in set: digit. Did you mean 'digits'?"),
        ({"data": "hf:imdb"}, "no such built-in set: hf:imdb."),
        ({"data": "/etc/passwd"}, "no such built-in set: /etc/passwd."),
        ({"spec": "/etc"}, "/etc is not in the folders that the lab was started with"),
        ({"spec": "bert-base", "fields": {"heads": "7"}}, "heads=7 does not divide d_model=768"),
        ({"name": "../x"}, "name=../x is not allowed"),
        ({"key": "short"}, "a key of 8 to 80 characters"),
        ({"fields": ["a"]}, "fields must be strings by name"),
        ({"epochs": 3}, "the request must have epochs as a string"),
    ],
)
def test_a_mistake_is_reported_in_the_words_of_the_command_line(hall, launched, body, words):
    status, found = post(hall, "start", **{"key": "a key of a page, again", "data": "digits", "epochs": "3"} | body)
    assert (status, launched) == (400, [])
    assert found["error"].startswith(words) or words in found["error"]


def test_without_torch_the_page_says_how_to_install_it(hall, monkeypatch):
    monkeypatch.setattr(train_jobs, "find_spec", lambda _: None)
    words = "this needs PyTorch, which is not installed: pip install 'glassformer[torch]'."
    assert ask(hall.lab.port, hall.lab.token, "/api/train/options")[1]["missing"] == words
    assert post(hall, "start", key="yet another key", data="digits", epochs="3") == (400, {"error": words, "field": None})
    assert post(hall, "data", data="digits")[0] == 200


def test_five_rows_of_the_data_are_shown(hall):
    digits = post(hall, "data", data="digits")[1]
    assert (digits["rows"]["train"], len(digits["sample"]), digits["sample"][0]["label"]) == (1252, 5, "3")
    assert len(digits["sample"][0]["input"]) == 8
    own = str(hall.lab.data[0])
    assert post(hall, "data", data=own)[0] == 400
    found = post(hall, "data", data=own, text="review", label="stars")[1]
    assert found["labels"] == ["down", "up"]
    assert {row["label"] for row in found["sample"]} <= {"down", "up"}


def test_the_example_cannot_be_resumed_and_too_many_runs_are_refused(hall):
    assert "the example is only a log, without weights to resume from." in post(hall, "resume", run=EXAMPLE)[1]["error"]
    assert "there is no run nothing" in post(hall, "resume", run="nothing")[1]["error"]
    assert "cannot be changed on resume" in post(hall, "resume", run=EXAMPLE, settings={"seed": "1"})[1]["error"]
    many = "&".join(f"run=r{number}" for number in range(13))
    assert "too many" in ask(hall.lab.port, hall.lab.token, f"/api/train/stream?{many}")[1]["error"]


def test_a_stream_continues_after_the_mark_it_is_given(hall):
    path = f"/api/train/stream?run={EXAMPLE}"
    stream = events(hall.lab.port, hall.lab.token, path)
    name, _, _ = next(stream)
    assert name == "table"
    name, document, mark = next(stream)
    assert (name, document["run"], document["verdict"]["turn"]) == ("points", EXAMPLE, 9)
    assert len([point for point in document["points"] if point["kind"] == "epoch"]) == 40
    stream.close()
    again = events(hall.lab.port, hall.lab.token, path, mark)
    assert next(again)[0] == "table"
    again.close()
    assert tails(hall.lab.runs, [EXAMPLE], mark)[EXAMPLE].read() == (False, [])


def test_a_killed_lab_leaves_the_run_alone_and_the_next_one_finds_it(lab_with, tmp_path):
    pytest.importorskip("torch")
    runs = tmp_path / "runs"
    command = [sys.executable, "-m", "glassformer", "lab", "--no-browser", "--runs", str(runs)]
    lab = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    address = lab.stdout.readline()
    port, token = int(address.split(":")[3].partition("/")[0]), address.partition("#key=")[2].strip()
    body = {
        "key": "a key of a page",
        "data": "digits",
        "epochs": "500",
        "name": "long",
        "fields": {"layers": "1", "d_model": "16"},
    }
    body |= {"settings": {"threads": "1"}}
    assert ask(port, token, "/api/train/start", body)[1]["run"] == "long"
    folder = RunsFolder(runs)
    _wait(lambda: standing(folder, "long")["state"] == "running")
    os.kill(lab.pid, signal.SIGKILL)
    lab.wait()
    lab.stdout.close()
    step = standing(folder, "long")["step"]
    _wait(lambda: standing(folder, "long")["step"] > step)  # it goes on
    with lab_with(runs=runs) as found:
        process = int((runs / "long" / "lock").read_text())
        try:
            rows = ask(found.lab.port, found.lab.token, "/api/train/runs")[1]["rows"]
            assert [(row["name"], row["state"]) for row in rows] == [("long", "running")]
            for _ in range(3):  # asked three times, it is asked once: a second signal would not let it save
                assert post(found, "stop", run="long")[0] == 200
            _wait(lambda: standing(folder, "long")["state"] == "stopped")
            assert standing(folder, "long")["said"].startswith("stopped at step")
        finally:
            if standing(folder, "long")["state"] != "stopped":
                os.kill(process, signal.SIGKILL)


def _wait(holds, seconds=90.0):
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.2)


def test_the_page_of_a_run_opens_where_the_lab_was_started_with_it(lab_with, tmp_path):
    run = a_run(tmp_path / "runs", "mine")
    with lab_with(str(run), runs=tmp_path / "runs") as found:
        assert found.lab.address == "/train?run=mine"
    with lab_with(str(run), runs=tmp_path / "others") as found:
        assert found.lab.address.startswith("/train?run=%2F")
        assert [row["name"] for row in ask(found.lab.port, found.lab.token, "/api/train/runs")[1]["rows"]] == [
            str(Path(run).resolve())
        ]
