"""Items made ahead: the same items in order, one of them early, and an error where it belongs."""

import threading

import pytest

from glassformer.errors import GlassformerError
from glassformer.files.ahead import ahead


def test_all_items_come_in_order():
    assert list(ahead(iter(range(1, 6)))) == [1, 2, 3, 4, 5]
    assert list(ahead(iter(()))) == []


def test_the_next_item_is_made_while_this_one_is_used():
    made = [threading.Event() for _ in range(3)]

    def windows():
        for event in made:
            event.set()
            yield event

    coming = ahead(windows())
    assert next(coming) is made[0]
    assert made[1].wait(10)  # nobody asked for it yet
    assert not made[2].is_set()
    coming.close()


def test_an_error_comes_after_the_items_before_it():
    def windows():
        yield 1
        raise GlassformerError("text 1 is empty.")

    coming = ahead(windows())
    assert next(coming) == 1
    with pytest.raises(GlassformerError, match="text 1 is empty"):
        next(coming)
