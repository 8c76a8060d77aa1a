"""Run a job in forked processes that kill themselves at every point of a write, one point each; then continue without kills.

    python kill_points.py MODEL INPUT OUT SHARD_ROWS

Prints JSON: how many kills there were, how many of the continued jobs ended with other files, and the rows in their manifests.
"""

import json
import os
import shutil
import signal
import sys
from functools import partial
from pathlib import Path

os.environ["TOKENIZERS_PARALLELISM"] = "false"  # its threads would not survive a fork

import torch

import glassformer as gf

TORN = 20  # bytes that a torn write lacks


def die():
    os.kill(os.getpid(), signal.SIGKILL)


def disturb(point):
    """Kill this process at one point: before, inside or after a write, or before or after a rename or a removal."""
    reached = 0
    fsync, replace, unlink = os.fsync, Path.replace, Path.unlink

    def now():
        nonlocal reached
        reached += 1
        return reached - 1 == point

    def torn(number):
        if now():
            size = os.fstat(number).st_size
            os.ftruncate(number, max(0, size - TORN))
            die()
        fsync(number)
        if now():
            die()

    def around(call):
        def called(*given, **options):
            if now():
                die()
            found = call(*given, **options)
            if now():
                die()
            return found

        return called

    def synced(number):
        return torn(number) if os.fstat(number).st_mode & 0o100000 else fsync(number)

    os.fsync, Path.replace, Path.unlink = synced, around(replace), around(unlink)


def in_a_fork(call):
    """Run a function in a forked process and return its exit status."""
    pid = os.fork()
    if not pid:
        try:
            call()
        except BaseException as error:
            print(error, file=sys.stderr)
            os._exit(1)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def bytes_of(folder):
    return {file: file.read_bytes() for file in sorted(folder.rglob("*")) if file.is_file()}


def main():
    model, file, out, rows = sys.argv[1], sys.argv[2], Path(sys.argv[3]), int(sys.argv[4])
    torch.set_num_threads(1)

    def job():
        gf.encode_files(model, file, out, shard_rows=rows, workers=1, threads=1)

    def disturbed(point):
        disturb(point)
        job()

    job()  # here, so that what it imports is there before the forks
    whole, kills, different, manifests = bytes_of(out), 0, 0, []
    while True:
        shutil.rmtree(out)
        code = in_a_fork(partial(disturbed, kills))
        if code == 0:
            break
        assert code == -signal.SIGKILL, code
        kills += 1
        assert in_a_fork(job) == 0
        different += bytes_of(out) != whole
        manifests.append(json.loads((out / "manifest.json").read_text())["rows"])
    print(json.dumps({"kills": kills, "different": different, "manifests": manifests}))


if __name__ == "__main__":
    main()
