"""Bugs to plant: each is one line of the package, replaced by a plausible mistake."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Bug:
    """In `file`, `right` (which must stand there once) becomes `wrong`."""

    name: str
    file: str
    right: str
    wrong: str

    def plant(self, package: Path) -> None:
        """Write the bug into a copy of the package. A line that is no longer there is an error: the list must stay current."""
        path = package / self.file
        text = path.read_text(encoding="utf-8") if path.is_file() else ""
        if text.count(self.right) != 1:
            raise LookupError(f"{self.name}: {self.file} has this {text.count(self.right)} times, wanted once: {self.right}")
        path.write_text(text.replace(self.right, self.wrong), encoding="utf-8")


# ruff: noqa: E501  (a table: one line a bug)
BUGS = (
    # the program
    Bug("scores divided by d_k, not its root", "program/operations/products.py", "return result / math.sqrt(self.terms * self.divisor.size) if", "return result / (self.terms * self.divisor.size) if"),
    Bug("softmax over the queries", "program/attention.py", 'SOFTMAX = Softmax("s")', 'SOFTMAX = Softmax("t")'),
    Bug("a finite number for a mask", "program/operations/scores.py", "return np.where(seen, values[0], -np.inf)", "return np.where(seen, values[0], -20.0)"),
    Bug("bias forgotten", "program/operations/products.py", "return result + aligned(inputs[2], values[2], output)", "return result"),
    Bug("eps outside the root", "program/operations/norms.py", "np.sqrt(aligned(inputs[-1], values[-1], output) + self.eps)", "np.sqrt(aligned(inputs[-1], values[-1], output)) + self.eps"),
    Bug("variance with n - 1", "program/operations/norms.py", ".mean(position_of(inputs[0], self.over)))", ".sum(position_of(inputs[0], self.over)) / (inputs[0].axis(self.over).size - 1))"),
    Bug("norm before and after exchanged", "program/stack.py", 'before = spec.norm == "pre"', 'before = spec.norm == "post"'),
    Bug("padding is seen", "program/operations/scores.py", "seen = seen & aligned(inputs[1], values[1], output)", "seen = seen | aligned(inputs[1], values[1], output)"),
    Bug("causal the wrong way round", "program/operations/scores.py", "seen &= away <= 0", "seen &= away >= 0"),
    Bug("window as a radius", "program/operations/scores.py", "seen &= np.abs(away) <= self.window // 2", "seen &= np.abs(away) <= self.window"),
    Bug("waves start at position 1", "program/operations/lookups.py", "angles = np.arange(self.along.size)[:, None] / self.base", "angles = (1 + np.arange(self.along.size)[:, None]) / self.base"),
    Bug("position offset forgotten", "program/operations/lookups.py", "return values[0][self.offset : self.offset + self.along.size]", "return values[0][: self.along.size]"),
    Bug("rotary angles of the other sign", "program/operations/rotations.py", "np.concatenate([-second, first], axis=-1)", "np.concatenate([second, -first], axis=-1)"),
    Bug("gelu by tanh in the program", "program/operations/pointwise.py", "result = erf(x / math.sqrt(2))", "result = np.tanh(_ROOT.value * (x + 0.044715 * x**3))"),
    Bug("a row that sees nothing divides by zero", "program/operations/scores.py", "return np.asarray(powers / np.where(total == 0, 1, total))", "return np.asarray(powers / total)"),
    Bug("the largest score is not taken off", "program/operations/scores.py", "powers = np.exp(values[0] - np.where(np.isfinite(highest), highest, 0))", "powers = np.exp(values[0])"),
    Bug("mean counts padding in the program", "program/operations/sums.py", "kept.sum(axis) / np.maximum(real.sum(axis), 1)", "kept.sum(axis) / values[0].shape[axis]"),
    Bug("a cell explained without the root", "program/operations/products.py", "Constant(math.sqrt(self.terms * size),", "Constant(float(self.terms * size),"),
    # the algebra: what is counted
    Bug("tied table counted twice", "program/heads.py", 'weight = head.tied("W_vocab", table._replace(axes=(vocab, width)))', 'weight = head.parameter("W_vocab", "logits", vocab, width)'),
    Bug("shared layers counted one by one", "program/stack.py", 'here = layers.layer(number, spec.layer_weights(number))', 'here = layers.layer(number, number)'),
    Bug("products of attention halved", "program/operations/products.py", "return math.prod([axis.size for axis in {*inputs[0].axes, *inputs[1].axes}])", 'return math.prod([axis.size for axis in {*inputs[0].axes, *inputs[1].axes}]) // (2 if inputs[1].axes[1].name == "s" else 1)'),
    Bug("one layer too few in the total", "algebra/ledger.py", "def total(self) -> int:\n        return sum(row.count for row in self.rows)", "def total(self) -> int:\n        return sum(row.count for row in self.rows if row.layer != 1)"),
    Bug("layers of a cost left out of its parts", "algebra/cost.py", "entry[1] += row.flops", "entry[1] = row.flops"),
    # the model
    Bug("W_O with heads and features exchanged", "model/attention.py", "self.out.weight.unflatten(1, (self.heads, self.d_v)).permute(1, 2, 0)", "self.out.weight.unflatten(1, (self.d_v, self.heads)).permute(2, 1, 0)"),
    Bug("heads split across features", "model/attention.py", "(y.unflatten(-1, shape) for y, shape in", "(y.unflatten(-1, shape[::-1]).transpose(-1, -2) for y, shape in"),
    Bug("groups of queries dealt out in turn", "model/core.py", "x.repeat_interleave(group, dim=2)", "x.repeat(1, 1, group, 1)"),
    Bug("queries and keys exchanged", "model/attention.py", "q, k, v = self.joint(x_BTD).split(self.widths, dim=-1)", "k, q, v = self.joint(x_BTD).split(self.widths, dim=-1)"),
    Bug("dropout in evaluation", "model/attention.py", "dropout = self.dropout if self.training else 0.0", "dropout = self.dropout"),
    Bug("the model's scale without a root", "model/attention.py", "self.scale = 1 / math.sqrt(spec.score_divisor if spec.score_divisor is not None else under)", "self.scale = 1 / under"),
    Bug("padding leaks under a window", "model/core.py", "visible = real_B11S if visible is None else visible & real_B11S", "visible = real_B11S if visible is None else visible"),
    Bug("window off by one", "model/core.py", "(away_TS.abs() <= self.window // 2)", "(away_TS.abs() < self.window // 2)"),
    Bug("the last token is padding", "model/core.py", "x_BTD.shape[1] - 1 - self.attend_BS.flip(1).int().argmax(dim=1)", "x_BTD.shape[1] - 1 - 0 * self.attend_BS.flip(1).int().argmax(dim=1)"),
    Bug("mean divided by the padded length", "model/core.py", "/ real_BT1.sum(1).clamp(min=1)", "/ x_BTD.shape[1]"),
    Bug("positions off by one", "model/embeddings.py", "self.E_position[self.offset : self.offset + x_BTE.shape[1]]", "self.E_position[self.offset + 1 : self.offset + 1 + x_BTE.shape[1]]"),
    Bug("given positions without the offset", "model/embeddings.py", "functional.embedding(positions_BT + self.offset, self.E_position)", "functional.embedding(positions_BT, self.E_position)"),
    Bug("segments ignored", "model/embeddings.py", "(self.E_segment[0] if segments_BT is None else functional.embedding(segments_BT, self.E_segment))", "self.E_segment[0]"),
    Bug("embeddings scaled by d_model", "model/embeddings.py", "self.scale = math.sqrt(spec.d_model) if", "self.scale = float(spec.d_model) if"),
    Bug("patches column by column", "model/variants/patches.py", "patches = range(2, 2 + many)", "patches = range(1 + many, 1, -1)"),
    Bug("registers before the class token", "model/variants/patches.py", "self.after = spec.class_tokens", "self.after = 0"),
    Bug("gelu by tanh in the model", "model/feed_forward.py", '"gelu": functional.gelu,', '"gelu": partial(functional.gelu, approximate="tanh"),'),
    Bug("gate and hidden exchanged", "model/feed_forward.py", "hidden_BTF, gate_BTF = wide_BTG.chunk(2, dim=-1)", "gate_BTF, hidden_BTF = wide_BTG.chunk(2, dim=-1)"),
    Bug("layer norm for rms norm", "model/norms.py", '"rms": rms_norm,', '"rms": layer_norm,'),
    Bug("eps that is not the spec's", "model/norms.py", "self.eps = spec.eps", "self.eps = 1e-5"),
    Bug("the residual is normalised", "model/norms.py", "return x_BTD + sub_layer(norm(x_BTD))", "return norm(x_BTD) + sub_layer(norm(x_BTD))"),
    Bug("rotary pairs side by side", "model/variants/rotary.py", "first, second = x_BTHK.chunk(2, dim=-1)", "first, second = x_BTHK[..., ::2], x_BTHK[..., 1::2]"),
    Bug("ahead and back exchanged", "model/variants/relative.py", "self.ahead * (away > 0)", "self.ahead * (away < 0)"),
    Bug("final norm forgotten", "model/encoder.py", "states_BTD = self.final_norm(", "states_BTD = nn.Identity()("),
    Bug("a padded mask is dropped", "model/boundary/checks.py", "return given._replace(attend=None) if everywhere else given", "return given._replace(attend=None)"),
)  # fmt: skip
