"""Train: runs started, watched, stopped and compared."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, get_args

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from glassformer.configs.presets import preset_doc, preset_names
from glassformer.configs.reading import draft
from glassformer.errors import NO_TORCH, GlassformerError, nearest, shown
from glassformer.lab.documents import picked
from glassformer.lab.documents import train as documents
from glassformer.lab.pages.train_jobs import Jobs, has_torch
from glassformer.lab.pages.train_mistakes import mistakes_of, row_shown
from glassformer.lab.pages.train_overfitting import overfitting_of
from glassformer.lab.pages.train_stream import MOST_SHOWN, Table, events, tails
from glassformer.lab.runs import EXAMPLE
from glassformer.lab.shelf import put
from glassformer.lab.wire import answer, asked, events_answer, text_in
from glassformer.spec import field_docs, field_rules
from glassformer.spec.fields import accept, rule_for

if TYPE_CHECKING:
    from glassformer.lab.start import Lab

SAMPLE = 5  # rows of the data that are shown
LONGEST_WORD = 4000  # of what a page sends: a name, a path, a number
COLUMNS = ("text", "label")
# What is asked for first, of a spec and of the settings; the rest is one click away.
FIRST_FIELDS = ("d_model", "heads", "layers", "d_ff", "dropout")
FIRST_SETTINGS = ("lr", "batch_size", "seed")


class TrainState:
    """What the page keeps between two requests."""

    def __init__(self, lab: Lab) -> None:
        self.lab = lab
        self.jobs = Jobs(lab.runs)
        self.table = Table(lab.runs)
        self.looked_into: dict[tuple[str, ...], documents.Sample] = {}


def _state(request: Request) -> TrainState:
    state = request.app.state
    if not hasattr(state, "train"):
        state.train = TrainState(state.lab)
    found: TrainState = state.train
    return found


async def options(request: Request) -> Response:
    """What can be chosen: data, specs with their fields, settings; and whether anything can be trained here at all."""
    from glassformer.training.data.sets import SETS, card, labels
    from glassformer.training.settings import FREE, setting_rules

    lab = request.app.state.lab
    sets: list[documents.DataSet] = [
        {
            "name": name,
            "title": card(name).title,
            "task": one.task,
            "rows": card(name).rows(name),
            "classes": len(labels(name)),
            "to_beat": one.to_beat,
            "licence": card(name).provenance.licence,
        }
        for name, one in SETS.items()
    ]
    rules, docs = field_rules(), field_docs()
    fields = [picked(documents.Field, rule, doc=docs[name], first=name in FIRST_FIELDS) for name, rule in rules.items()]
    settings = [
        picked(documents.Setting, rule, name=name, first=name in FIRST_SETTINGS, free=name in FREE)
        for name, rule in setting_rules().items()
        if name not in ("epochs", "parallel")
    ]
    found: documents.Options = {
        "sets": sets,
        "own": [str(path) for path in lab.data],
        "presets": [{"name": name, "doc": preset_doc(name)} for name in preset_names()],
        "folders": [str(root) for root in lab.folders.roots],
        "fields": fields,
        "settings": settings,
        "runs": str(lab.runs.folder),
        "example": EXAMPLE,
        "most_shown": MOST_SHOWN,
        "missing": None if has_torch() else NO_TORCH,
    }
    return answer(found)


async def data(request: Request) -> Response:
    """A look into data: rows a part, labels, and the first five training rows."""
    document = await asked(request)
    state, words = _state(request), {name: _text(document, name) for name in ("data", *COLUMNS)}
    key = tuple(words.values())
    if key not in state.looked_into:
        found = await state.lab.workers.do(_look_into, _data_name(state.lab, words["data"]), words)
        state.looked_into = dict([*state.looked_into.items(), (key, found)][-16:])
    return answer(state.looked_into[key])


async def start(request: Request) -> Response:
    """A new run; the same key again gives the same run."""
    document, state = await asked(request), _state(request)
    key = _text(document, "key")
    if not 8 <= len(key) <= 80:
        raise GlassformerError("the request must have a key of 8 to 80 characters, new for each run.")
    name = await state.lab.workers.do(_start, state, key, document)
    started: documents.Started = {"run": name, "row": (await state.lab.workers.do(state.table.now, fresh=True)).get(name)}
    return answer(started)


async def stop(request: Request) -> Response:
    """The run finishes its step, saves, and ends."""
    document, state = await asked(request), _state(request)
    await state.lab.workers.do(state.jobs.stop, _text(document, "run"))
    return await _rows(state, fresh=True)


async def resume(request: Request) -> Response:
    """The run goes on from its last checkpoint, with the settings that may be changed on the way."""
    document, state = await asked(request), _state(request)
    from glassformer.training.settings import require_free

    changed = {name: value for name, value in _texts(document, "settings").items() if value.strip()}
    require_free(changed)
    await state.lab.workers.do(state.jobs.resume, _text(document, "run"), _settings(changed))
    return await _rows(state, fresh=True)


async def mistakes(request: Request) -> Response:
    """What a finished run gets wrong on its test rows: the confusion matrix, and the most confident mistakes."""
    state, name = _state(request), _text(await asked(request), "run")
    return answer(await state.lab.workers.do(mistakes_of, state.lab.runs, name))


async def overfitting(request: Request) -> Response:
    """Whether the rise of the validation loss is more than chance."""
    state, name = _state(request), _text(await asked(request), "run")
    return answer(await state.lab.workers.do(overfitting_of, state.lab.runs, name))


async def shelve(request: Request) -> Response:
    """A run gets another title, goes into the archive or comes back from it; its files stay as they are."""
    document, state = await asked(request), _state(request)
    archived = document.get("archived")
    if not isinstance(archived, bool | None):
        raise GlassformerError(f"archived={shown(archived)} is not allowed: it must be true or false.")
    title = _text(document, "title") if "title" in document else None
    await state.lab.workers.do(put, state.lab.runs, _text(document, "run"), title=title, archived=archived)
    return await _rows(state, fresh=True)


async def runs(request: Request) -> Response:
    """How all runs stand."""
    state = _state(request)
    state.jobs.sweep()
    return await _rows(state)


async def _rows(state: TrainState, *, fresh: bool = False) -> Response:
    found: documents.Rows = {"rows": list((await state.lab.workers.do(state.table.now, fresh=fresh)).values())}
    return answer(found)


async def stream(request: Request) -> Response:
    """The table and the curves as they grow."""
    state, names = _state(request), request.query_params.getlist("run")
    tails(state.lab.runs, names, "")  # a mistake is said before the stream begins
    return events_answer(events(state.table, names, request.headers.get("last-event-id", ""), state.lab.leaving))


def _start(state: TrainState, key: str, document: Mapping[str, Any]) -> str:
    lab = state.lab
    data_name = _data_name(lab, _text(document, "data"))
    words = [f"--{name}={value}" for name in COLUMNS if (value := _text(document, name)) and data_name in map(str, lab.data)]
    words += [f"--epochs={_epochs(_text(document, 'epochs'))}"]
    given = {name: value for name, value in _texts(document, "settings").items() if value.strip()}
    words += [f"--{name.replace('_', '-')}={value}" for name, value in _settings(given).items()]
    words += _spec_words(lab, _text(document, "spec"), _texts(document, "fields"))
    return state.jobs.start(key, _text(document, "name"), data_name, words)


def _data_name(lab: Lab, name: str) -> str:
    """A built-in set, or data that was named at the start."""
    from glassformer.training.data.sets import SETS

    if name in SETS or name in map(str, lab.data):
        return name
    raise GlassformerError(
        f"no such built-in set: {shown(name)}.{nearest(name, SETS)} To use your own data, start the lab with "
        "'glassformer lab --data FILE'."
    )


def _spec_words(lab: Lab, name: str, fields: Mapping[str, str]) -> list[str]:
    """The spec as the command line takes it; each field is checked here, and how they fit together by the command."""
    given: dict[str, Any] = {field: value.strip() for field, value in fields.items() if value.strip()}
    for field, value in given.items():
        accept(rule_for(field).name, value)
    if name and name not in preset_names():
        name = str(lab.folders.inside(name))
    elif name:
        draft(name, **given)  # the head comes from the data: the command asks whether each field is read
    return [*([name] if name else []), *(f"{field}={value}" for field, value in given.items())]


def _epochs(text: str) -> str:
    from glassformer.training.settings import epoch_counts

    return ",".join(map(str, epoch_counts("".join(text.split()))))


def _settings(given: Mapping[str, str]) -> dict[str, str]:
    """Settings as texts, each checked as the command line checks it."""
    from glassformer.training.settings import require_settings, setting_rules

    require_settings(given)
    texts = {name: value.strip() for name, value in given.items()}
    for name, value in texts.items():
        setting_rules()[name].read(name, value)
    return texts


def _look_into(name: str, words: Mapping[str, str]) -> documents.Sample:
    from glassformer.training.data import load_data
    from glassformer.training.data.description import describe

    columns = {column: words[column] for column in COLUMNS if words[column]}
    found = describe(load_data(name, **columns), rows=SAMPLE)  # type: ignore[arg-type]
    task: Any = found.dataset.task
    if task not in get_args(documents.ShownTask):
        raise GlassformerError(
            f"rows with several texts (the task {task}) are trained with the command: glassformer train {shown(name)}."
        )
    sample: list[documents.Example] = [
        {"label": label, "input": row_shown(one, task, getattr(found.dataset.train.inputs, "white", 1))}
        for one, label in found.sample
    ]
    return {
        "task": task,
        "rows": found.rows,
        "labels": list(found.dataset.labels)[:200],
        "notes": list(found.dataset.notes),
        "licence": found.dataset.provenance.licence,
        "sample": sample,
    }


def _text(document: Mapping[str, Any], key: str) -> str:
    return text_in(document, key, "", most=LONGEST_WORD)


def _texts(document: Mapping[str, Any], key: str) -> dict[str, str]:
    found = document.get(key, {})
    if not isinstance(found, dict) or len(found) > 200 or not all(isinstance(value, str) for value in found.values()):
        raise GlassformerError(f"{key} must be strings by name, found {shown(found)}.")
    return found


routes = [
    Route("/api/train/options", options),
    Route("/api/train/runs", runs),
    Route("/api/train/stream", stream),
    Route("/api/train/data", data, methods=["POST"]),
    Route("/api/train/start", start, methods=["POST"]),
    Route("/api/train/stop", stop, methods=["POST"]),
    Route("/api/train/resume", resume, methods=["POST"]),
    Route("/api/train/mistakes", mistakes, methods=["POST"]),
    Route("/api/train/overfitting", overfitting, methods=["POST"]),
    Route("/api/train/shelve", shelve, methods=["POST"]),
]
