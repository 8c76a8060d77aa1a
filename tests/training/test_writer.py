"""Writing in the background: one job at a time, errors are raised, copies are not changed by later steps."""

import threading

import pytest
import torch

from glassformer.training.writer import Writer


def test_a_job_runs_while_the_caller_continues():
    writer, going, done = Writer(), threading.Event(), []

    def job():
        assert going.wait(10)
        done.append(1)

    writer.do(job, background=True)
    assert done == []
    going.set()
    writer.wait()
    assert done == [1]


def test_the_next_job_waits_for_the_one_before():
    writer, order = Writer(), []
    for number in range(20):
        writer.do(lambda number=number: order.append(number), background=True)
    writer.wait()
    assert order == list(range(20))


def test_the_first_error_is_raised_by_wait_and_only_once():
    writer = Writer()

    def job(why):
        raise OSError(why)

    for why in ("full", "still full"):
        writer.do(lambda why=why: job(why), background=True)
    with pytest.raises(OSError, match=r"^full"):
        writer.wait()
    writer.wait()


def test_a_job_in_the_foreground_comes_after_those_before_it():
    writer, going, order = Writer(), threading.Event(), []
    writer.do(lambda: order.append(going.wait(0.1)), background=True)
    writer.do(lambda: order.append("foreground"), background=False)
    assert order == [False, "foreground"]


def test_room_is_made_once():
    writer, weight = Writer(), torch.ones(3)
    writer.make_room({"w": weight})
    room = writer.copies["w"].data_ptr()
    assert writer.copied({"w": weight})["w"].data_ptr() == room


def test_copies_keep_their_values_and_their_memory():
    writer, weight = Writer(), torch.ones(3)
    first = writer.copied({"w": weight})["w"]
    weight += 1
    assert first.tolist() == [1, 1, 1]
    assert writer.copied({"w": weight})["w"].data_ptr() == first.data_ptr()
    assert first.tolist() == [2, 2, 2]
