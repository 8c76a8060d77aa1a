"""The output of `quiz make`: the same bytes for the same seed, readable in every format, inert for any content of a set."""

import io
import json
import re
import zipfile
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest
from quiz_texts import CARRYING, HOSTILE

from glassformer.answers.quiz import load_set, parse_set, shipped, variant
from glassformer.answers.quiz.roster import Roster, numbered
from glassformer.errors import GlassformerError
from glassformer.show.quiz import FORMATS, parse_formats, quiz_files
from glassformer.show.quiz.files import file_names
from glassformer.show.quiz.latex import inline

NAMES = ("Ada <b>Lovelace</b>", "=cmd()", "Zoë 字", "../../etc/passwd", "a/b\\c")
VOID = {"meta", "img", "br"}


def files(quiz, seed=7, students=(), formats=FORMATS):
    return dict(quiz_files(quiz, seed, Roster.of(*students), formats))


@pytest.mark.parametrize("name", shipped())
def test_the_same_seed_gives_the_same_bytes_and_another_does_not(name):
    quiz = load_set(name)
    assert files(quiz, 7, ("Ada",)) == files(quiz, 7, ("Ada",))
    assert files(quiz, 7, ("Ada",))["key/Ada.md"] != files(quiz, 8, ("Ada",))["key/Ada.md"]


def test_a_paper_does_not_depend_on_the_rest_of_the_class():
    quiz = load_set("shapes")
    assert files(quiz, 7, ("Ada", "Bo"))["students/Bo.md"] == files(quiz, 7, ("Bo",))["students/Bo.md"]


@pytest.mark.parametrize("name", shipped())
def test_every_format_of_every_set_can_be_read(name):
    quiz = load_set(name)
    made = files(quiz, 7, ("Ada", "Bo"))
    papers = [
        f"{folder}/{who}.{end}"
        for folder in ("students", "key")
        for who in ("Ada", "Bo")
        for end in ("md", "html", "tex", "ipynb")
    ]
    assert set(made) == {*papers, "moodle.xml", "canvas-qti.zip", "answers.csv", "set.toml", "quiz.json"}
    check_readable(made)
    assert parse_set(made["set.toml"].decode(), name).questions == quiz.questions
    assert len(made["answers.csv"].decode().splitlines()) == 3


def check_readable(made):
    for path, content in made.items():
        if path.endswith(".html"):
            check_html(content.decode())
        elif path.endswith(".tex"):
            check_latex(content.decode())
        elif path.endswith(".ipynb"):
            check_notebook(json.loads(content))
        elif path.endswith(".json"):
            json.loads(content)
        elif path.endswith(".xml"):
            ElementTree.fromstring(content)
        elif path.endswith(".zip"):
            check_package(content)


def check_html(text):
    """Every element is closed, and there are none that load or run anything."""
    open_elements = []

    class Reader(HTMLParser):
        def handle_starttag(self, tag, attrs):
            assert tag not in ("script", "img", "svg", "iframe", "object", "link", "a", "b" if "<b>Lovelace" in text else "form")
            assert not any(name.startswith("on") or name in ("src", "href") for name, _ in attrs)
            if tag not in VOID:
                open_elements.append(tag)

        def handle_endtag(self, tag):
            assert tag in VOID or open_elements.pop() == tag

    Reader().feed(text)
    assert open_elements == []


def check_latex(text):
    r"""Braces and dollars pair up, environments nest, no sign is there that LaTeX stumbles over, no \item eats its text."""
    plain = re.sub(r"\\[\\{}$%#&_]", "", text)
    assert plain.count("{") == plain.count("}")
    assert plain.count("$") % 2 == 0
    stack = []
    for kind, name in re.findall(r"\\(begin|end)\{(\w+\*?)\}", text):
        if kind == "begin":
            stack.append(name)
        else:
            assert stack.pop() == name
    assert stack == []
    assert not re.search(r"\\item \[", text)
    body = text.split(r"\begin{document}")[1]
    foreign = re.sub(r"\\foreign\{U\+[0-9A-F]+\}\{.\}", "", body)
    assert all(ord(sign) < 0x180 for sign in foreign), {sign for sign in foreign if ord(sign) >= 0x180}
    assert not re.search(r"(?<!\\)[#%]", body)
    commands = set(re.findall(r"\\([A-Za-z]+)", body))
    assert commands <= KNOWN_COMMANDS, commands - KNOWN_COMMANDS


KNOWN_COMMANDS = set(
    """
    begin end item texttt par section subsection textbf rule medskip text foreign sqrt frac tfrac cdot times to approx surd dots
    top in mathbb le ge ne infty odot partial Sigma alpha beta gamma varepsilon mu sigma textbackslash textasciitilde
    textasciicircum textquotedbl textasciigrave pi
    """.split()
)


def check_notebook(document):
    assert (document["nbformat"], document["nbformat_minor"]) == (4, 5)
    names = [cell["id"] for cell in document["cells"]]
    assert len(set(names)) == len(names)
    for cell in document["cells"]:
        if cell["cell_type"] == "code":
            compile("".join(cell["source"]), cell["id"], "exec")


def check_package(content):
    with zipfile.ZipFile(io.BytesIO(content)) as package:
        assert package.testzip() is None
        manifest = ElementTree.fromstring(package.read("imsmanifest.xml"))
        (file,) = [element for element in manifest.iter() if element.tag.endswith("file")]
        ElementTree.fromstring(package.read(file.get("href")))


def test_a_hostile_set_and_hostile_names_stay_text():
    made = files(parse_set(HOSTILE, "hostile"), 1, NAMES)
    check_readable(made)
    for path, content in made.items():
        if path.endswith(".md"):
            assert not re.search(rb"(?<!\\)<", content), path
            assert not re.search(rb"(?<!\\)\]\(javascript", content)
        if path.endswith(".xml"):
            for element in ElementTree.fromstring(content).iter():
                assert "<script" not in (element.text or "")
                assert "<img" not in (element.text or "")
                assert "onload" not in re.sub(r"&\w+;[^&]*", "", element.text or "")
    assert "'=cmd()" in made["answers.csv"].decode()


def test_file_names_are_safe_and_differ():
    names = file_names(("Ada", "ada", "../x", "字", "a b", "a-b", "x" * 500))
    assert all(re.fullmatch(r"[A-Za-z0-9_-]{1,70}", name) for name in names)
    assert len({name.lower() for name in names}) == len(names)
    assert names[0] == "Ada"


def test_moodle_numbers_carry_the_mistake_as_feedback():
    root = ElementTree.fromstring(files(load_set("parameters"), 7, ("Ada", "Bo"), ("moodle",))["moodle.xml"])
    kinds = [question.get("type") for question in root]
    assert {"category", "numerical", "multichoice"} <= set(kinds)
    first = next(question for question in root if question.get("type") == "numerical")
    paper = {variant(load_set("parameters"), 7, name).items[0].key.value for name in ("Ada", "Bo")}
    right = [answer.find("text").text for answer in first.iter("answer") if answer.get("fraction") == "100"]
    assert [int(text) for text in right] == [int(first.find("answer/text").text)]
    assert int(right[0]) in paper
    said = "".join(feedback.text or "" for feedback in first.iter("text"))
    assert "heads_times_full_width" in said


def test_a_vector_is_asked_number_by_number_and_its_marks_add_up():
    quiz = parse_set(CARRYING, "carrying")
    root = ElementTree.fromstring(files(quiz, 0, (), ("moodle",))["moodle.xml"])
    grades = [float(question.find("defaultgrade").text) for question in root if question.get("type") != "category"]
    assert sum(grades) == pytest.approx(float(quiz.marks))
    assert len(grades) == 3 + 3 * 2


def test_the_package_has_a_group_for_each_question():
    quiz = load_set("self-attention")
    content = files(quiz, 7, ("Ada", "Bo", "Cy"), ("qti",))["canvas-qti.zip"]
    with zipfile.ZipFile(io.BytesIO(content)) as package:
        name = next(name for name in package.namelist() if name != "imsmanifest.xml")
        root = ElementTree.fromstring(package.read(name))
    space = {"q": "http://www.imsglobal.org/xsd/ims_qtiasiv1p2"}
    groups = root.findall(".//q:section/q:section", space)
    assert len(groups) == len(quiz.questions)
    for item in root.findall(".//q:item", space):
        scored = [
            condition for condition in item.findall(".//q:respcondition", space) if condition.find("q:setvar", space) is not None
        ]
        assert len(scored) >= 1
        linked = {feedback.get("linkrefid") for feedback in item.findall(".//q:displayfeedback", space)}
        assert linked == {feedback.get("ident") for feedback in item.findall("q:itemfeedback", space)}


def test_a_key_shows_the_work_and_the_traps_and_a_paper_does_not():
    made = files(load_set("parameters"), 7, ("Ada",), ("md",))
    answer = f"{variant(load_set('parameters'), 7, 'Ada').items[0].key.value:,}"
    assert answer in made["key/Ada.md"].decode()
    assert "heads\\_times\\_full\\_width" in made["key/Ada.md"].decode()
    assert answer not in made["students/Ada.md"].decode()
    assert "heads\\_times\\_full\\_width" not in made["students/Ada.md"].decode()


def test_variants_are_papers_for_several_students_and_the_answer_sheet_says_who_has_which():
    quiz = load_set("parameters")
    roster = numbered(7).dealt(3, seed=7)
    made = dict(quiz_files(quiz, 7, roster, ("md", "ipynb")))
    papers = sorted(path for path in made if path.startswith("students/") and path.endswith(".md"))
    assert papers == ["students/variant-A.md", "students/variant-B.md", "students/variant-C.md"]
    assert len({made[path] for path in papers}) == 3
    sheet = made["answers.csv"].decode().splitlines()
    assert sheet[0].startswith("student,variant,layer_weights,")
    assert [line.split(",")[:2] for line in sheet[1:]] == [[student.name, student.variant] for student in roster]
    notebook = json.loads(made[papers[0].replace(".md", ".ipynb")])
    assert "".join(notebook["cells"][1]["source"]).startswith("student = ''")


def test_formats_are_read_and_unknown_ones_refused():
    assert parse_formats("html, md") == ("md", "html")
    assert parse_formats("") == FORMATS
    with pytest.raises(GlassformerError, match=r"unknown format 'moodel'. .* Did you mean 'moodle'"):
        parse_formats("moodel")


def test_the_notebook_of_a_student_writes_answers_that_can_be_graded(tmp_path, monkeypatch):
    quiz = load_set("worked-head")
    document = json.loads(files(quiz, 7, ("Ada",), ("ipynb",))["students/Ada.ipynb"])
    cells = ["".join(cell["source"]) for cell in document["cells"] if cell["cell_type"] == "code"]
    monkeypatch.chdir(tmp_path)
    space: dict[str, object] = {}
    exec("\n".join(cells[:-1]), space)
    assert list(space["answers"]) == [template.id for template in quiz.questions]
    exec(cells[-1], space)
    assert (tmp_path / "answers.csv").read_text(encoding="utf-8").startswith("student,question,answer\nAda,dots,\n")


@pytest.mark.parametrize(
    ("text", "latex"),
    [
        ("softmax(K_hᵀ Q_h / √(d / S))", r"softmax($K_{h} ^{\top}$ $Q_{h}$ / $\sqrt{d / S}$)"),
        ("1/√d_k and √2", r"1/$\sqrt{d_{k}}$ and $\sqrt{2}$"),
        ("W_Q of d_model, a_b_c", r"$W_{Q}$ of $d_{\text{model}}$, a\_b\_c"),
        ("50 % & #1 $x$ \\input{a} ~^", r"50 \% \& \#1 \$x\$ \textbackslash{}input\{a\} \textasciitilde{}\textasciicircum{}"),
        ("Zoë 字", r"Zoë \foreign{U+5B57}{字}"),
        ("$√2", r"\$$\sqrt{2}$"),
    ],
)
def test_text_becomes_latex_that_sets_it(text, latex):
    assert inline(text) == latex
