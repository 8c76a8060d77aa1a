"""Writing in the background: one job at a time, errors are raised, copies are not changed by later steps."""

import threading

import pytest
import torch

from glassformer.training.writer import Writer


def test_a_job_runs_while_the_caller_goes_on():
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


def test_an_error_is_raised_by_the_next_call_and_only_once():
    writer = Writer()

    def job():
        raise OSError("full")

    writer.do(job, background=True)
    with pytest.raises(OSError, match="full"):
        writer.do(lambda: None, background=True)
    writer.wait()


def test_copies_keep_their_values_and_their_memory():
    writer, weight = Writer(), torch.ones(3)
    first = writer.copied({"w": weight})["w"]
    weight += 1
    assert first.tolist() == [1, 1, 1]
    assert writer.copied({"w": weight})["w"].data_ptr() == first.data_ptr()
    assert first.tolist() == [2, 2, 2]
