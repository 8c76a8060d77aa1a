"""Each view of the bench in the forms that the command line gives, to be saved as a file."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from glassformer import algebra
from glassformer.configs.reading import Request as Spec
from glassformer.errors import GlassformerError, shown
from glassformer.lab.documents import bench as documents
from glassformer.program import build
from glassformer.program.formatter import Convention, LatexFormatter
from glassformer.show.diagram import Diagram, diagram
from glassformer.show.icicle import icicle_svg
from glassformer.show.markup import tags
from glassformer.show.palette import LIGHT
from glassformer.show.present import present
from glassformer.show.report import Section, page

TABLE_FORMS = ("json", "markdown", "latex", "html")
FORMS = {
    "ledger": (*TABLE_FORMS, "svg"),
    "shapes": TABLE_FORMS,
    "cost": TABLE_FORMS,
    "equations": TABLE_FORMS,
    "compare": TABLE_FORMS,
    "diagram": ("svg", "html", "json"),
}
ENDINGS = {"json": "json", "markdown": "md", "latex": "tex", "html": "html", "svg": "svg"}


@dataclass(frozen=True)
class Wanted:
    """A view of one spec (or, for a comparison, of another one against it) in a form."""

    view: str
    form: str
    convention: Convention
    spec: Spec
    against: Spec | None = None

    def __post_init__(self) -> None:
        if self.view not in FORMS:
            raise GlassformerError(f"view={shown(self.view)} is not known: {', '.join(FORMS)}.")
        if self.form not in FORMS[self.view]:
            raise GlassformerError(f"form={shown(self.form)} is not known for {self.view}: {', '.join(FORMS[self.view])}.")


def export(wanted: Wanted) -> documents.Export:
    """The text of a file, and a name for it."""
    name = "".join(letter if letter.isalnum() or letter in "-_" else "-" for letter in wanted.spec.label.split()[0])
    return {"name": f"{name.strip('-') or 'encoder'}-{wanted.view}.{ENDINGS[wanted.form]}", "text": _text(wanted) + "\n"}


def _text(wanted: Wanted) -> str:
    result = _result(wanted)
    if wanted.form == "json":
        return json.dumps(result.to_dict(), ensure_ascii=False, allow_nan=False, indent=1)
    if wanted.form == "svg":
        return _coloured(result.svg() if isinstance(result, Diagram) else icicle_svg(result))
    if wanted.form == "html":
        inner = result.svg() if isinstance(result, Diagram) else present(result).html()
        title = f"{wanted.spec.label}: {wanted.view}"
        return page(title, None, [Section(wanted.view, wanted.view.capitalize(), tags.figure(inner))]).rstrip()
    text: str = getattr(present(result), wanted.form)()
    return text


def _result(wanted: Wanted) -> Any:
    asked_for = wanted.spec
    program = build(asked_for.spec, batch=asked_for.batch, t=asked_for.t, u=asked_for.u)
    match wanted.view:
        case "ledger":
            return algebra.count(asked_for.spec, label=asked_for.label)
        case "shapes":
            return algebra.shapes(program, convention=wanted.convention, label=asked_for.label)
        case "cost":
            return algebra.cost(program, label=asked_for.label)
        case "equations":
            return algebra.notation(program, LatexFormatter(wanted.convention), label=asked_for.label)
        case "compare" if wanted.against:
            ends = [algebra.count(end.spec, label=end.label) for end in (wanted.against, asked_for)]
            return algebra.bridge(*ends)
        case "compare":
            raise GlassformerError("the comparison needs a second encoder: name one.")
        case _:
            return diagram(program, convention=wanted.convention)


def _coloured(svg: str) -> str:
    """A picture that stands alone has no page to take its ink from."""
    return svg.replace("<svg ", f'<svg color="{LIGHT.ink}" ', 1)
