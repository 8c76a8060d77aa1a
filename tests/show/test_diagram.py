"""The diagram: every parameter is in a block, every arrow has its shape, and nothing stands on anything else."""

import itertools
import json
import re
from dataclasses import replace
from xml.etree import ElementTree

import pytest

import glassformer as gf
from glassformer.algebra import ledger
from glassformer.show.diagram import block_of, diagram
from glassformer.show.diagram_inside import inside

SOME = ("bert-base", "vit-b16", "modernbert-base", "t5-small", "albert-base", "layer", "attention", "dinov2-b", "mpnet-base")


def program(name, **fields):
    return gf.build(name, **fields)


def counted(drawn, spec):
    """The parameters of the blocks, those of a frame as often as it has layers with weights of their own."""
    total = 0
    for box in drawn.boxes:
        frame = next((one for one in drawn.frames if one.y <= box.y < one.y + one.height), None)
        times = 1 if frame is None else len({spec.layer_weights(layer) for layer in frame.layers})
        total += box.parameters * times
    return total


@pytest.mark.parametrize("name", sorted(gf.presets()))
def test_the_blocks_hold_every_parameter(name):
    made = program(name)
    shared = sum(
        one.size for one in made.parameters if one.name.startswith(("layers.E_", "layers.relative_norm"))
    )  # for all layers
    assert counted(diagram(made), made.spec) + shared == ledger(made).total


def test_bert_base_is_drawn_as_it_is():
    drawn = diagram(program("bert-base", t=5))
    words = [(box.title, box.parameters) for box in drawn.boxes]
    assert words == [
        ("tokens and segments, 5 each", 0),
        ("embedding", 23_837_184),
        ("attention, 12 heads", 2_362_368),
        ("+", 0),
        ("LayerNorm", 1536),
        ("feed-forward", 4_722_432),
        ("+", 0),
        ("LayerNorm", 1536),
        ("pooler", 590_592),
    ]
    assert [(frame.title, frame.note) for frame in drawn.frames] == [("12 × layer", "12 × 7,087,872 = 85,054,464")]
    assert {arrow.label for arrow in drawn.arrows} == {"", "5 × 768", "768"}
    assert {arrow.label for arrow in diagram(program("bert-base", t=5), convention="columns").arrows} == {"", "768 × 5", "768"}


def test_heads_that_share_keys_are_said():
    titles = [box.title for box in diagram(program("layer", heads=8, kv_heads=2)).boxes]
    assert "attention, 8 heads on 2" in titles


def test_a_residual_goes_around_what_it_skips():
    drawn = diagram(program("layer"))
    around = [(arrow.source, arrow.target) for arrow in drawn.arrows if arrow.around]
    assert around == [("input", "layers.0.sum_1"), ("layers.0.norm_1", "layers.0.sum_2")]


def test_a_head_that_reads_the_layers_past_the_pooler_says_so():
    drawn = diagram(program("bert-base", head="pretrain"))
    assert [(one.source, one.target) for one in drawn.arrows if one.target == "head"] == [
        ("layers.0.norm_2", "head"),
        ("pooler", "head"),
    ]


@pytest.mark.parametrize("name", SOME)
def test_no_box_stands_on_another_and_all_are_inside_the_picture(name):
    drawn = diagram(program(name))
    for one, other in itertools.pairwise(drawn.boxes):
        assert one.y + one.height < other.y
    assert all(box.x >= 0 and box.x + box.width <= drawn.width for box in drawn.boxes)
    assert all(0 <= x <= drawn.width and 0 <= y <= drawn.height for arrow in drawn.arrows for x, y in arrow.points)


@pytest.mark.parametrize("name", SOME)
def test_pictures_are_well_formed_without_ids_and_ready_for_json(name):
    made = program(name)
    keys = dict.fromkeys(map(block_of, made.steps))
    for drawn in (diagram(made), *(inside(made, key) for key in list(keys)[:6])):
        picture = drawn.svg()
        assert ElementTree.fromstring(picture).tag.endswith("svg")
        assert not re.search(r"\sid=", picture)
        assert json.loads(json.dumps(drawn.to_dict()))["width"] == drawn.width


def test_inside_attention_each_step_stands_below_what_it_reads():
    opened = inside(program("bert-base"), "layers.0.attention")
    at = {node.name.rpartition(".")[2]: node for node in opened.nodes}
    assert at["q"].y == at["k"].y == at["v"].y < at["scores"].y < at["weights"].y < at["mix"].y < at["out"].y
    assert (at["scores"].left, at["scores"].right, at["scores"].shape) == ("S", "Q Kᵀ / √d_k", "128 × 128")
    for row in {node.y for node in opened.nodes}:
        nodes = [node for node in opened.nodes if node.y == row]
        assert all(one.x + one.width < other.x for one, other in itertools.pairwise(nodes))


def test_an_encoder_without_layers_is_its_input():
    drawn = diagram(program("encoder", layers=0))
    assert [box.key for box in drawn.boxes] == ["input"]
    assert [(arrow.source, arrow.tensor) for arrow in drawn.arrows] == [("input", "x")]


def behind(drawn):
    """Arrows that touch a node which they neither leave nor reach, each with that node; a node is taken a pixel larger."""
    for arrow, node in itertools.product(drawn.arrows, drawn.nodes):
        if node.name in (arrow.source, arrow.target):
            continue
        for (x, y), (to_x, to_y) in itertools.pairwise(arrow.points):
            for part in range(201):
                at = x + (to_x - x) * part / 200, y + (to_y - y) * part / 200
                if -1 < at[0] - node.x < node.width + 1 and 0.5 < at[1] - node.y < node.height - 0.5:
                    yield arrow.target, node.name
                    break


SHOWN = (*SOME, "whisper-tiny", "siglip-b16-vision", "deit-ti-distilled", "clip-b32-text")
ODD = {
    "disentangled": ("deberta-v3-base", {}),
    "matrices of their own, shared keys": ("deberta-v3-base", {"relative_projections": "own", "kv_heads": 4}),
    "one term": ("deberta-v3-base", {"relative_terms": "position_to_content"}),
    "grouped, rotary, local": ("bert-base", {"kv_heads": 3, "position": "rotary", "window": 8}),
}


@pytest.mark.parametrize(("name", "fields"), [*ODD.values(), *((name, {}) for name in SHOWN)], ids=[*ODD, *SHOWN])
def test_no_arrow_runs_behind_a_node_that_is_not_its_own_and_no_node_stands_on_another(name, fields):
    made = program(name, **fields)
    for key in [key for key in dict.fromkeys(block_of(step) for step in made.steps) if not re.match(r"layers\.[1-9]", key)]:
        drawn = inside(made, key)
        assert not list(behind(drawn))
        for one, other in itertools.combinations(drawn.nodes, 2):
            apart = one.x + one.width <= other.x or other.x + other.width <= one.x
            assert apart or one.y + one.height <= other.y or other.y + other.height <= one.y, (one.name, other.name)
        inner = [x for arrow in drawn.arrows for x, _ in arrow.points]
        assert all(0 <= x <= drawn.width for x in (*inner, *(node.x + node.width for node in drawn.nodes)))


def test_an_arrow_behind_a_node_would_be_found():
    """The twin that shows that the test above can fail: a straight arrow where there was a lane."""
    drawn = inside(program("bert-base"), "layers.0.attention")
    past = next(arrow for arrow in drawn.arrows if len(arrow.points) > 2)
    passed = [node for node in drawn.nodes if past.points[0][1] < node.y < past.points[-1][1]]
    middle = (passed[0].x + passed[0].width / 2, passed[0].y + passed[0].height / 2)
    bent = past._replace(points=(past.points[0], middle, past.points[-1]))
    assert (past.target, passed[0].name) in list(behind(replace(drawn, arrows=(bent,))))
