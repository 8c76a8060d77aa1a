"""Tiny runs that are killed or signalled at random moments, and compared with an uninterrupted one.

    PYTHONPATH=tests python tests/training/disturbed.py kills FOLDER 200
    PYTHONPATH=tests python tests/training/disturbed.py kills-translate FOLDER 20
    PYTHONPATH=tests python tests/training/disturbed.py signals FOLDER 100
    PYTHONPATH=tests python tests/training/disturbed.py ranks FOLDER 20

One process imports torch, never trains, and forks those that do, or has torchrun start two; what it counted is printed as JSON.
Without words it reads them from standard input, a line each time, and forks a process for each line.
"""

import json
import os
import random
import re
import select
import shlex
import signal
import subprocess
import sys
import time
import traceback
from contextlib import suppress
from functools import partial
from pathlib import Path

import torch
from tiny_training import SETTINGS, Quiet, losses, tiny_run
from tiny_writing import written_run

from glassformer.errors import GlassformerError
from glassformer.training import loop, saving, scoring, state
from glassformer.training.runs import Run

HALF_DONE = re.compile(r".*\.(tmp|old)-\d+|.*\.(new|old|tmp)|\.(best|last)\..*")
OPERATIONS = {"open", "os.mkdir", "os.rename", "os.remove", "os.rmdir", "shutil.rmtree"}
A_SAVE = 30  # operations on the disk in a save, about
PATIENCE = 60  # seconds
EPOCHS = 30  # of a run that is killed many times


class Child:
    """A process that trains, and tells through a pipe: s it has started, a number after a step, b and e around a save."""

    def __init__(self, path, data, before=lambda: None):
        self.told, self.rest, (self.reader, writer) = [], "", os.pipe()
        self.pid = os.fork()
        if self.pid:
            os.close(writer)
            return
        code = 9
        try:
            before()
            code = work(path, data, lambda word: os.write(writer, f"{word}\n".encode()))
        except BaseException:  # a forked child must never return into its parent's code
            traceback.print_exc()
        os._exit(code)

    def listen(self, seconds, until=lambda _: False):
        """Hear what it says for so long, or until something was said or it ended; False when it ended."""
        end = time.monotonic() + seconds
        while not until(self.told) and (left := end - time.monotonic()) > 0:
            if select.select([self.reader], [], [], left)[0]:
                heard = os.read(self.reader, 4096).decode()
                if not heard:
                    return False
                *whole, self.rest = (self.rest + heard).split("\n")
                self.told += whole
        return True

    def end(self, patience=PATIENCE):
        """Its exit code, negative for a signal, and the seconds it took; a process that does not end in time is killed: -99."""
        began, hung = time.monotonic(), self.listen(patience)
        if hung:
            os.kill(self.pid, signal.SIGKILL)
            self.listen(patience)
        os.close(self.reader)
        code = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        return (-99 if hung else code), time.monotonic() - began

    @property
    def step(self):
        """The last step that it took."""
        return max((int(word) for word in self.told if word.isdigit()), default=0)

    @property
    def saving(self):
        """Whether it was inside a save when it was last heard of."""
        return self.told.count("b") > self.told.count("e")


def work(path, data, tell):
    """Train a run to its end; gives the exit code."""
    watch, save = Quiet(tell), saving.Saving.save
    watch.start = lambda *_: tell("s")

    def saved(self, progress):
        tell("b")
        save(self, progress)
        tell("e")

    saving.Saving.save = saved
    Run.draw_curves = lambda _: None  # pictures take longer than these runs
    scoring.available = lambda: False  # and so do translations of the test data
    try:
        loop.train(Run.open(path), data, watch)
    except GlassformerError as error:
        tell(f"error {error}")
        return error.code
    return 0


def die_at_operation(number, share):
    """Be killed at the n-th thing that saves do to the disk (0: never); a file that is written then has a share of its bytes."""
    left, real_write, real_fsync, real_save = [number], state.write, os.fsync, saving.Saving.save
    inside = [False]

    def tick(last_words=lambda: None):
        if inside[0]:
            left[0] -= 1
            if not left[0]:
                last_words()
                os.kill(os.getpid(), signal.SIGKILL)

    def write(path, *pieces):
        content = b"".join(map(bytes, pieces))
        tick(lambda: path.write_bytes(content[: int(share * len(content))]))
        return real_write(path, *pieces)

    def fsync(handle):
        tick()
        real_fsync(handle)
        tick()

    def save(self, progress):
        inside[0] = True
        real_save(self, progress)
        inside[0] = False

    state.write, os.fsync, saving.Saving.save = write, fsync, save
    sys.addaudithook(lambda event, _: tick() if event in OPERATIONS else None)


def outcome(path):
    """All that a run leaves, to the last bit."""
    newest = state.saved_steps(path / "checkpoints")[0]
    tensors = state.load_state(path / "checkpoints", newest).tensors  # whichever process wrote which of them
    weights = [(path / name / "model.safetensors").read_bytes() for name in ("last", "best")]
    return losses(Run.open(path)), newest, weights, {name: one.numpy().tobytes() for name, one in tensors.items()}


def fresh(place):
    """A folder for the next run."""
    return place / f"disturbed-{len(list(place.iterdir()))}"


class Counts(dict):
    """What was counted; anything under `faults` should be 0."""

    def __init__(self, **zero):
        super().__init__(faults=dict.fromkeys(("unreadable", "lost_more", "strays", "failed", "differing", "hung"), 0), **zero)

    def fault(self, name, *, when):
        self["faults"][name] += int(when)


def examine(path, step, counts, child=None):
    """After a death: every checkpoint whole, at most one interval of steps lost, nothing left of those who died before."""
    checkpoints = path / "checkpoints"
    newest = 0
    for saved in reversed(state.saved_steps(checkpoints)):
        try:
            newest = state.load_state(checkpoints, saved).step
        except state.Damaged:
            counts.fault("unreadable", when=True)
    counts.fault("lost_more", when=step - newest > SETTINGS["save_every"])
    if child is not None and "s" in child.told:
        names = [one.name for one in checkpoints.iterdir()] if checkpoints.is_dir() else []
        counts.fault("strays", when=any(HALF_DONE.fullmatch(one) and not one.endswith(f"-{child.pid}") for one in names))


def compare(path, whole, counts):
    """After the end: the bits of the undisturbed run, and nothing half-done in the folder."""
    counts["runs"] += 1
    counts.fault("differing", when=outcome(path) != whole)
    left = [one for folder in (path, path / "checkpoints") for one in folder.iterdir() if HALF_DONE.fullmatch(one.name)]
    counts.fault("strays", when=bool(left))


def careless():
    """What many do: a state is written where it will be looked for."""

    def save_state(checkpoints, saved):
        target = state.folder_of(checkpoints, saved.step)
        target.mkdir(parents=True, exist_ok=True)
        written = state.write(target / state.TENSORS, *state.safetensors_bytes(saved.tensors))
        state.finish(target, target, saved, {state.TENSORS: written})

    state.save_state, state.discard = save_state, lambda _: None


def kills(place, count, seed=0, before=lambda: None, make=tiny_run, wanted=""):
    """kill -9: half of them at any moment, half inside a save (at a moment drawn there, or at an operation on the disk).

    There are no more of them once the fault that is `wanted` was found.
    """
    chance, counts = random.Random(seed), Counts(kills=0, inside_a_save=0, runs=0)
    run, data = make(place / "whole")
    began = time.monotonic()
    assert Child(run.path, data).end()[0] == 0
    whole, lasts = outcome(run.path), time.monotonic() - began
    path = None
    while (more := counts["kills"] < count and not counts["faults"].get(wanted)) or path is not None:
        if path is None:
            path = make(fresh(place))[0].path
        way = ["any moment", "in a save", "any moment", "operation"][counts["kills"] % 4] if more else "none"
        if way != "none" and 2 * counts["inside_a_save"] < counts["kills"]:  # saves on a quick disk are over before they are hit
            way = "operation"
        number, share = chance.randint(1, 2 * A_SAVE), chance.random()

        def prepare(at=number if way == "operation" else 0, share=share):
            before()
            die_at_operation(at, share)

        child = Child(path, data, prepare)
        goes_on = True
        if way == "any moment":
            goes_on = child.listen(chance.uniform(0, 0.7 * lasts))
        elif way == "in a save":
            saves = chance.randint(1, 2)
            goes_on = child.listen(PATIENCE, lambda told, n=saves: told.count("b") >= n) and child.listen(chance.expovariate(100))
        if goes_on and way in ("any moment", "in a save"):
            os.kill(child.pid, signal.SIGKILL)
        code, _ = child.end()
        if code == -signal.SIGKILL:
            counts["kills"] += 1
            counts["inside_a_save"] += child.saving
            examine(path, child.step, counts, child)
        elif code == 0:
            compare(path, whole, counts)
            path = None
        else:
            counts.fault("hung" if code == -99 else "failed", when=True)
            path = None
    return counts


def second_signal(path, data):
    """The exit code of a process that gets a second signal during a long step, and its seconds."""

    def slow():
        real = loop.Trainer.validate
        loop.Trainer.validate = lambda self, epoch: (time.sleep(2 * PATIENCE), real(self, epoch))

    child = Child(path, data, slow)
    child.listen(PATIENCE, lambda told: "10" in told)  # the epoch's last step: now it validates
    os.kill(child.pid, signal.SIGINT)
    child.listen(0.3)
    os.kill(child.pid, signal.SIGINT)
    return child.end()


def signals(place, count, seed=0):
    """SIGTERM, SIGINT and SIGUSR1 from outside, at any moment after the start: the step is saved, the exit code right."""
    chance, counts = random.Random(seed), Counts(signals=0, runs=0, slowest=0.0)
    run, data = tiny_run(place / "whole", epochs=4)
    counts["second"] = second_signal(run.path, data)
    assert Child(run.path, data).end()[0] == 0
    whole, path = outcome(run.path), None
    while counts["signals"] < count or path is not None:
        if path is None:
            path = tiny_run(fresh(place), epochs=4)[0].path
        child = Child(path, data)
        number = (signal.SIGTERM, signal.SIGINT, signal.SIGUSR1)[counts["signals"] % 3]
        if counts["signals"] < count:
            child.listen(PATIENCE, lambda told: "s" in told)
            if child.listen(chance.uniform(0, 0.2)):
                os.kill(child.pid, number)
        code, seconds = child.end()
        if code == 128 + number:
            counts["signals"] += 1
            counts["slowest"] = max(counts["slowest"], round(seconds, 2))
            saved = state.saved_steps(path / "checkpoints")[0]
            counts.fault("lost_more", when=saved != child.step)
            counts.fault("failed", when=f"error stopped at step {saved} of 40; everything is saved." not in "\n".join(child.told))
        else:
            counts.fault("hung" if code == -99 else "failed", when=code != 0)
            if code == 0:
                compare(path, whole, counts)
            path = None
    return counts


class Pair:
    """Two processes of a run under torchrun, which starts both again when one of them dies."""

    def __init__(self, path):
        words = ["torch.distributed.run", "--standalone", "--nproc-per-node", "2", "--max-restarts", "1000", "--monitor-interval"]
        words += ["0.1", "-m", "glassformer", "resume", str(path)]
        self.path, self.starts, self.log = path, 0, (path.parent / f"{path.name}.log").open("w")
        self.agent = subprocess.Popen([sys.executable, "-m", *words], stdout=self.log, stderr=self.log)

    def ended(self):
        return self.agent.poll() is not None

    def workers(self):
        """The two processes of the present start; none where they are not both there, or the run has ended."""
        with suppress(OSError):  # gone while it was looked at
            environments = {pid: Path(f"/proc/{pid}/environ").read_bytes().split(b"\0") for pid in self.children()}
            told = b"TORCHELASTIC_RESTART_COUNT=%d" % self.starts
            found = [pid for pid, environment in environments.items() if told in environment]
            return found if len(found) == 2 else []
        return []

    def children(self):
        return [int(pid) for pid in Path(f"/proc/{self.agent.pid}/task/{self.agent.pid}/children").read_text().split()]

    def wait(self, until, patience):
        """Whether something comes true before the run ends and within so many seconds."""
        end = time.monotonic() + patience
        while not (true := until()) and not self.ended() and time.monotonic() < end:
            time.sleep(0.01)
        return bool(true)

    @property
    def step(self):
        """The last step that was written down."""
        lines = (self.path / "metrics.jsonl").read_text().splitlines() if (self.path / "metrics.jsonl").exists() else []
        return max((int(found[1]) for line in lines if (found := re.search(r'"kind": "step", "step": (\d+)', line))), default=0)

    def close(self):
        """The exit code of torchrun; if it does not end in time, it is killed with its processes: -99."""
        hung = not self.wait(self.ended, 4 * PATIENCE) and not self.ended()
        for pid in [*self.children(), self.agent.pid] if hung else ():
            os.kill(pid, signal.SIGKILL)
        self.log.close()
        return -99 if hung else self.agent.wait()


def ranks(place, count, seed=0):
    """torchrun with two processes, one of them killed at a random moment: both are started again, until the run has ended."""
    chance, counts = random.Random(seed), Counts(kills=0, restarts=0, runs=0, slowest=0.0)
    run, _ = tiny_run(place / "whole", epochs=EPOCHS)
    assert Pair(run.path).close() == 0, (place / "whole.log").read_text()
    whole = outcome(run.path)
    while counts["kills"] < count:
        pair = Pair(tiny_run(fresh(place), epochs=EPOCHS)[0].path)
        while counts["kills"] < count and pair.wait(pair.workers, PATIENCE):
            before = pair.step
            if counts["kills"] % 4 and not pair.wait(lambda pair=pair, before=before: pair.step > before, PATIENCE):
                break  # every fourth is killed while it starts
            time.sleep(chance.uniform(0, 1.0))
            victims, step = pair.workers(), pair.step
            if pair.ended() or not victims:
                break
            os.kill(chance.choice(victims), signal.SIGKILL)
            began, pair.starts = time.monotonic(), pair.starts + 1
            counts["kills"] += 1
            counts["restarts"] += pair.wait(pair.workers, 2 * PATIENCE)
            seconds = time.monotonic() - began
            counts["slowest"] = max(counts["slowest"], round(seconds, 1))
            counts.fault("hung", when=seconds > PATIENCE)
            examine(pair.path, step, counts)
        code = pair.close()
        counts.fault("hung" if code == -99 else "failed", when=code != 0)
        if code == 0:
            compare(pair.path, whole, counts)
    return counts


WAYS = {
    "kills": kills,
    "signals": signals,
    "ranks": ranks,
    "careless": partial(kills, before=careless, wanted="unreadable"),
    **{f"kills-{task}": partial(kills, make=partial(written_run, task)) for task in ("translate", "causal")},
}


def count(way, place, number):
    """Disturb runs in one of the ways, and print what was counted."""
    Path(place).mkdir(exist_ok=True)
    print(json.dumps(WAYS[way](Path(place), int(number))), flush=True)  # noqa: T201


def serve():
    """Count for each line of standard input, in a process of its own; an empty line is the answer of one that failed."""
    for line in sys.stdin:
        pid = os.fork()
        if not pid:
            code = 1
            try:
                count(*shlex.split(line))
                code = 0
            except BaseException:  # a forked child must never return into its parent's code
                traceback.print_exc()
            os._exit(code)
        if os.waitpid(pid, 0)[1]:
            print(flush=True)  # noqa: T201


if __name__ == "__main__":
    torch.set_num_threads(1)
    count(*sys.argv[1:]) if sys.argv[1:] else serve()
