"""The insight commands on the fast model, as a person uses them, and how their results look in every form."""

import json

import pytest
from checkpoint_files import CONFIG, WORDS, add_tokenizer, bert_folder, tensors_of
from command_line import glassformer

CLASSIFIER = {
    **CONFIG,
    "architectures": ["BertForSequenceClassification"],
    "id2label": {"0": "plain", "1": "<b>glass</b>", "2": "wall"},
    "label2id": {"plain": 0, "<b>glass</b>": 1, "wall": 2},
}
TEXT = "the glass walls <script>alert(1)</script>"


@pytest.fixture(scope="module")
def classifier(tmp_path_factory):
    folder = tmp_path_factory.mktemp("classifier")
    return add_tokenizer(bert_folder(folder, tensors=tensors_of(CLASSIFIER), **CLASSIFIER))


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    path = tmp_path_factory.mktemp("rows") / "rows.csv"
    pairs = [f"{one} {other} walls" for one in WORDS[:6] for other in WORDS[6:12]]
    lines = [f"{text},{('plain', 'wall')[number % 2]}" for number, text in enumerate(pairs)]
    path.write_text("\n".join(["text,label", *lines]) + "\n", encoding="utf-8")
    return path


def words_of(name, classifier, rows):
    """A command that succeeds."""
    return {
        "saliency": ("saliency", classifier, "--text", TEXT),
        "lens": ("lens", classifier, "--text", TEXT),
        "lens over data": ("lens", classifier, rows, "--part", "all"),
        "patch": ("patch", classifier, "the glass walls", "the number walls", "--of", "class=wall"),
        "ablate": ("ablate", classifier, rows, "--part", "all"),
        "probe": ("probe", classifier, rows),
    }[name]


FIRST = {
    "saliency": "Completeness gap: ",
    "lens": "layer 1",
    "lens over data": "The last row is the model itself.",
    "patch": "the share of the difference",
    "ablate": " of 4 heads can be silenced",
    "probe": "selectivity is the accuracy minus that of the control task",
}


@pytest.mark.parametrize("name", FIRST)
def test_a_command_prints_its_table_and_draws(name, classifier, rows, tmp_path):
    pytest.importorskip("matplotlib")
    done = glassformer(*words_of(name, classifier, rows), "--out", tmp_path / "found.svg")
    assert done.returncode == 0, done.stderr
    assert FIRST[name] in done.stdout
    assert (tmp_path / "found.svg").read_text(encoding="utf-8").rstrip().endswith("</svg>")


@pytest.mark.parametrize("name", FIRST)
@pytest.mark.parametrize("form", ["json", "markdown", "latex", "html"])
def test_every_form_is_whole_and_escaped(name, form, classifier, rows):
    done = glassformer(*words_of(name, classifier, rows), f"--{form}")
    assert done.returncode == 0, done.stderr
    if form == "json":
        assert json.loads(done.stdout)
    if form == "html":
        assert "<b>glass</b>" not in done.stdout
        assert "<script>" not in done.stdout


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("saliency", ("--of", "class=walls"), "there is no class 'walls'. Did you mean 'wall'?"),
        ("lens", ("--out", "lens.pdf"), "the name must end in one of .png, .svg."),
        ("lens", ("--rows", 3), "--rows belongs to DATA: leave it out."),
        ("lens over data", ("--guesses", 3), "--guesses belongs to --text: leave it out."),
        ("lens over data", ("--text", "glass"), "lens needs one text or labelled data: give either --text or DATA."),
        ("lens over data", ("--column", "txt"), "txt"),
        ("ablate", ("--no-label",), "ablate compares predictions with labels: omit --no-label."),
        ("ablate", ("--kinds", "head,fnn"), "kinds=fnn is not known. Did you mean 'ffn'?"),
        ("patch", ("--at", "layer"), "Did you mean 'layers'?"),
    ],
)
def test_a_mistake_is_one_line(name, options, message, classifier, rows):
    done = glassformer(*words_of(name, classifier, rows), *options)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert message in done.stderr
