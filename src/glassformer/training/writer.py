"""Writing in the background: tensors are copied to the host, and a thread writes them while training goes on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from threading import Thread

import torch
from torch import Tensor


class Writer:
    """Does one job at a time in a thread; an error of a job is raised by the next call."""

    def __init__(self) -> None:
        self.thread: Thread | None = None
        self.error: BaseException | None = None
        self.copies: dict[str, Tensor] = {}

    def do(self, job: Callable[[], None], *, background: bool) -> None:
        """Do a job, in a thread if asked; the job before is finished first."""
        self.wait()
        if not background:
            job()
            return
        # Not a daemon: a process that ends in order finishes what it is writing.
        self.thread = Thread(target=self._try, args=(job,), name="glassformer-writer")
        self.thread.start()

    def wait(self) -> None:
        """Wait for the last job, and raise its error."""
        if self.thread is not None:
            self.thread.join()
            self.thread = None
        error, self.error = self.error, None
        if error is not None:
            raise error

    def copied(self, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Copy tensors to the host, into the same memory each time; call it only while no job reads the last copies."""
        for name, tensor in tensors.items():
            kept = self.copies.get(name)
            if kept is None or kept.shape != tensor.shape:
                kept = self.copies[name] = torch.empty_like(tensor, device="cpu", pin_memory=tensor.is_cuda)
            kept.copy_(tensor.detach(), non_blocking=True)
        if any(tensor.is_cuda for tensor in tensors.values()):
            torch.cuda.synchronize()
        return {name: self.copies[name] for name in tensors}

    def _try(self, job: Callable[[], None]) -> None:
        try:
            job()
        except BaseException as error:  # raised again by `wait`
            self.error = error
