"""An iterator whose next item is computed in another thread while the current one is used."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Item = TypeVar("Item")


def ahead(items: Iterator[Item]) -> Iterator[Item]:
    """Yield the same items, with the next one made in another thread.

    The work in that thread should release the GIL, as tokenizers do; otherwise the GPU has to wait.
    """
    with ThreadPoolExecutor(max_workers=1) as thread:
        coming = thread.submit(next, items, None)
        while (item := coming.result()) is not None:
            coming = thread.submit(next, items, None)
            yield item
