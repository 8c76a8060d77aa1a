"""Runs that are kept a while, so that the next question about them is quick: the last few, and never more than so many bytes."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from typing import Any, TypeVar

Made = TypeVar("Made")


class Cache:
    """A cache by key, which removes the least recently used items if there are too many or they are too large."""

    def __init__(self, most: int, most_bytes: int) -> None:
        self.most = most
        self.most_bytes = most_bytes
        self.kept: OrderedDict[Hashable, tuple[Any, int]] = OrderedDict()
        self.lock = Lock()
        self.making: dict[Hashable, Lock] = {}

    def get(self, key: Hashable, make: Callable[[], Made], weigh: Callable[[Made], int]) -> Made:
        """What is kept under `key`, made where it is not there; who asks for the same at once waits for the one that makes it."""
        with self.lock:
            turn = self.making.setdefault(key, Lock())
        with turn:
            try:
                with self.lock:
                    if key in self.kept:
                        self.kept.move_to_end(key)
                        found: Made = self.kept[key][0]
                        return found
                made = make()
                with self.lock:
                    self.kept[key] = (made, weigh(made))
                    self._make_room()
                return made
            finally:
                with self.lock:
                    self.making.pop(key, None)

    def __contains__(self, key: Hashable) -> bool:
        with self.lock:
            return key in self.kept

    @property
    def bytes(self) -> int:
        return sum(size for _, size in self.kept.values())

    def _make_room(self) -> None:
        """The newest stays, however large: it is about to be asked for."""
        while len(self.kept) > 1 and (len(self.kept) > self.most or self.bytes > self.most_bytes):
            self.kept.popitem(last=False)
