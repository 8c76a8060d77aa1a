"""Quizzes as Moodle XML: one category per question with all its variants; feedback on wrong answers names the mistake."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from glassformer.answers.quiz.template import QuizSet
from glassformer.show.quiz.bank import Accepted, Entry, feedback
from glassformer.show.quiz.html_page import inline

# The fractions of the marks that Moodle accepts, in per cent.
SHARES = (100, 90, 80, 75, 70, 60, 50, 40, 30, 25, 20, 10, 5, 0)
TYPES = {"number": "numerical", "text": "shortanswer", "choice": "multichoice"}


def moodle_xml(quiz: QuizSet, pools: Iterable[tuple[str, Sequence[Entry]]]) -> str:
    """Return a question bank; a quiz that draws one question per category gives students different numbers."""
    root = Element("quiz")
    for name, pool in pools:
        category = SubElement(root, "question", type="category")
        _text(SubElement(category, "category"), f"$course$/top/{_flat(quiz.title)}/{_flat(name)}")
        for number, entry in enumerate(pool, start=1):
            root.append(_question(entry, f"{name} v{number}"))
    indent(root, " ")
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + tostring(root, encoding="unicode") + "\n"


def _question(entry: Entry, name: str) -> Element:
    found = Element("question", type=TYPES[entry.kind])
    _text(SubElement(found, "name"), name)
    _text(SubElement(found, "questiontext", format="html"), entry.question)
    _text(SubElement(found, "generalfeedback", format="html"), entry.solution)
    SubElement(found, "defaultgrade").text = f"{float(entry.marks):.7f}"
    SubElement(found, "penalty").text = "0.3333333"
    SubElement(found, "hidden").text = "0"
    SubElement(found, "idnumber").text = entry.ident
    if entry.kind == "choice":
        SubElement(found, "single").text = "true"
        SubElement(found, "shuffleanswers").text = "false"
        SubElement(found, "answernumbering").text = "ABCD"
        for option in entry.options:
            _answer(found, inline(option.text), Fraction(int(option.right)), feedback(option.mistake), style="html")
    elif entry.kind == "text":
        SubElement(found, "usecase").text = "0"
        for accepted in entry.accepted:
            _answer(found, accepted.text.replace("*", "\\*"), accepted.share, accepted.feedback)
    else:
        for accepted in entry.accepted:
            _number(found, accepted)
    for hint in entry.hints:
        _text(SubElement(found, "hint", format="html"), hint)
    return found


def _number(question: Element, accepted: Accepted) -> None:
    answer = _answer(question, accepted.text, accepted.share, accepted.feedback)
    SubElement(answer, "tolerance").text = f"{accepted.tolerance:g}"


def _answer(question: Element, text: str, share: Fraction, said: str, style: str = "moodle_auto_format") -> Element:
    per_cent = min(SHARES, key=lambda allowed: abs(allowed - 100 * share))
    answer = SubElement(question, "answer", fraction=str(per_cent), format=style)
    SubElement(answer, "text").text = text
    if said:
        _text(SubElement(answer, "feedback", format="html"), said)
    return answer


def _text(element: Element, text: str) -> None:
    SubElement(element, "text").text = text


def _flat(text: str) -> str:
    """Return the name of a category without slashes (which start a new level) and markup."""
    return " ".join("".join("-" if sign in "/<>&$" else sign for sign in text).split())
