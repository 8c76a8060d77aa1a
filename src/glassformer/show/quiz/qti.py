"""Quizzes as a QTI 1.2 zip file for Canvas: one question group per question, one variant drawn per student."""

from __future__ import annotations

import hashlib
import io
import zipfile
from collections.abc import Iterable, Sequence
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from glassformer.answers.quiz.template import QuizSet
from glassformer.show.markup import Html
from glassformer.show.quiz.bank import Entry, feedback
from glassformer.show.quiz.html_page import inline

NAMESPACE = "http://www.imsglobal.org/xsd/ims_qtiasiv1p2"
PACKAGE = "http://www.imsglobal.org/xsd/imsccv1p1/imscp_v1p1"
TYPES = {"number": "numerical_question", "text": "short_answer_question", "choice": "multiple_choice_question"}
DATE = (1980, 1, 1, 0, 0, 0)  # a fixed date gives the same bytes every time


def qti_zip(quiz: QuizSet, pools: Iterable[tuple[str, Sequence[Entry]]]) -> bytes:
    """Return the package: a manifest and one assessment."""
    ident = "g" + hashlib.sha256(quiz.source.encode() + quiz.name.encode()).hexdigest()[:24]
    files = {"imsmanifest.xml": _manifest(quiz, ident), f"{ident}/{ident}.xml": _assessment(quiz, ident, pools)}
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED) as package:
        for name, text in files.items():
            package.writestr(zipfile.ZipInfo(name, DATE), text)
    return stream.getvalue()


def _manifest(quiz: QuizSet, ident: str) -> str:
    root = Element("manifest", identifier=f"{ident}_manifest", xmlns=PACKAGE)
    metadata = SubElement(root, "metadata")
    SubElement(metadata, "schema").text = "IMS Content"
    SubElement(metadata, "schemaversion").text = "1.1.3"
    SubElement(root, "organizations")
    resource = SubElement(SubElement(root, "resources"), "resource", identifier=ident, type="imsqti_xmlv1p2")
    resource.set("title", quiz.title)
    SubElement(resource, "file", href=f"{ident}/{ident}.xml")
    return _written(root)


def _assessment(quiz: QuizSet, ident: str, pools: Iterable[tuple[str, Sequence[Entry]]]) -> str:
    root = Element("questestinterop", xmlns=NAMESPACE)
    assessment = SubElement(root, "assessment", ident=ident, title=quiz.title)
    outer = SubElement(assessment, "section", ident="root_section")
    for number, (name, pool) in enumerate(pools, start=1):
        group = SubElement(outer, "section", ident=f"group_{number}", title=name)
        selection = SubElement(SubElement(group, "selection_ordering"), "selection")
        SubElement(selection, "selection_number").text = "1"
        extension = SubElement(selection, "selection_extension")
        SubElement(extension, "points_per_item").text = f"{float(pool[0].marks):g}"
        for place, entry in enumerate(pool, start=1):
            group.append(_item(entry, f"{name} v{place}"))
    return _written(root)


def _item(entry: Entry, title: str) -> Element:
    item = Element("item", ident=entry.ident, title=title)
    fields = SubElement(SubElement(item, "itemmetadata"), "qtimetadata")
    for label, value in (("question_type", TYPES[entry.kind]), ("points_possible", f"{float(entry.marks):g}")):
        field = SubElement(fields, "qtimetadatafield")
        SubElement(field, "fieldlabel").text = label
        SubElement(field, "fieldentry").text = value
    presentation = SubElement(item, "presentation")
    _material(presentation, entry.question)
    processing = Element("resprocessing")
    outcomes = SubElement(processing, "outcomes")
    SubElement(outcomes, "decvar", maxvalue="100", minvalue="0", varname="SCORE", vartype="Decimal")
    _general(processing)
    said = _choice(presentation, processing, entry) if entry.kind == "choice" else _typed(presentation, processing, entry)
    item.append(processing)
    for ident, text in {**said, "general_fb": entry.solution}.items():
        _material(SubElement(SubElement(item, "itemfeedback", ident=ident), "flow_mat"), text)
    return item


def _choice(presentation: Element, processing: Element, entry: Entry) -> dict[str, Html]:
    response = SubElement(presentation, "response_lid", ident="response1", rcardinality="Single")
    render = SubElement(response, "render_choice")
    said = {}
    for place, option in enumerate(entry.options, start=1):
        label = SubElement(render, "response_label", ident=str(1000 + place))
        _material(label, inline(option.text))
        if not option.right:
            said[f"{1000 + place}_fb"] = feedback(option.mistake)
            _feedback(_when(processing, "varequal", str(1000 + place), proceed=True), f"{1000 + place}_fb")
    right = next(place for place, option in enumerate(entry.options, start=1) if option.right)
    _score(_when(processing, "varequal", str(1000 + right)))
    return said


def _typed(presentation: Element, processing: Element, entry: Entry) -> dict[str, Html]:
    response = SubElement(presentation, "response_str", ident="response1", rcardinality="Single")
    label = SubElement(SubElement(response, "render_fib"), "response_label", ident="answer1")
    label.set("rshuffle", "No")
    said = {}
    for place, accepted in enumerate(entry.accepted, start=1):
        right = accepted.share == 1
        condition = SubElement(processing, "respcondition")
        condition.set("continue", "No" if right else "Yes")
        test = SubElement(condition, "conditionvar")
        if entry.kind == "number":
            _range(test, accepted.text, accepted.tolerance)
        else:
            SubElement(test, "varequal", respident="response1").text = accepted.text
        if right:
            _score(condition)
        else:
            said[f"{2000 + place}_fb"] = accepted.feedback
            _feedback(condition, f"{2000 + place}_fb")
    return said


def _range(test: Element, text: str, tolerance: float) -> None:
    """Accept the number itself, or anything within the tolerance."""
    either = SubElement(test, "or")
    SubElement(either, "varequal", respident="response1").text = text
    both = SubElement(either, "and")
    low, high = (f"{float(text) + sign * tolerance:.12g}" for sign in (-1, 1))
    SubElement(both, "vargte", respident="response1").text = low
    SubElement(both, "varlte", respident="response1").text = high


def _when(processing: Element, test: str, value: str, *, proceed: bool = False) -> Element:
    condition = SubElement(processing, "respcondition")
    condition.set("continue", "Yes" if proceed else "No")
    SubElement(SubElement(condition, "conditionvar"), test, respident="response1").text = value
    return condition


def _general(processing: Element) -> None:
    condition = SubElement(processing, "respcondition")
    condition.set("continue", "Yes")
    SubElement(SubElement(condition, "conditionvar"), "other")
    _feedback(condition, "general_fb")


def _score(condition: Element) -> None:
    SubElement(condition, "setvar", action="Set", varname="SCORE").text = "100"


def _feedback(condition: Element, ident: str) -> None:
    SubElement(condition, "displayfeedback", feedbacktype="Response", linkrefid=ident)


def _material(parent: Element, fragment: Html) -> None:
    SubElement(SubElement(parent, "material"), "mattext", texttype="text/html").text = fragment


def _written(root: Element) -> str:
    indent(root, " ")
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + tostring(root, encoding="unicode") + "\n"
