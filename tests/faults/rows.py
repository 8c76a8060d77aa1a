"""The rows of docs/reliability.md: what can go wrong, what is guaranteed, and where the figure comes from.

A row ends in one of three ways. A test calls `figure("ID", …)` and the page shows what it measured; or `not_ours` says why there
is nothing to measure; or the row is still `open`, which the page says too. To close one, write the test and remove `open=True`.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """One threat or fault, and the guarantee against it."""

    id: str
    threat: str
    promise: str
    not_ours: str = ""  # why no test can measure this
    note: str = ""  # why the guarantee differs from the usual one
    open: bool = False  # not measured yet


@dataclass(frozen=True)
class Group:
    """Rows that belong together."""

    title: str
    rows: tuple[Row, ...]


MODEL_FILES = Group(
    "Model files",
    (
        Row(
            "F1",
            "a damaged or hostile .safetensors file",
            "a valid header or a GlassformerError of one line, at most 300 characters; no crash, no hang, memory bounded by the "
            "file size",
            note="300 characters rather than 200, because a line names the file, the tensor, what was found and how to fix it",
        ),
        Row("F2", "a duplicate key in a header or a JSON file", "refused; the last value never silently wins"),
        Row(
            "F3",
            "a header built to exhaust time or memory",
            "at most 16 MB, 34,000 tensors, 8 axes, 512 bytes per name; read or refused within 0.2 s of processor time",
            note="34,000 tensors rather than 100,000: the deepest spec has 32,000, and JSON parsing in Python is the bottleneck",
        ),
        Row("F4", "another kind of file in place of the weights", "identified by its first bytes, with advice"),
        Row("F5", "a flipped bit in the weights", "every tensor we write has a sha256; the message names the damaged tensor"),
        Row("F6", "NaN or infinite weights", "refused on load with tensor, index and count, unless allowed explicitly"),
        Row(
            "F7",
            "a config that describes a gigantic model",
            "sizes are compared with the file before any allocation; refused within 10 ms",
            note="a checkpoint is refused if any tensor does not fit, so no limit relative to the file size is needed; "
            "a new model may use 80 % of the free memory",
        ),
        Row("F8", "invalid config values", "every field has a range; the message names the key and the value"),
        Row(
            "F9",
            "config and weights disagree",
            "refused, naming the tensors; nothing is initialised silently",
            note="no option initialises missing tensors at random; a class with a new head must be requested by name (--as)",
        ),
        Row(
            "F10",
            "file names that point outside the folder",
            "only plain names of regular files inside the folder are opened",
        ),
        Row("F11", "pickle files", "never read, never written; no code in the package unpickles anything"),
        Row(
            "F12",
            "code and commands inside model files",
            "files are treated as data: nothing in them is imported, compiled or started, and no connection is opened",
        ),
        Row(
            "F13",
            "a hostile tokenizer.json",
            "one line, also for panics of the Rust code; time grows at most linearly with the text",
            note="the tokenizers package reads the file, including its patterns, so that real models keep their tokens; "
            "its retry limit stops a runaway pattern",
        ),
        Row("F14", "malicious JSON and TOML", "at most 8 MB, 32 levels, no NaN, UTF-8 only; otherwise refused"),
        Row(
            "F15",
            "export and import",
            "an exported model opens in transformers and can be read back: identical weights and config keys, the same outputs",
        ),
    ),
)

LAB = Group(
    "The lab",
    (
        Row(
            "W1",
            "DNS rebinding: a foreign host name that resolves to this machine",
            "requests with any other Host than this machine's are refused, on every route",
        ),
        Row("W2", "cross-site requests", "only the lab's own page can change anything"),
        Row(
            "W3",
            "a route without access control",
            "one guard for all routes; a test lists them and tries every attack on each",
        ),
        Row("W4", "a leaked token", "long, compared in constant time, never in a log or a referrer"),
        Row("W5", "markup in text", "texts, labels and names are escaped in every view and every file"),
        Row("W6", "resources that a page may load", "only its own scripts and styles, enforced by a header of every response"),
        Row("W7", "path traversal", "files are served from a fixed list of names"),
        Row("W8", "access from other machines", "the lab listens on this machine only; no option changes that"),
        Row(
            "W9",
            "a view too large to draw",
            "at 512 tokens every view has at most 5 MB and takes at most 1 s, once the run is computed",
            note="the limit on memory applies to the number of runs kept (docs/lab.md), not to a multiple of the model size: "
            "a float64 run with all its intermediates is larger than the model",
        ),
        Row(
            "W10",
            "many requests while a model trains",
            "all are answered, and the weights are bit for bit identical",
            note="no response time is guaranteed: on two cores that also train, the last of a thousand simultaneous requests "
            "waits for seconds, and training slows down while the lab computes",
        ),
        Row("W11", "slow and very large requests", "sizes and times are limited; half-open connections block nobody"),
        Row("W12", "the browser or the lab is killed", "a training run continues unchanged to its end; the next lab shows it"),
    ),
)

TRAINING = Group(
    "Training",
    (
        Row("T1", "kill -9 at any moment", "the run can be resumed and ends bit for bit identical"),
        Row("T2", "a power failure", "a checkpoint gets its final name only after all its data is on disk"),
        Row("T3", "a full disk", "the last checkpoint is kept; one line says how much space is missing"),
        Row("T4", "the last checkpoint is damaged", "the newest undamaged one is used; one line says so"),
        Row(
            "T5",
            "resume",
            "every loss and every weight is bit for bit identical, from any step",
            note="rows are prepared in the training process, so there is no number of loader processes to vary",
        ),
        Row(
            "T6",
            "resume after a change",
            "refused, with a list of the differences",
            note="a different number of processes is supported (T11), and so is another PyTorch version, which the manifest "
            "records. No option forces a resume: a changed run is a new run",
        ),
        Row("T7", "a signal to stop", "the run is saved at the next step and can be resumed"),
        Row("T8", "NaN or infinite values", "detected in the same step and located; no checkpoint ever contains one"),
        Row(
            "T9",
            "a loss spike",
            "reported immediately, by a documented rule",
            note="reported only: rolling back and skipping rows automatically would hide a problem with the data or the "
            "learning rate. `resume --lr` continues from the last checkpoint",
        ),
        Row(
            "T10",
            "out of memory",
            "predicted before the first step; one line names the batch size that fits",
            note="tests/training/test_measuring.py keeps the prediction within 10 % of the memory that a real step uses",
        ),
        Row(
            "T11",
            "one of several processes dies",
            "the others exit; torchrun restarts all of them from the last checkpoint",
        ),
        Row("T12", "two runs in one folder", "the second one is refused"),
        Row(
            "T13",
            "a code change that affects the loss",
            "losses are compared with recorded ones, to 1e-5",
            note="not bit for bit: other processors round sums differently, by up to 1e-6 in these runs. Bit-for-bit equality "
            "is tested against the same machine (T1, T5)",
        ),
    ),
)

NUMERICS = Group(
    "Numerics",
    (
        Row(
            "N1",
            "results that differ from the original implementation",
            "every hidden state agrees as closely as the number format allows",
        ),
        Row(
            "N2",
            "a row without a real token",
            "the same rule on every path: the attention output is zero, never NaN",
            note="allowed rather than refused: an empty text in a batch is not an error, and its result is defined",
        ),
        Row("N3", "two paths through one model", "training without dropout and evaluation give the same result"),
        Row("N4", "values behind a mask", "masked content has no effect, whatever its value"),
        Row(
            "N5",
            "scores too large for half precision",
            "weights and outputs are still finite: kernels, and the weights that are returned, use float32 internally",
        ),
        Row("N6", "LayerNorm far from zero", "at least as accurate as PyTorch's"),
        Row("N7", "the position of epsilon", "stated in every spec, computed as in the paper"),
        Row("N8", "ids, segments and positions out of range", "refused at the boundary with index, value and range"),
        Row(
            "N9",
            "a mask of another shape, type or meaning",
            "refused in one line, in both implementations; float masks too, because their zeros are ambiguous",
        ),
        Row("N10", "swapped batch and length axes", "one layout, named in every message"),
        Row("N11", "empty batches and sequences", "an empty result, or a one-line error"),
        Row("N12", "padding on the left", "correct if positions are given, refused if positions would be wrong"),
        Row("N13", "gradients", "equal to finite differences"),
        Row("N14", "counting tools disagree", "parameters and FLOPs equal those of the tensors that exist"),
    ),
)

LAWS = Group(
    "Laws",
    (
        Row("P1", "the ledger differs from the model", "every tensor of every random spec is counted correctly"),
        Row("P2", "a predicted shape is wrong", "every named intermediate has the predicted shape"),
        Row("P3", "the float64 run differs from the model", "every number to 1e-12 in float64"),
        Row("P4", "a bug that no example shows", "laws that hold for every encoder, each tested with planted bugs"),
    ),
)

ANSWERS = Group(
    "Answers",
    (
        Row(
            "Q1",
            "a claim that contains code, or has no end",
            "read by our own parser with limits on length, depth, digits and exponents; nothing is compiled, opened or imported",
        ),
        Row(
            "Q2", "a hostile or very large submission", "a grade or a one-line error, within seconds and 200 MB, for up to 10 MB"
        ),
        Row("Q3", "a notebook that contains code", "code is never run, outputs are never read"),
        Row("Q4", "markup in names and answers", "no exporter writes a tag, an unsafe link or a control character"),
        Row("Q5", "commands in LaTeX", "exported as text; in a claim, only a fixed list of commands is accepted"),
        Row("Q6", "unfair grading", "right answers in any usual notation are right, near misses are wrong, always the same"),
    ),
)

SUPPLY = Group(
    "Dependencies",
    (
        Row(
            "S1",
            "a dependency that was tampered with",
            "requirements.lock has a hash for every file that may be installed",
            note="four runtime dependencies rather than three: numpy, safetensors, click and rich; torch is an extra",
        ),
        Row(
            "S2",
            "a dependency with a known vulnerability",
            "none in a release",
            not_ours="advisories change independently of this project, so they are checked for each release and not by a test: "
            "`make audit` runs pip-audit on requirements.lock. At the time of writing neither of its two advisory services "
            "could be reached, so there is no figure",
        ),
        Row(
            "S3",
            "a release that differs from the source tree",
            "built from the tag, reproducibly",
            not_ours="there is no release yet, and publishing is not part of this repository; hatchling builds are reproducible",
        ),
        Row("S4", "telemetry", "no connection to another machine, in all tests"),
        Row(
            "S5",
            "no contact for security reports",
            "SECURITY.md says what is trusted, what is guaranteed and how to report",
            not_ours="a document, not a figure: [SECURITY.md](../SECURITY.md)",
        ),
    ),
)

ENCODING = Group(
    "Encoding files",
    (
        Row(
            "J1",
            "kill -9 at any moment, of the job or of a worker",
            "the same command continues; no row is lost or written twice",
        ),
        Row("J2", "a full disk, or a deleted folder", "one line; finished shards are kept, and the job can continue later"),
        Row("J3", "a flipped bit in a shard", "detected by its sha256 when the job is run again, and the shard is rewritten"),
        Row("J4", "two jobs in one folder, or another job's folder", "the second job is refused, with a list of the differences"),
        Row("J5", "an input of a million texts", "memory does not grow with the input"),
        Row("J6", "kill -9 of a Ray actor, and of the job", "the same command continues; the files equal those of one machine"),
    ),
)

GROUPS = (MODEL_FILES, LAB, TRAINING, ENCODING, NUMERICS, LAWS, ANSWERS, SUPPLY)

# The errors whose wording is fixed, by number: what the user did. A test records each message.
MESSAGES = {
    1: "a text of 600 tokens, a model of 512 positions",
    2: "a token id outside the vocabulary",
    3: "a segment id that the model does not have",
    4: "a row without a real token",
    5: "an empty sequence",
    6: "token ids without a batch axis",
    7: "token ids that are floats",
    8: "a mask of another length",
    9: "a mask with other values than 0 and 1",
    10: "a number of heads that does not divide the width",
    11: "a width of a billion",
    12: "a config with 1,000 layers for a file with two",
    13: "an epsilon that is NaN or negative",
    14: "an activation that is a piece of code",
    15: "a truncated config.json",
    16: "a config.json that is a list",
    17: "a Git LFS pointer instead of weights",
    18: "truncated weights",
    19: "a header with a damaged first byte",
    20: "a tensor whose size does not match its bytes",
    21: "an index that names a file outside the folder",
    22: "a pickle file",
    23: "a folder that does not exist",
    24: "a weight that is NaN",
    25: "a loss that becomes NaN during training",
    26: "a checkpoint that was killed while being saved",
    27: "a full disk",
    28: "any of these on the command line",
    29: "attention weights from a kernel that does not return them",
    30: "a runaway pattern in tokenizer.json",
    31: "half of a surrogate pair in a text",
    32: "a settings file that names a class or an outside path",
    33: "a mask and tokens of different lengths, by axis name",
    34: "9**9**9 as an answer",
}
