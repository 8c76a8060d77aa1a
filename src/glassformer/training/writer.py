"""Writing in the background: tensors are copied to the host, and a thread writes them while training continues."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor

import torch
from torch import Tensor


class Writer:
    """Does jobs in a thread, in their order; an error of a job is raised by `wait`."""

    def __init__(self) -> None:
        # Not a daemon: a process that exits normally finishes writing.
        self.pool = ThreadPoolExecutor(1, thread_name_prefix="glassformer-writer")
        self.jobs: list[Future[None]] = []
        self.copies: dict[str, Tensor] = {}

    def do(self, job: Callable[[], None], *, background: bool) -> None:
        """Do a job after those before it, in the thread if asked."""
        if background:
            self.jobs.append(self.pool.submit(job))
        else:
            self.wait()
            job()

    def wait(self) -> None:
        """Wait for all jobs, and raise the first error."""
        jobs, self.jobs = self.jobs, []
        errors = [error for error in [job.exception() for job in jobs] if error is not None]
        if errors:
            raise errors[0]

    def copied(self, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Copy tensors to the host, into the same memory each time; call it only while no job reads the last copies."""
        self.make_room(tensors)
        for name, tensor in tensors.items():
            self.copies[name].copy_(tensor.detach(), non_blocking=True)
        if any(tensor.is_cuda for tensor in tensors.values()):
            torch.cuda.synchronize()
        return {name: self.copies[name] for name in tensors}

    def make_room(self, tensors: Mapping[str, Tensor]) -> None:
        """Allocate the memory for copies of tensors; with a GPU it is pinned, which takes a while."""
        for name, tensor in tensors.items():
            kept = self.copies.get(name)
            if kept is None or kept.shape != tensor.shape:
                self.copies[name] = torch.empty_like(tensor, device="cpu", pin_memory=tensor.is_cuda)
