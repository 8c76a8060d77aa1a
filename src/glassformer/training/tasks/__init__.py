"""The tasks that an encoder is trained for: a record of each."""

from glassformer.training.data.dataset import Dataset, TaskName
from glassformer.training.tasks.classes import Images, Pairs, Texts, Words
from glassformer.training.tasks.embeddings import Embeddings
from glassformer.training.tasks.masked_tokens import MaskedTokens
from glassformer.training.tasks.numbers import Numbers, Similarity
from glassformer.training.tasks.several import SeveralClasses
from glassformer.training.tasks.task import Task
from glassformer.training.tasks.writing import NextToken, Translation

ENCODING = (Texts(), Pairs(), Numbers(), Similarity(), SeveralClasses(), Images(), Words(), MaskedTokens(), Embeddings())
EVERY: tuple[Task, ...] = (*ENCODING, NextToken(), Translation())
TASKS: dict[TaskName, Task] = {task.name: task for task in EVERY}

__all__ = ["TASKS", "Task", "task_of"]


def task_of(data: Dataset) -> Task:
    """Return the record of the task of some data."""
    return TASKS[data.task]
