"""The diagram: requested blocks are expanded, every arrow has its shape, and nothing overlaps."""

import itertools
import json
import re
from dataclasses import replace
from xml.etree import ElementTree

import pytest

import glassformer as gf
from glassformer.algebra import notation
from glassformer.show.blocks import blocks
from glassformer.show.diagram import diagram, inside

SOME = ("bert-base", "vit-b16", "modernbert-base", "t5-small", "albert-base", "layer", "attention", "dinov2-b", "mpnet-base")
MORE = (*SOME, "whisper-tiny", "siglip-b16-vision", "deit-ti-distilled", "clip-b32-text")
ODD = {
    "disentangled": ("deberta-v3-base", {}),
    "matrices of their own, shared keys": ("deberta-v3-base", {"relative_projections": "own", "kv_heads": 4}),
    "one term": ("deberta-v3-base", {"relative_terms": "position_to_content"}),
    "grouped, rotary, local": ("bert-base", {"kv_heads": 3, "position": "rotary", "window": 8}),
    "a head that reads two blocks": ("bert-base", {"head": "pretrain"}),
}
CASES = [*ODD.values(), *((name, {}) for name in MORE)]
IDS = [*ODD, *MORE]


def tree(program):
    return [node for top in blocks(notation(program)) for node in top.walk()]


def everything(program):
    """All blocks open."""
    return diagram(program, opened={node.name for node in tree(program)})


def test_bert_base_is_drawn_as_it_is():
    drawn = diagram(gf.build("bert-base", t=5))
    assert [(box.kind, box.title, box.note, box.open) for box in drawn.boxes] == [
        ("words", "tokens and segments, 5 each", "", None),
        ("block", "embedding", "23,837,184", False),
        ("block", "12 × layer", "12 × 7,087,872 = 85,054,464", True),
        ("block", "attention, 12 heads", "2,362,368", False),
        ("sum", "attention residual", "", None),
        ("block", "LayerNorm", "1,536", False),
        ("block", "feed-forward", "4,722,432", False),
        ("sum", "ffn residual", "", None),
        ("block", "LayerNorm", "1,536", False),
        ("block", "pooler", "590,592", False),
    ]
    assert {arrow.label for arrow in drawn.arrows} == {"", "5 × 768", "768"}
    assert {arrow.label for arrow in diagram(gf.build("bert-base", t=5), convention="columns").arrows} == {"", "768 × 5", "768"}


def test_only_named_blocks_are_expanded():
    program = gf.build("bert-base")
    names = {box.name for box in diagram(program, opened=["layers.0", "layers.0.attention"]).boxes if box.open}
    assert names == {"layers.0", "layers.0.attention"}
    closed = diagram(program, opened=["layers.0.attention", "nothing of the kind"])  # what is around it is closed
    assert [box.title for box in closed.boxes if box.kind == "block"] == ["embedding", "12 × layer", "pooler"]


def test_a_residual_goes_around_the_skipped_block():
    drawn = diagram(gf.build("layer"))
    around = [(arrow.source, arrow.target) for arrow in drawn.arrows if len(arrow.points) > 2]
    assert around == [("", "layers.0.sum_1"), ("layers.0.norm_1", "layers.0.sum_2")]


def test_a_head_that_reads_the_layers_past_the_pooler_says_so():
    drawn = diagram(gf.build("bert-base", head="pretrain"))
    assert [(one.source, one.target) for one in drawn.arrows if one.target == "head"] == [
        ("layers.0", "head"),
        ("pooler", "head"),
    ]


def test_each_kind_of_layer_reads_the_one_before():
    drawn = diagram(gf.build("modernbert-base"), opened=[])
    assert [(one.source, one.target) for one in drawn.arrows] == [
        ("", "embeddings"),
        ("embeddings", "layers.0"),
        ("layers.0", "layers.1"),
        ("layers.1", "layers.3"),
        ("layers.3", "final_norm"),
        ("final_norm", ""),
    ]


def test_inside_attention_each_step_stands_below_what_it_reads():
    opened = inside(gf.build("bert-base"), "layers.0.attention")
    at = {box.name.rpartition(".")[2]: box for box in opened.boxes}
    assert at["q"].y == at["k"].y == at["v"].y < at["scores"].y < at["weights"].y < at["mix"].y < at["out"].y
    assert at["scores"].pieces == (("S = Q Kᵀ / √d", False), ("k", True))
    assert (at["scores"].note, at["scores"].kind) == ("128 × 128", "step")


def test_an_encoder_without_layers_is_its_input():
    drawn = diagram(gf.build("encoder", layers=0))
    assert [box.kind for box in drawn.boxes] == ["words"]
    assert [(arrow.source, arrow.target) for arrow in drawn.arrows] == [("", "")]


@pytest.mark.parametrize("name", SOME)
def test_pictures_are_well_formed_without_ids_and_ready_for_json(name):
    program = gf.build(name)
    for drawn in (diagram(program), everything(program), inside(program, "layers.0.attention")):
        picture = drawn.svg()
        assert ElementTree.fromstring(picture).tag.endswith("svg")
        assert not re.search(r"\sid=", picture)
        assert json.loads(json.dumps(drawn.to_dict()))["width"] == drawn.width


def behind(drawn):
    """Arrows that touch a box which they neither leave nor reach, each with that box; what is open lets them through."""
    for arrow, box in itertools.product(drawn.arrows, drawn.boxes):
        if box.name in (arrow.source, arrow.target) or box.open or box.kind == "words":
            continue
        for (x, y), (to_x, to_y) in itertools.pairwise(arrow.points):
            for part in range(201):
                at = x + (to_x - x) * part / 200, y + (to_y - y) * part / 200
                if -1 < at[0] - box.x < box.width + 1 and 0.5 < at[1] - box.y < box.height - 0.5:
                    yield arrow.target, box.name
                    break


def overlapping(drawn):
    """Overlapping boxes, neither of which is expanded."""
    for one, other in itertools.combinations([box for box in drawn.boxes if not box.open], 2):
        apart = one.x + one.width <= other.x or other.x + other.width <= one.x
        if not apart and not (one.y + one.height <= other.y or other.y + other.height <= one.y):
            yield one.name, other.name


def outside(drawn):
    """Boxes and points that are not in the picture, and boxes that are not in the block around them."""
    for box in drawn.boxes:
        if not (box.x >= 0 and box.x + box.width <= drawn.width and box.y >= 0 and box.y + box.height <= drawn.height):
            yield box.name
    for x, y in (point for arrow in drawn.arrows for point in arrow.points):
        if not (0 <= x <= drawn.width and 0 <= y <= drawn.height):
            yield x, y
    for frame, box in itertools.product([box for box in drawn.boxes if box.open], drawn.boxes):
        if box.name.startswith(f"{frame.name}.") and box.name.count(".") > frame.name.count("."):
            sides = frame.x < box.x, box.x + box.width < frame.x + frame.width, frame.y < box.y
            if not (all(sides) and box.y + box.height < frame.y + frame.height):
                yield frame.name, box.name


@pytest.mark.parametrize(("name", "fields"), CASES, ids=IDS)
def test_nothing_overlaps_whatever_is_expanded(name, fields):
    program = gf.build(name, **fields)
    layers = {node.name for node in tree(program) if node.kind == "layer"}
    pictures = [diagram(program), diagram(program, opened=[]), everything(program)]
    pictures += [diagram(program, opened={*layers, node.name}) for node in tree(program) if node.kind == "attention"]
    for drawn in pictures:
        assert list(behind(drawn)) == []
        assert list(overlapping(drawn)) == []
        assert list(outside(drawn)) == []


def test_an_arrow_behind_a_box_and_a_box_on_another_would_be_found():
    """Control: the test above can fail."""
    drawn = inside(gf.build("bert-base"), "layers.0.attention")
    past = next(arrow for arrow in drawn.arrows if len(arrow.points) > 2)
    passed = [box for box in drawn.boxes if past.points[0][1] < box.y < past.points[-1][1]]
    middle = (passed[0].x + passed[0].width / 2, passed[0].y + passed[0].height / 2)
    bent = past._replace(points=(past.points[0], middle, past.points[-1]))
    assert (past.target, passed[0].name) in list(behind(replace(drawn, arrows=(bent,))))
    first, second, *_ = drawn.boxes
    assert list(overlapping(replace(drawn, boxes=(first, second._replace(x=first.x + 5, y=first.y)))))
    assert list(outside(replace(drawn, boxes=(first._replace(x=-1),))))
