"""What heads write into a logit, against forward hooks on transformers' own model: the split, not only its sum."""

import numpy as np
import pytest
from tiny_models import Case, guest, inputs_for, model_of, save

from glassformer.numbers import open_checkpoint

CASE = Case("bert", "BertForSequenceClassification")
HEADS = CASE.config["num_attention_heads"]


class Seen:
    """What passes through modules of a model of transformers, by their names."""

    def __init__(self, model, given):
        torch = guest("torch")
        self.inputs, self.outputs = {}, {}
        for name, module in model.named_modules():
            if not list(module.children()):  # a linear map or a norm: one tensor in, one out
                module.register_forward_hook(self.keep(name))
        with torch.no_grad():
            names = {"tokens": "input_ids", "segments": "token_type_ids", "attend": "attention_mask"}
            self.answer = model(**{names[name]: torch.as_tensor(value) for name, value in given.items()}, output_attentions=True)

    def keep(self, name):
        def hook(_module, inputs, output):
            self.inputs[name], self.outputs[name] = inputs[0].numpy(), output.numpy()

        return hook


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    model = model_of(CASE)
    given = inputs_for(CASE, padded=True)
    run = open_checkpoint(save(model, tmp_path_factory.mktemp("bert")), as_class=CASE.model_class).run(**given)
    return model, Seen(model, given), run


def through_norm(module, x, coefficient):
    """The coefficient of what enters a LayerNorm, its deviation held: centred, times gamma / deviation."""
    gamma = module.weight.detach().numpy() / np.sqrt(x.var() + module.eps)
    back = coefficient * gamma
    return back - back.mean()


def expected(model, seen, text, number):
    """{(layer, head, source position): contribution}, and that of each feed-forward block."""
    weight = {name: value.detach().numpy() for name, value in model.named_parameters()}
    before = seen.outputs["bert.pooler.dense"][text]
    coefficient = (weight["classifier.weight"][number] * np.tanh(before) / before) @ weight["bert.pooler.dense.weight"]
    modules, found = dict(model.named_modules()), {}
    for layer in reversed(range(model.config.num_hidden_layers)):
        place = f"bert.encoder.layer.{layer}"
        name = f"{place}.output.LayerNorm"
        coefficient = through_norm(modules[name], seen.inputs[name][text, 0], coefficient)
        inner = seen.inputs[f"{place}.output.dense"][text, 0]
        found[layer, "ffn"] = coefficient @ weight[f"{place}.output.dense.weight"] @ inner
        name = f"{place}.attention.output.LayerNorm"
        coefficient = through_norm(modules[name], seen.inputs[name][text, 0], coefficient)
        by_head = (coefficient @ weight[f"{place}.attention.output.dense.weight"]).reshape(HEADS, -1)
        values = seen.outputs[f"{place}.attention.self.value"][text].reshape(-1, HEADS, by_head.shape[1])
        attention = seen.answer.attentions[layer][text].numpy()[:, 0]
        for head in range(HEADS):
            for source, share in enumerate(attention[head] * (values[:, head] @ by_head[head])):
                found[layer, head, source] = share
    return found


@pytest.mark.parametrize("text", [0, 1])
@pytest.mark.parametrize("number", [0, 2])
def test_direct_contributions_of_heads_and_blocks_are_those_of_hooks_on_transformers(both, text, number):
    model, seen, run = both
    ledger = run.contributions("head.logits", **{"batch": text, "class": number})
    assert ledger.value == pytest.approx(seen.answer.logits[text, number].item(), rel=1e-10)
    heads = {key: value for key, value in ledger.by("layer", "head", "position").items() if key[1] is not None}
    blocks = {(line.layer, "ffn"): line.value for line in ledger.lines if line.part == "ffn" and line.position == 0}
    wanted = {key: value for key, value in expected(model, seen, text, number).items() if value}
    assert (heads | blocks) == pytest.approx(wanted, rel=1e-9, abs=1e-12)
    assert len(wanted) > 2 * HEADS * 7
