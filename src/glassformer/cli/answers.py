"""Commands of the answers: ask for any quantity, check a claim or a worked solution."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from glassformer.cli.options import as_option, format_options, give, to_json
from glassformer.spec import GlassformerError, nearest, shown
from glassformer.spec.presets import known_as, known_preset
from glassformer.spec.reading import Request, is_there, request_from_words

SOLUTIONS = (".md", ".txt", ".tex", ".ipynb")
PROBLEMS = (".toml", ".json")


@click.command()
@click.argument("question")
@click.argument("words", nargs=-1, metavar="[SPEC [field=value …]]")
@as_option
@format_options
def ask(question: str, words: tuple[str, ...], as_class: str | None, form: str | None) -> None:
    """Any quantity of an encoder, with its convention and its derivation.

    \b
    glassformer ask params layer d_model=64 heads=4 d_k=16 d_ff=120
    glassformer ask "shape of weights" bert-base t=5
    glassformer ask "elements of head output" layer d_model=64 heads=2 d_k=32 d_v=16 t=32
    glassformer ask "params of W_O in one layer" bert-base
    glassformer ask "How much memory does training with Adam need?" bert-base
    glassformer ask "How many parameters does the feed-forward block of BERT-large have?"
    glassformer ask "How many parameters does a LayerNorm with 768 features have?"
    """
    from glassformer.answers.asked import ask as answer

    question, words = question_first(question, words)
    give(answer(question, spec_of(question, words, as_class)), form)


@click.command()
@click.argument("question")
@click.argument("words", nargs=-1, metavar="[SPEC [field=value …]]")
@click.option(
    "--claim",
    "claims",
    multiple=True,
    help="What somebody says the answer is: 27648, 'about 110 million', 64x32; of a problem, 'weights = [0.62, 0.38]'.",
)
@click.option("--claims", "claims_file", metavar="FILE", help="Claims about a problem: JSON or TOML, from names to numbers.")
@as_option
@format_options
def check(
    question: str,
    words: tuple[str, ...],
    claims: tuple[str, ...],
    claims_file: str | None,
    as_class: str | None,
    form: str | None,
) -> None:
    """Right, right under a convention, or the mistake behind it. Exit 1 where something is wrong.

    The first word is a question (with a spec and --claim), a sentence that claims something, or a file: a worked solution
    (.md .txt .tex .ipynb), or a problem (.toml .json) whose numbers are claimed with --claim, with --claims, or in its own
    [claims].

    \b
    glassformer check params layer d_model=64 heads=4 d_k=16 d_ff=120 --claim 27648
    glassformer check "shape of weights" bert-base t=5 --claim 768x768
    glassformer check "BERT-large has 24 attention heads."
    glassformer check solution.md
    glassformer check examples/flying.toml --claim "weights = [0.6225, 0.3775]" --claim "output = [0.245, 0.245]"
    """
    if not words and question.lower().endswith(PROBLEMS):
        _check_problem(Path(question), claims, claims_file, form)
        return
    if question.lower().endswith(SOLUTIONS) and is_there(question) and (words or claims):
        raise GlassformerError(f"{shown(question)} is a solution, which brings its own claims: leave --claim and the spec out.")
    if not words and not claims and question.lower().endswith(SOLUTIONS):
        _check_file(Path(question), form)
        return
    if not claims and not words and " " in question.strip():
        _check_sentence(question, form)
        return
    if not claims:
        raise GlassformerError("check what? Give --claim with the answer to judge, or a file (.md, .txt, .tex, .ipynb) to read.")
    if len(claims) > 1 or claims_file:
        raise GlassformerError("a question about a spec has one answer: give --claim once.")
    from glassformer.answers.judging import check as diagnose

    question, words = question_first(question, words)
    question, words, claim = question_in_claim(question, words, claims[0])
    found = diagnose(question, spec_of(question, words, as_class), claim)
    give(found, form)
    if not found.right:
        sys.exit(1)


def _check_sentence(sentence: str, form: str | None) -> None:
    from glassformer.answers.judging import check_sentence

    found = check_sentence(sentence)
    right = all(one.right for one in found)
    if form == "json" and len(found) > 1:
        sys.stdout.write(to_json({"right": right, "claims": [one.to_dict() for one in found]}) + "\n")
    else:
        for one in found:
            give(one, form)
    if not right:
        sys.exit(1)


def question_first(question: str, words: tuple[str, ...]) -> tuple[str, tuple[str, ...]]:
    """`ask bert-base "params of W_O"` is understood, too: a preset is no question, and a question is no preset."""
    if known_preset(question) and words and not known_preset(words[0]) and "=" not in words[0]:
        return words[0], (question, *words[1:])
    return question, words


def spec_of(question: str, words: tuple[str, ...], as_class: str | None) -> Request | None:
    """The spec that the words are; none where the question stands alone."""
    from glassformer.answers.questions import encoder_named, parse_question

    if not words and as_class is None:
        return None
    return request_from_words(words or (encoder_named(parse_question(question)),), as_class=as_class)


def question_in_claim(question: str, words: tuple[str, ...], claim: str) -> tuple[str, tuple[str, ...], str]:
    """`check bert-base --claim "params of W_O = 589,824"` is understood, too: such a claim brings its question."""
    slip = " " not in question and not words and not known_preset(question)
    if slip and (meant := nearest(question.lower(), known_as())):
        raise GlassformerError(f"which encoder? There is no preset {shown(question)}.{meant}")
    if not known_preset(question) or (words and "=" not in words[0]):
        return question, words, claim
    asked, sign, value = (part.strip() for part in claim.rpartition("="))
    if not (sign and asked and value):
        raise GlassformerError(
            f"what of {question} is {shown(claim)}? Put a question first: glassformer check params {question} --claim 27648"
        )
    return asked, (question, *words), value


def _check_problem(path: Path, claims: tuple[str, ...], claims_file: str | None, form: str | None) -> None:
    from glassformer.answers.problems import check_worked
    from glassformer.answers.problems.claims import claim_in_words, claims_in_file

    said = claims_in_file(Path(claims_file)) if claims_file else {}
    for words in claims:
        name, numbers = claim_in_words(words)
        if name in said:
            raise GlassformerError(f"'{name or 'the result'}' is claimed twice.")
        said[name] = numbers
    found = check_worked(path, said or None)
    give(found, form)
    if not found.right:
        sys.exit(1)


def _check_file(path: Path, form: str | None) -> None:
    from glassformer.answers.solutions import check_solution

    found = check_solution(path)
    give(found, form)
    if found.wrong:
        sys.exit(1)
