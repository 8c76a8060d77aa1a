"""The rows of docs/reliability.md: what can go wrong, what is promised, and where the figure comes from.

A row ends in one of three ways. A test calls `figure("ID", …)` and the page shows what it measured; or `not_ours` says why there
is nothing to measure; or the row is still `open`, which the page says too. To close one, write the test and remove `open=True`.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """One threat or fault, and the promise that stands against it."""

    id: str
    threat: str
    promise: str
    not_ours: str = ""  # why no test can have a figure here
    note: str = ""  # where a usual promise was replaced by another one, and why
    open: bool = False  # nobody has measured it yet


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
            "a header or one error class with one line of at most 300 characters; no death, no hang, memory bounded by the file",
            note="300 characters rather than 200: a line names file and tensor, what was found and the way out",
        ),
        Row("F2", "the same key twice in a header or a JSON file", "refused, never the last one wins"),
        Row(
            "F3",
            "a header made to exhaust time or memory",
            "at most 16 MB, 34,000 tensors, 8 axes, 512 bytes a name; a verdict within 0.2 s of processor time",
            note="34,000 tensors rather than 100,000: the deepest spec has 32,000, and reading JSON in Python sets the pace",
        ),
        Row("F4", "another file where weights should be", "named by its first bytes, with the way out"),
        Row("F5", "one bit of the weights flips", "every tensor that we write carries its sha256; the tensor is named"),
        Row("F6", "NaN or infinite weights", "refused at load with tensor, place and count, unless asked for"),
        Row(
            "F7",
            "a config that asks for a gigantic model",
            "sizes are compared with the file before memory is asked for: nothing allocated, a verdict within 10 ms",
            note="a load is refused by any tensor that does not fit, so no factor of the file's size has to be chosen; "
            "a new model may take 80 % of the free memory",
        ),
        Row("F8", "config values without sense", "every field has its range; the refusal names the key and the value"),
        Row(
            "F9",
            "config and weights disagree",
            "refused with the tensors named; nothing is made up in silence",
            note="there is no switch to load what is missing at random: a class with a new head is asked for by name (--as)",
        ),
        Row(
            "F10",
            "file names that lead out of the folder",
            "bare names of regular files that really lie there; nothing else is opened",
        ),
        Row("F11", "pickle", "never read, never written: no class is looked up by a pickle in all that the package does"),
        Row(
            "F12",
            "code and commands inside model files",
            "files are data: what they say imports, compiles, starts and connects nothing",
        ),
        Row(
            "F13",
            "a hostile tokenizer.json",
            "one line, panics of the Rust code included; time grows no faster than the text",
            note="the tokenizers package reads it, patterns included, so that real models keep their own tokens; "
            "its retry limit ends a runaway pattern",
        ),
        Row("F14", "abused JSON and TOML", "at most 8 MB, 32 levels, no NaN, UTF-8 only; one error class, one line"),
        Row(
            "F15",
            "out and in again",
            "what is exported opens in transformers and comes back: weights to the bit, config by every key, the same outputs",
        ),
    ),
)

LAB = Group(
    "The lab",
    (
        Row(
            "W1",
            "a name that is made to point at this machine",
            "a request for any other host than this machine's is refused, on every route",
        ),
        Row("W2", "another site sends requests", "only our own page can change anything"),
        Row(
            "W3",
            "a route that was forgotten",
            "one door for all routes; a test lists them and tries every attack on each",
        ),
        Row("W4", "the token leaks", "long, compared in constant time, never in a log or a referrer"),
        Row("W5", "text that is markup", "texts, labels and names are shown as text in every view and every file"),
        Row("W6", "what a page may load", "nothing but its own scripts and styles, said in every response"),
        Row("W7", "paths that lead elsewhere", "files are served from a fixed list of names"),
        Row("W8", "the lab seen from outside", "it listens on this machine alone; no option changes that"),
        Row(
            "W9",
            "a view too large to draw",
            "at 512 tokens every view has at most 5 MB and takes at most 1 s, once the run is there",
            note="memory is bounded for the runs that are kept (docs/lab.md) rather than as a multiple of the model: a run in "
            "float64 with every number in it is larger than the model",
        ),
        Row(
            "W10",
            "many requests while a model trains",
            "all are answered, and the weights are the same bits",
            note="no time is promised: on two cores that also train, the last of a thousand who come at once waits for seconds, "
            "and the run for as long as the lab computes",
        ),
        Row("W11", "slow and huge requests", "sizes and times are bounded; half-open connections stop nobody"),
        Row("W12", "a browser or the lab dies", "a training run goes on to its end and does not change; the next lab shows it"),
    ),
)

TRAINING = Group(
    "Training",
    (
        Row("T1", "kill -9 at any moment", "it resumes by itself and ends with the same bits"),
        Row("T2", "the power fails", "what has a name is on the disk"),
        Row("T3", "the disk is full", "the last checkpoint stays; one line says how much is missing"),
        Row("T4", "the last checkpoint is damaged", "the newest good one is used, with one line"),
        Row(
            "T5",
            "resume",
            "every loss and every weight the same to the bit, from any step",
            note="rows are made ready in the process that trains: there is no number of loader processes to vary",
        ),
        Row(
            "T6",
            "resume with something changed",
            "refused, with what differs",
            note="another number of processes is no change but a feature (T11), and another PyTorch is let in: its version "
            "stands in the manifest. There is no switch to force it: a changed run is a new run",
        ),
        Row("T7", "the run is told to stop", "it saves at the next step and can go on"),
        Row("T8", "a number stops being one", "found in the same step, named; no checkpoint ever holds it"),
        Row(
            "T9",
            "the loss spikes",
            "reported at once, by a stated rule",
            note="it is said, not acted upon: going back and skipping rows by itself would hide what is wrong with data or rate. "
            "`resume --lr` goes on from the last checkpoint",
        ),
        Row(
            "T10",
            "memory runs out",
            "forecast before the first step; one line with the batch that fits",
            note="the forecast is held to 10 % of what a real step keeps in tests/training/test_measuring.py",
        ),
        Row(
            "T11",
            "one of several processes dies",
            "the others end by themselves; torchrun starts all again where they were saved",
        ),
        Row("T12", "two runs in one folder", "the second one refuses"),
        Row(
            "T13",
            "a change moves the loss",
            "recorded losses are compared, to 1e-5",
            note="not to the last bit: other processors round sums otherwise, by up to 1e-6 in these runs. To the last bit a run "
            "is compared with itself (T1, T5)",
        ),
    ),
)

NUMERICS = Group(
    "Numerics",
    (
        Row("N1", "another result than the original's", "every hidden state as near as the number format allows"),
        Row(
            "N2",
            "a row without a real token",
            "one rule on every path: attention gives it zeros, never NaN",
            note="it is let in rather than refused: an empty text in a batch is no mistake, and what it gives is defined",
        ),
        Row("N3", "two paths through one model", "training without dropout and evaluation give the same"),
        Row("N4", "the value behind a mask", "masked content has no effect, whatever it is"),
        Row(
            "N5",
            "scores too large for half precision",
            "weights and mixes are finite all the same: kernels, and the weights beside them, compute in float32 inside",
        ),
        Row("N6", "LayerNorm far from zero", "no worse than PyTorch's"),
        Row("N7", "where epsilon stands", "written in every spec, computed where the paper has it"),
        Row("N8", "ids, segments and positions out of range", "refused at the boundary with place, value and range"),
        Row(
            "N9",
            "a mask of another shape, type or meaning",
            "refused in words, in both implementations; a mask of floats too, since its zeros may mean two things",
        ),
        Row("N10", "batch and length exchanged", "one layout, named in every message"),
        Row("N11", "empty batches and sequences", "an empty result, or a refusal in words"),
        Row("N12", "padding on the left", "right where positions are given, refused where they would be wrong"),
        Row("N13", "gradients", "those of finite differences"),
        Row("N14", "counting tools disagree", "parameters and FLOPs are those of the tensors that exist"),
    ),
)

LAWS = Group(
    "Laws",
    (
        Row("P1", "the ledger is not the model", "every tensor of every random spec is counted right"),
        Row("P2", "a predicted shape is not the real one", "every named intermediate has the shape that was said"),
        Row("P3", "the worked run is not the model", "every number to 1e-12 in float64"),
        Row("P4", "a bug that no example shows", "laws that hold for every encoder, each tried on planted bugs"),
    ),
)

ANSWERS = Group(
    "Answers",
    (
        Row(
            "Q1",
            "a claim that is a program, or endless",
            "read by a parser of our own with limits on length, depth, digits and "
            "exponents; nothing is compiled, opened or imported",
        ),
        Row("Q2", "a submission that is hostile or huge", "a grade or one line, within seconds and 200 MB, for up to 10 MB"),
        Row("Q3", "a notebook with code in it", "never run, outputs never read"),
        Row("Q4", "markup inside names and answers", "no tag, no link of another kind, no control character leaves an exporter"),
        Row("Q5", "commands inside LaTeX", "exported as text; in a claim they are a closed list of signs"),
        Row("Q6", "unfair marking", "right answers in any usual notation are right, near misses are wrong, always the same"),
    ),
)

SUPPLY = Group(
    "What is installed",
    (
        Row(
            "S1",
            "a dependency that was tampered with",
            "requirements.lock has a hash for every file that may be installed",
            note="four packages are needed at run time rather than three: numpy, safetensors, click and rich; torch is an extra",
        ),
        Row(
            "S2",
            "a dependency with a known hole",
            "none at a release",
            not_ours="advisories change without us, so this is asked at a release and not by a test: `make audit` runs "
            "pip-audit on requirements.lock. When this was written neither of its two advisory services could be reached, so "
            "there is no figure to give",
        ),
        Row(
            "S3",
            "a release that is not what the tree says",
            "built from the tag, twice the same bytes",
            not_ours="there is no release yet, and publishing is not part of this tree; hatchling builds are reproducible",
        ),
        Row("S4", "phoning home", "no connection beyond this machine, in all tests"),
        Row(
            "S5",
            "nobody to tell",
            "SECURITY.md says what is trusted, what is promised and how to report",
            not_ours="a page, not a figure: [SECURITY.md](../SECURITY.md)",
        ),
    ),
)

ENCODING = Group(
    "Encoding files",
    (
        Row(
            "J1",
            "kill -9 at any moment, of the job or of a worker",
            "the same command goes on; no row is lost, none is there twice",
        ),
        Row("J2", "the disk is full, or the folder is gone", "one line; finished shards stay, and the job goes on later"),
        Row("J3", "a bit of a shard flips", "found by its sha256 when the job is run again, and made again"),
        Row("J4", "two jobs in one folder, or another job's folder", "the second one refuses, with what differs"),
        Row("J5", "an input of a million texts", "memory does not grow with the input"),
        Row("J6", "kill -9 of an actor on Ray, and of the job", "the same command goes on; the files are those of one machine"),
    ),
)

GROUPS = (MODEL_FILES, LAB, TRAINING, ENCODING, NUMERICS, LAWS, ANSWERS, SUPPLY)

# The faults whose wording is held, by number: what somebody did. The message itself is written down by the test.
MESSAGES = {
    1: "a text of 600 tokens, a model of 512 positions",
    2: "a token id outside the vocabulary",
    3: "a segment id that the model has not",
    4: "a row without a real token",
    5: "an empty sequence",
    6: "token ids without a batch axis",
    7: "token ids that are floats",
    8: "a mask of another length",
    9: "a mask of other numbers than 0 and 1",
    10: "heads that do not divide the width",
    11: "a width of a thousand million",
    12: "a config of 1,000 layers, and two in the file",
    13: "an epsilon that is NaN or negative",
    14: "an activation that is a piece of code",
    15: "a config.json that is cut",
    16: "a config.json that is a list",
    17: "a Git LFS pointer instead of weights",
    18: "weights that are cut short",
    19: "a header with its first byte changed",
    20: "a tensor that claims other bytes than it has",
    21: "an index that names a file elsewhere",
    22: "a pickle",
    23: "a folder that is not there",
    24: "a weight that is NaN",
    25: "a loss that is NaN while training",
    26: "a checkpoint that was killed while it was saved",
    27: "a full disk",
    28: "any of these through the command line",
    29: "attention weights where the kernel keeps none",
    30: "a pattern in tokenizer.json that runs away",
    31: "half a character in a text",
    32: "a settings file that names a class or a path elsewhere",
    33: "a mask and tokens of different lengths, by name",
    34: "9**9**9 as an answer",
}
