"""Check: a worked solution, a claim or a quiz, with the mistakes named; hints first, the answer on request."""

from __future__ import annotations

from collections.abc import Callable
from importlib.resources import files
from typing import Any, get_args

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from glassformer.errors import GlassformerError, shown
from glassformer.lab.documents import check as documents
from glassformer.lab.wire import answer, asked, text_in, whole_in

LONGEST = 400_000  # letters of a document
MOST_ANSWERS = 100
# Examples of solutions, and what each shows.
EXAMPLES = {
    "solution.md": "counting weights: a wrong factor, a slip, an error carried forward",
    "shapes-solution.md": "shapes: a product in the wrong order",
}
CLAIMS = (
    "params @ bert-base = 110M",
    "params @ layer d_model=64 heads=4 d_k=16 d_ff=120 = 27648",
    "params @ attention d_model=512 heads=8 = 6553600",
    "shape(weights) @ bert-base t=5 = 768 x 768",
    "params(ffn, layer=0) @ bert-base = 2*d_model*d_ff",
)


async def examples(_: Request) -> Response:
    """Solutions and claims to begin with, and the sets of questions."""
    from glassformer.lab.pages.check_quiz import sets

    folder = files("glassformer.lab").joinpath("solutions")
    listed: list[documents.Solution] = [
        {"name": name, "about": about, "text": folder.joinpath(name).read_text(encoding="utf-8")}
        for name, about in EXAMPLES.items()
    ]
    known: documents.Known = {"solutions": listed, "claims": list(CLAIMS), "sets": sets()}
    return answer(known)


async def text(request: Request) -> Response:
    """A worked solution, annotated."""
    return answer(await _do(request, _checked))


async def claim(request: Request) -> Response:
    """One claim about an encoder."""
    return answer(await _do(request, _claimed))


async def quiz(request: Request) -> Response:
    """The questions of a set for a seed."""
    return answer(await _do(request, _paper))


async def hint(request: Request) -> Response:
    """The next hint to a question."""
    return answer(await _do(request, _hint))


async def judge(request: Request) -> Response:
    """One answer judged."""
    return answer(await _do(request, _judged))


async def review(request: Request) -> Response:
    """The sitting so far: every answer with its marks and its mistake, and the score."""
    return answer(await _do(request, _review))


async def _do(request: Request, reading: Callable[[dict[str, Any]], Any]) -> Any:
    return await request.app.state.lab.workers.do(reading, await asked(request))


def _checked(document: dict[str, Any]) -> documents.Checked:
    from glassformer.answers.documents import DocumentKind, check_text
    from glassformer.lab.pages.check_text import annotated

    given, kind = text_in(document, "text"), document.get("kind", "md")
    if kind not in get_args(DocumentKind):
        raise GlassformerError(f"kind={shown(kind)} is not known: {', '.join(get_args(DocumentKind))}.")
    if len(given) > LONGEST:
        raise GlassformerError(f"the text has {len(given):,} characters: at most {LONGEST:,} are checked here.")
    return annotated(check_text(given, kind=kind))


def _claimed(document: dict[str, Any]) -> documents.Claimed:
    from glassformer.answers.verdicts import check as diagnose
    from glassformer.lab.pages.check_text import judged

    found = diagnose(text_in(document, "claim"))
    return {"question": found.judged.name, "spec": found.answer.label, "claim": found.relation, **judged(found)}


def _paper(document: dict[str, Any]) -> documents.Paper:
    from glassformer.lab.pages.check_quiz import paper

    return paper(_variant(document))


def _hint(document: dict[str, Any]) -> documents.Hint:
    from glassformer.lab.pages import check_quiz

    return check_quiz.hint(_variant(document), text_in(document, "question"), whole_in(document, "used"))


def _judged(document: dict[str, Any]) -> documents.Judged:
    from glassformer.lab.pages import check_quiz

    return check_quiz.judged(_variant(document), _answers(document), text_in(document, "question"), whole_in(document, "used"))


def _review(document: dict[str, Any]) -> documents.Review:
    from glassformer.lab.pages import check_quiz

    used = document.get("hints", {})
    if not isinstance(used, dict) or not all(type(value) is int and 0 <= value < 100 for value in used.values()):
        raise GlassformerError(f"hints must be whole numbers by question, found {shown(used)}.")
    return check_quiz.review(_variant(document), _answers(document), used)


def _variant(document: dict[str, Any]) -> Any:
    from glassformer.lab.pages.check_quiz import drawn

    most = None if document.get("n") is None else whole_in(document, "n")
    return drawn(text_in(document, "set"), whole_in(document, "seed"), most)


def _answers(document: dict[str, Any]) -> dict[str, str]:
    from glassformer.lab.pages.check_quiz import LONGEST_ANSWER

    found = document.get("answers", {})
    if not isinstance(found, dict) or not all(isinstance(said, str) for said in found.values()) or len(found) > MOST_ANSWERS:
        raise GlassformerError(f"answers must be strings by question, at most {MOST_ANSWERS}, found {shown(found)}.")
    return {name: shown(said.strip(), limit=LONGEST_ANSWER) for name, said in found.items()}


routes = [
    Route("/api/check/examples", examples),
    Route("/api/check/text", text, methods=["POST"]),
    Route("/api/check/claim", claim, methods=["POST"]),
    Route("/api/check/quiz", quiz, methods=["POST"]),
    Route("/api/check/quiz/hint", hint, methods=["POST"]),
    Route("/api/check/quiz/judge", judge, methods=["POST"]),
    Route("/api/check/quiz/review", review, methods=["POST"]),
]
