"""A solution as a whole: counts, questions, files, and hostile input in bounded time."""

import json
import random
import time

import pytest
from solution_texts import COUNTED_TWICE, TRAPPED

from glassformer.answers.solutions import check_solution, check_text

LAST = COUNTED_TWICE.count("\n")
BLOCK = """```glassformer
spec: layer d_model=64 heads=4 d_k=16 d_ff=120
params = 32440
params = 27648
params of W_O = 16640
colour = 3
```
"""


def test_questions_are_graded():
    found = check_text(BLOCK)
    assert [one.grade for one in found.graded] == ["right", "convention", "wrong", "unclear"]
    assert (found.wrong, found.counts["right"], found.counts["unclear"]) == (1, 2, 1)


def test_a_document_opens_no_files(tmp_path):
    secret = tmp_path / "secret.toml"
    secret.write_text("layers = 7\n", encoding="utf-8")
    (one,) = check_text(f"```glassformer\nspec: {secret}\nparams = 3\n```\n").graded
    assert one.grade == "unclear"
    assert "names no files" in one.problem


def test_the_counts_are_claims_questions_and_remarks_together():
    found = check_text(COUNTED_TWICE + BLOCK)
    assert found.wrong == len(found.document.of("wrong")) + 1 + 2
    assert found.summary() == f"{found.counts['right']} right, {found.wrong} wrong, 3 carried forward, 1 not understood"


def test_json_has_everything():
    document = json.loads(json.dumps(check_text(COUNTED_TWICE + BLOCK).to_dict()))
    assert {"findings", "questions", "remarks", "graded", "totals", "wrong"} <= set(document)
    assert document["remarks"][1]["totals"][-1] == {"line": LAST, "claimed": "218,671,424", "becomes": "87,737,856"}


@pytest.mark.parametrize("name", ["a.md", "a.txt", "a.tex"])
def test_files_of_every_kind_are_read(tmp_path, name):
    (tmp_path / name).write_text(TRAPPED, encoding="utf-8")
    assert check_solution(tmp_path / name).wrong == 1


def test_the_same_document_gets_the_same_answer():
    assert check_text(TRAPPED).to_dict() == check_text(TRAPPED).to_dict()


HOSTILE = {
    "deep": "Q = " + "(" * 100_000 + "X" + ")" * 100_000,
    "power": "d_model = 64, 8 heads\nweights: 9**9**9**9 = 3\n",
    "long line": "X is 6 x 768 " * 200_000,
    "many names": "X is 6 x 768\n" + "\n".join(f"Q_{i} = X W_{i}" for i in range(3_000)),
    "many formulas": "X is 6 x 768 and W is 768 x 64.\n" + "\n".join(f"$Y_{{{i}}} = X W$" for i in range(3_000)),
    "joined names": "A, " * 50_000 + "B are 3 x 4",
    "open dollars": "$" * 50_001 + "Q = X W",
    "heads": "8 heads " * 30_000 + "\nweights: 512 × 512 × 8 = 2,097,152",
    "cycles": "X is 6 x 6. $A = B X$ $B = A X$",
    "vectors": "\n".join(f"- w{chr(97 + i % 26)}: [1, 2, 3, 4, 5, 6]\n- Q (w{chr(97 + i % 26)}): [1, 2]" for i in range(3_000)),
    "products": "d_model = 512, 8 heads.\n" + "weights: 512 × 512 × 8 = 2,097,152\n" * 2_000,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_documents_are_read_in_bounded_time(name):
    start = time.process_time()
    check_text(HOSTILE[name])
    assert time.process_time() - start < 20


@pytest.mark.parametrize("seed", range(30))
def test_a_document_with_its_signs_shuffled_never_raises(seed):
    dice = random.Random(seed)
    signs = list(COUNTED_TWICE + TRAPPED)
    for _ in range(60):
        place = dice.randrange(len(signs))
        signs[place] = dice.choice("$\\{}[]()=×^_,;#`\n 0x")
    check_text("".join(signs))
