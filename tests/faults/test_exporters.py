"""Five hundred hostile strings through every exporter: parsed as a browser or a typesetter would, they are text alone."""

import io
import json
import re
import zipfile
from html.parser import HTMLParser
from xml.etree import ElementTree

import numpy as np
import pytest
from faults.hostile_strings import STRINGS
from markdown_it import MarkdownIt
from quiz_texts import CARRYING

from glassformer import algebra
from glassformer.algebra.formulas import check_formula
from glassformer.answers.documents import check_text
from glassformer.answers.problems import check_worked
from glassformer.answers.quantities import ask
from glassformer.answers.quiz import parse_set
from glassformer.answers.quiz.grading import grade
from glassformer.answers.quiz.roster import Roster
from glassformer.answers.quiz.submissions import Submissions
from glassformer.answers.verdicts import check as diagnose
from glassformer.configs.reading import Request, request
from glassformer.errors import GlassformerError
from glassformer.numbers.by_hand import parse_problem, solve
from glassformer.program import build
from glassformer.program.formatter import LatexFormatter, TextFormatter
from glassformer.show import present
from glassformer.show.attention_html import page as attention_page
from glassformer.show.curves import Curve, curves_table
from glassformer.show.quiz import FORMATS, quiz_files

PLAIN = "plain"
TINY = request("layer", d_model=8, heads=2, t=3)
PROGRAM = build(TINY.spec, t=3)
QUIZ = parse_set(CARRYING, "carrying")

# What formatting alone can make of a string; anything else has to be in the page without it, too.
HARMLESS = set("p em strong code pre ul ol li blockquote h1 h2 h3 h4 h5 h6 hr br del table thead tbody tr th td".split())
COMMANDS = set(
    """
    textbackslash textasciitilde textasciicircum cdot times to approx surd dots foreign texttt textquotedbl textasciigrave
    text sqrt frac tfrac top in mathbb le ge ne infty odot partial Sigma alpha beta gamma varepsilon mu sigma pi item par
    mathrm operatorname left right begin end hat tilde bar checkmark
    """.split()
)


def worked(text):
    """A problem whose title and tokens are the string, or its refusal."""
    document = {"title": text, "tokens": [text, "b"], "Q": [[1, 0], [0, 1]], "K": [[1, 2], [0, 1]], "V": [[1, 0], [2, 1]]}
    return present(solve(parse_problem(document, "p")))


def worked_claim(text):
    document = {"title": text, "Q": [[1, 0]], "K": [[1, 2], [0, 1]], "V": [[1, 0], [2, 1]]}
    return present(check_worked(document, {"weights": [0.5, 0.5]}))


def solution(text):
    return present(
        check_text(f"# {text}\n\n3 × 4 = 13 {text}\n\n{text}\n\n```glassformer\nspec: {text}\nparams = {text}\n```\n", name=text)
    )


def curve(text):
    return curves_table([Curve(text, (1.0, 0.5), (1.0, 1.2), (0.5, 0.9), (0.5, 0.4))])


def labelled(text):
    return Request(request({"d_model": 8, "heads": 2}).label + f" {text}", TINY.spec, 1, 3)


VIEWS = {
    "count": lambda text: present(algebra.count(TINY.spec, label=text)),
    "bridge": lambda text: present(algebra.bridge(algebra.count(TINY.spec, label=text), algebra.count(TINY.spec, label="b"))),
    "shapes": lambda text: present(algebra.shapes(PROGRAM, label=text)),
    "cost": lambda text: present(algebra.cost(PROGRAM, label=text)),
    "notation": lambda text: present(algebra.notation(PROGRAM, TextFormatter("rows"), label=text)),
    "notation in LaTeX": lambda text: present(algebra.notation(PROGRAM, LatexFormatter("rows"), label=text)),
    "ask": lambda text: present(ask("params", labelled(text))),
    "check": lambda text: present(diagnose("params", labelled(text), claim="12345")),
    "check a claim": lambda text: present(diagnose("params", TINY, claim=f"5 {text}")),
    "formula": lambda text: present(check_formula(f"Q = {text}", ["X=4x6"])),
    "formula names": lambda text: present(check_formula("Q = X X", [f"X={text}"])),
    "solution": solution,
    "problem": worked,
    "worked claims": worked_claim,
    "curves": curve,
    "quiz report": lambda text: present(
        grade(QUIZ, Submissions({text or "x": {"layer": text, "scores": f"[1, {text}]"}}, [text]))
    ),
}


def answered(view):
    """The view of a text; None where it is refused."""

    def shown(text):
        try:
            return view(text)
        except GlassformerError:
            return None

    return shown


class Tags(HTMLParser):
    """The tags of a page with their attributes."""

    def __init__(self, text):
        super().__init__()
        self.found = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.found.append((tag, dict(attributes)))


def unsafe_html(text, harmless):
    """Tags that were not there without the string, and attributes and addresses that run or fetch something."""
    for tag, attributes in Tags(text).found:
        if tag not in harmless:
            yield f"<{tag}>"
        for name, value in attributes.items():
            if (
                name.startswith("on")
                or name in ("srcdoc", "formaction")
                or (name in ("href", "src", "action", "xlink:href") and tag != "a")
            ):
                yield f"{tag} {name}={value}"
            if tag == "a" and name == "href" and not (value or "").startswith(("http://", "https://", "#", "mailto:")):
                yield f"a href={value}"


def unsafe_markdown(text, harmless):
    """The same of a Markdown page, set by a reader that lets HTML through."""
    shown = MarkdownIt("commonmark", {"html": True}).enable("table").render(text)
    return unsafe_html(shown, harmless | HARMLESS | {"a"})


def unsafe_latex(text, commands):
    """Commands that were not there without the string, comments, and braces that do not match."""
    bare = re.sub(r"\\[\\%#&_{}$ ,;:!]", "", text)
    yield from (f"\\{word}" for word in set(re.findall(r"\\([A-Za-z]+)", text)) - commands - COMMANDS)
    if re.search(r"[%#]", bare):
        yield "a comment or a parameter"
    if bare.count("{") != bare.count("}"):
        yield "braces that do not match"


def unsafe_text(text):
    """Characters that move the cursor, change the direction of writing or hide something."""
    yield from {ascii(sign) for sign in text if not (sign.isprintable() or sign == "\n")}


def baseline(view):
    """What the page of a harmless text has."""
    page = next(page for page in map(answered(view), ("X", "4x6", PLAIN, "")) if page is not None)
    tags = {tag for tag, _ in Tags(page.html()).found}
    marks = {tag for tag, _ in Tags(MarkdownIt("commonmark", {"html": True}).enable("table").render(page.markdown())).found}
    return tags, marks, set(re.findall(r"\\([A-Za-z]+)", page.latex()))


@pytest.mark.parametrize("step", [8, pytest.param(1, marks=pytest.mark.slow)], ids=["some", "all"])
@pytest.mark.parametrize("name", VIEWS)
def test_a_hostile_string_stays_text_in_every_form_of_a_view(name, step, figure):
    view, strings = VIEWS[name], STRINGS[::step]
    tags, marks, commands = baseline(view)
    shown, faults = 0, []
    for text in strings:
        try:
            page = view(text)
            forms = {"html": page.html(), "markdown": page.markdown(), "latex": page.latex(), "text": page.text()}
        except GlassformerError as error:
            assert "\n" not in str(error)
            assert not list(unsafe_text(str(error))), text
            continue
        shown += 1
        for form, found in (
            ("html", unsafe_html(forms["html"], tags)),
            ("markdown", unsafe_markdown(forms["markdown"], marks)),
            ("latex", unsafe_latex(forms["latex"], commands)),
            ("text", unsafe_text(forms["text"])),
        ):
            faults += [(form, text[:60], one) for one in found]
    assert faults == [], f"{len(faults)}: {faults[:12]}"
    figure("Q4", f"{name}: {len(strings)} strings, {shown} shown", cases=len(strings), part=name)
    figure("Q5", f"{name}: {len(strings)} strings, {shown} shown", cases=len(strings), part=name)


def hostile_set(texts):
    """A set of questions made of strings, as TOML."""
    first, second, third = (json.dumps(text.replace("\ud800", "").replace("\udfff", "")) for text in texts)
    return (
        f'title = {first}\nabout = {second}\n[[question]]\nid = "one"\nkind = "concept"\ntext = {first}\nbecause = {third}\n'
        f'hints = [{second}]\n[[question.option]]\nsays = {first}\n[[question.option]]\nsays = {second}\ncode = "no_scaling"\n'
    )


def unzipped(content):
    with zipfile.ZipFile(io.BytesIO(content)) as package:
        return [package.read(name).decode() for name in package.namelist()]


def quiz_faults(path, content, page):
    """What a file of a quiz would run or fetch; `page` are the tags of a harmless one."""
    text = content.decode("utf-8", "replace") if not path.endswith(".zip") else ""
    if path.endswith(".html"):
        yield from unsafe_html(text, page)
    elif path.endswith(".md"):
        yield from unsafe_markdown(text, HARMLESS)
    elif path.endswith(".ipynb"):
        for cell in json.loads(text)["cells"]:
            if cell["cell_type"] == "markdown":
                yield from unsafe_markdown("".join(cell["source"]), HARMLESS)
    elif path.endswith((".xml", ".zip")):
        for document in [text] if text else unzipped(content):
            for element in ElementTree.fromstring(document).iter():
                yield from unsafe_html(element.text or "", HARMLESS | {"div", "span", "sup", "sub", "i", "b", "strong"})
    elif path.endswith(".csv"):
        yield from (cell for row in text.splitlines() for cell in row.split(",") if cell.startswith(("=", "+", "-", "@", "\t")))


def test_a_hostile_quiz_stays_text_in_every_format(figure):
    made, faults, page = 0, [], set()
    for path, content in quiz_files(parse_set(hostile_set(["a", "b", "c"]), "plain"), 1, Roster.of("Ada"), ("html",)):
        page |= {tag for tag, _ in Tags(content.decode()).found} if path.endswith(".html") else set()
    for place in range(0, 498, 3):
        texts = STRINGS[place : place + 3]
        student = (" ".join(texts[0].split())[:60] or "x").encode("utf-8", "replace").decode()
        try:
            files = list(quiz_files(parse_set(hostile_set(texts), "hostile"), 1, Roster.of(student), FORMATS))
        except GlassformerError as error:
            assert "\n" not in str(error)
            continue
        made += 1
        for path, content in files:
            assert re.fullmatch(r"[A-Za-z0-9_./-]+", path)
            assert ".." not in path
            if path not in ("set.toml", "quiz.json"):
                faults += [(path, one, texts) for one in quiz_faults(path, content, page)]
    assert faults == [], f"{len(faults)}: {faults[:6]}"
    assert made > 100
    figure("Q4", f"quizzes: {made} sets in {len(FORMATS)} formats, 0 tags, addresses or formulas", cases=made, part="quiz")


def test_a_hostile_token_stays_text_in_the_attention_page(figure):
    size = 50
    weights = [[np.full((size, size), 1 / size)]]
    tags = {tag for tag, _ in Tags(attention_page(weights, [PLAIN] * size, (0,), (0,))).found}
    for place in range(0, 500, size):
        text = attention_page(weights, STRINGS[place : place + size], (0,), (0,))
        found = [fault for fault in unsafe_html(text, tags) if "alert" in fault or fault.startswith("<")]
        assert found == [], STRINGS[place : place + size]
        assert text.count("<script") == text.count("</script>") == 2
    figure("Q4", "attention page: 500 tokens, 0 tags", cases=500, part="attention page")


def test_a_hostile_token_stays_text_in_a_picture(tmp_path, figure):
    pytest.importorskip("matplotlib")
    from tiny_run import tiny

    from glassformer.numbers.attention import attention
    from glassformer.show.pictures import save_attention

    run = tiny()
    for number, place in enumerate(range(0, 40, 4)):
        words = [[text.replace("\0", "?") for text in STRINGS[place : place + 4]]] * 2
        run.tokens = words
        shown = attention(run, layer=0, head=0)
        assert shown.queries == words[0]
        path = save_attention(shown, tmp_path / f"{number}.svg")
        names = {element.tag.rpartition("}")[2] for element in ElementTree.fromstring(path.read_bytes()).iter()}
        assert names & {"script", "foreignObject", "image", "a", "iframe"} <= {"image"}
    figure("Q4", "pictures: 40 tokens in SVG, 0 executable elements", cases=40, part="pictures")
