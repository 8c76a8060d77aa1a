"""One way to ask for any quantity: `params`, `shape of weights`, `params of W_O in one layer`, `flops`."""

from __future__ import annotations

import re
from dataclasses import replace

from glassformer.answers.questions import phrases
from glassformer.answers.questions.comparisons import changed, compared
from glassformer.answers.questions.elsewhere import say_where
from glassformer.answers.questions.encoders import full_name, letters
from glassformer.answers.questions.forms import formed, given_count
from glassformer.answers.questions.glossary import PART_NAMES, SETTINGS, STORES, TENSOR_NAMES, known_names
from glassformer.answers.questions.name_matching import IDLE, looked_up, loosely, plain, reordered
from glassformer.answers.questions.phrases import Kind, Precision
from glassformer.answers.questions.premises import without_premises
from glassformer.answers.questions.question import Question
from glassformer.answers.questions.rephrasing import plainly
from glassformer.answers.questions.stated import take_stated
from glassformer.answers.questions.targets import among, left_out_parts, target_of
from glassformer.spec import GlassformerError, nearest, shown

MOST_CHARACTERS = 600
EDGES = " ,.:;()"
EXAMPLES = (
    "params, 'shape of weights', 'params of W_O in one layer', 'elements of head output', 'flops of ffn' or 'memory in fp16'"
)


class _Words:
    """The words of a question that are not yet understood."""

    def __init__(self, text: str) -> None:
        self.rest = self.text = text

    def take(self, pattern: str) -> re.Match[str] | None:
        """The first match, taken out; what stood on its two sides stays apart."""
        found = phrases.compiled(pattern).search(self.rest)
        if found:
            self.rest = " ".join(f"{self.rest[: found.start()]} | {self.rest[found.end() :]}".split())
        return found

    def left(self) -> str:
        """What is left, without the small words around it."""
        return _tidy(self.rest)


def _tidy(text: str) -> str:
    small = f"(?:{phrases.SMALL}|{phrases.SMALLER})"
    edges = rf"^(?:{small}\b[ ,:]*)+|(?:[ ,:]*\b{small})+$"
    parts = [re.sub(edges, "", part.strip(EDGES)).strip(EDGES) for part in text.split("|")]
    return " ".join(part for part in parts if part)


def parse_question(text: str, *, lenient: bool = False) -> Question:
    """Read a question; the words `of`, `in one layer`, `per head` and their kin are understood in any order.

    Read leniently, what is said before it need not be understood where nothing can hang on it.
    """
    asked = " ".join(text.strip().split())
    if not asked or len(asked) > MOST_CHARACTERS:
        raise GlassformerError(f"what is asked? Write {EXAMPLES}.")
    say_where(asked)
    everything = plainly(asked)
    if (own := formed(everything, asked)) is not None:
        return _of_model(own, everything)
    if (given := given_count(everything)) is not None:
        return _of_so_many(*given, asked)
    before, said = without_premises(everything, lenient=lenient)
    found = compared(said, asked, parse_question) or changed(said, asked, parse_question)
    found = found or _plain_question(said, asked)
    stated = (*before, *(pair for pair in found.stated if pair not in before))
    if twice := next((name for name, value in stated if dict(stated)[name] != value), ""):
        values = " and ".join(value for name, value in stated if name == twice)
        raise GlassformerError(f"'{shown(asked)}' states two sizes for {twice}: {values}. Ask for each by itself.")
    return replace(found, stated=stated) if before else found


def _of_so_many(text: str, parameters: int, asked: str) -> Question:
    """The memory of a model of which the number of parameters is all that is said."""
    found = _plain_question(text, asked)
    if (
        found.kind != "bytes"
        or not {*(found.target or "model").split(",")} <= {"model", "training", "gradients", "optimizer"}
        or found.stated
        or found.model
    ):
        raise GlassformerError(
            f"'{shown(asked)}' is not understood: of a number of parameters alone, only the memory can be told."
        )
    return replace(found, given=(("parameters", parameters),))


def _plain_question(said: str, asked: str) -> Question:
    if (own := formed(said, asked)) is not None:
        return _of_model(own, said)
    stated, rest = take_stated(said)
    words = _Words(rest)
    counted = bool(re.search(phrases.NUMBER, words.rest))
    model = words.take(full_name()) or words.take(phrases.MODEL)
    if model and model[0].endswith("'s"):  # `the first layer in BERT's feed-forward network`
        words.rest = re.sub(r"\b(in|of|for|inside|within) \| (?=\w)", r"\1 ", words.rest)
    crossing = re.search(phrases.CROSSING, words.rest)
    found = _crossing(crossing, asked) if crossing else _asked(words, asked, counted=counted)
    found = replace(found, stated=stated)
    return replace(found, model=letters(model[0].removesuffix("'s"))) if model else found


def _of_model(question: Question, text: str) -> Question:
    """The question with the model that is named beside it."""
    model = re.search(full_name(), text) or re.search(phrases.MODEL, text)
    return replace(question, model=letters(model[0].removesuffix("'s"))) if model else question


def _asked(words: _Words, asked: str, *, counted: bool) -> Question:
    for pattern in (phrases.ASKING, phrases.NUMBER, phrases.NUMBER, *[phrases.EMPTY] * 4):
        words.take(pattern)
    if have := words.take(phrases.HAVE):
        words.rest += f" | of {have[1]}"
    left = plain(re.sub(r"\b(?:each|every|one|single|model)\b", "", words.left()))
    setting = SETTINGS.get(left) or SETTINGS.get(plain(words.left()))
    if setting is not None:
        if setting == "heads" and re.search(phrases.HOW_BIG, asked.lower()):  # `how big is one head?`
            setting = "d_k"
        if setting == "outputs" and re.search(phrases.HOW_BIG, asked.lower()):  # `how large is the output?`
            return Question("shape", "out", one_layer=False, one_head=False, text=asked)
        everywhere = setting == "heads" and re.search(phrases.EVERYWHERE, asked.lower())
        return _width("all_heads" if everywhere else setting, asked)
    if (of_each := _in_each_layer(words)) is not None:
        return _width(of_each, asked)
    if counted and left in phrases.COUNTED:
        return _width(phrases.COUNTED[left], asked)
    if counted and (given_out := _outputs(words, asked)) is not None:
        return given_out
    if (scattered := reordered(left, SETTINGS) or loosely(left, SETTINGS, fewest=2)) is not None:
        return _width(scattered, asked)
    return _scoped(words, asked, counted=counted)


def _in_each_layer(words: _Words) -> str | None:
    """`hidden size per layer`: a size that every layer has."""
    rest = _Words(words.rest)
    size = SETTINGS.get(plain(rest.left())) if _one_layer(rest) else None
    return size if size in ("d_model", "d_ff", "d_k", "d_v", "heads") else None


def _outputs(words: _Words, asked: str) -> Question | None:
    """`How many outputs does the classifier have?`"""
    rest = re.sub(phrases.OUTPUTS, "|", words.rest)
    left = re.sub(r"^softmax (?:of |over )?(?:the )?", "", _tidy(rest))
    return _width("outputs", asked) if rest != words.rest and (looked_up(left, PART_NAMES) or "").startswith("head") else None


def _crossing(found: re.Match[str], asked: str) -> Question:
    """`At what length does the attention cost as much as the FFN?`"""
    costs = rf"\b(?:{phrases.KINDS['flops']})\b"
    one, two = (target_of("flops", _tidy(re.sub(costs, "|", part)), asked) for part in found.groups())
    return Question("crossing", one, one_layer=True, one_head=False, text=asked, over=two)


def _width(setting: str, asked: str) -> Question:
    return Question("width", setting, one_layer=False, one_head=False, text=asked)


def _scoped(words: _Words, asked: str, *, counted: bool) -> Question:
    """The scope of a question first (layer, head, token, what is left out), then its kind and its target."""
    left_out = words.take(phrases.WITHOUT)
    if left_out and not left_out_parts(left_out[1]):
        raise GlassformerError(
            f"'{shown(asked)}' is not understood: '{left_out[0].strip()}' what? Say it as 'without biases, norms'."
        )
    if left_out and re.search(r"\bwith (?:and|or|vs\.?|versus) without\b", asked.lower()):
        raise GlassformerError(f"'{shown(asked)}' asks for two things: ask for each by itself, with and without.")
    precision = _precision(words)
    unit = words.take(phrases.UNIT)
    layers = words.take(phrases.ALL_LAYERS)
    scope = Question(
        "params",
        None,
        one_head=bool(words.take(phrases.HEAD)),
        one_layer=_one_layer(words),
        text=asked,
        without=left_out_parts(left_out[1]) if left_out else (),
        every_layer=bool(layers),
        precision=precision,
        unit=unit[1] if unit else "",
        layers=_number_of(layers),
    )
    compares = next((how for how, pattern in phrases.COMPARING.items() if words.take(pattern)), None)
    if compares == "ratio" and (sizes := _two_sizes(words, asked)) is not None:
        return sizes
    kind, word = _kind(words, counted=counted, unit=scope.unit or ("bytes" if precision and not counted else ""))
    if kind is None and re.search(phrases.HOW_BIG, asked.lower()) and looked_up(words.left(), TENSOR_NAMES) is not None:
        kind, word = "shape", "size"
    if kind is None:
        left = words.left()
        typed = (nearest(word, _KIND_WORDS) for word in left.split())  # `parms of W_O`: one word is off, the others are not
        near = next(filter(None, typed), "") or nearest(left, known_names())
        raise GlassformerError(f"'{shown(asked)}' is not understood.{near} Ask for {EXAMPLES}.")
    if kind == "share" or compares:
        return _compared(words, kind, scope, compares or "share")
    found = _aimed(words, replace(scope, kind=kind), word)
    _check_fits(found, left_out[0].strip() if left_out else "")
    return found


def _aimed(words: _Words, scope: Question, word: str) -> Question:
    """The question with its target, and what goes with its kind."""
    kind, asked, one_head = scope.kind, scope.text, scope.one_head
    costs = kind in ("flops", "macs")
    if costs:  # `what does it cost in FLOPs?` says it twice
        words.take(rf"\b(?:in )?(?:{phrases.KINDS[kind]}|counts?)\b")
    if kind in ("complexity", "space"):
        words.take(phrases.DEPENDING)
    cached = kind == "bytes" and re.search(phrases.KEPT, words.rest) is not None
    per_token = (costs or cached) and bool(words.take(phrases.TOKEN))
    training = (costs or kind == "bytes") and bool(words.take(phrases.TRAINING))
    if training:
        words.take(phrases.WITH_ADAM)
    backward = costs and not training and bool(words.take(phrases.BACKWARD))
    left = words.left()
    _not_beside(words, kind, left, asked)
    if kind == "shape" and left == "hidden" and word.startswith(("size", "dim")):  # the width of the model, and no tensor
        raise GlassformerError(f"'{shown(asked)}' is not understood: ask for 'hidden size', or for the 'head dimension'.")
    if kind == "shape" and not left and one_head:
        return _width("d_k", asked)
    kind = _settled(kind, word, left, scope)
    only, left = among(kind, left)
    target = target_of(kind, left, asked) if left else "layers" if scope.every_layer and kind in phrases.OF_PARTS else None
    if one_head and target in ("out", "attention.out"):  # `the output of each head`
        target = "attention.mix"
    return replace(
        scope,
        kind=kind,
        target=target,
        one_layer=scope.one_layer or (target or "").startswith("layers.0.") or _one_matrix(scope, target),
        one_head=one_head or (target == "attention.mix" and "head" in plain(left)),
        per_token=per_token,
        training=training,
        backward=backward,
        among=only,
    )


def _one_matrix(scope: Question, target: str | None) -> bool:
    """`the W_Q matrix of BERT-base`: that of one layer, unless all of them are spoken of."""
    low = scope.text.lower()
    single = re.search(r"\bmatrix\b", low) and not re.search(rf"\bmatrices\b|\blayers\b|{phrases.EVERYWHERE}", low)
    return bool(
        single and not scope.every_layer and re.fullmatch(r"W_[QKVO123]", target or "") and scope.kind in phrases.OF_PARTS
    )


def _not_beside(words: _Words, kind: Kind, left: str, asked: str) -> None:
    """`the parameters of BERT-base with a pooler` are not those of the pooler."""
    beside = rf"\b(?:with|using|plus|if|when|having)\b (?:an? |the |its |their |all |both )*{re.escape(left)}(?!\w)"
    if left and kind in phrases.OF_PARTS and re.search(beside, words.rest):
        raise GlassformerError(
            f"'{shown(asked)}' is not understood: is '{shown(left)}' asked for, or a part of what is? Say 'of' it, or "
            "put the encoder behind the question, as in bert-base head=mlm."
        )


def _settled(kind: Kind, word: str, left: str, scope: Question) -> Kind:
    """The kind, once it is known what stands beside it: the size of a model is its bytes."""
    if kind == "shape" and word.startswith("size") and (scope.unit or scope.precision or looked_up(left, STORES) == "model"):
        return "bytes"
    if kind == "patches" and re.search(r"\b(?:class|cls)\b", left) and _of_the_whole("tokens", plain(left)):
        kind = "tokens"  # `patches along with the class token`
    if kind in phrases.OF_THE_WHOLE and (scope.one_head or scope.one_layer or not _of_the_whole(kind, plain(left))):
        raise GlassformerError(f"'{shown(scope.text)}' is not understood: {word} of what? Ask for {EXAMPLES}.")
    return kind


def _of_the_whole(kind: Kind, left: str) -> bool:
    left = " ".join(
        word for word in left.replace(",", " ").split() if word not in IDLE or word in ("encoder", "transformer", "model")
    )
    besides = {"tokens": phrases.OF_SEQUENCES, "patches": phrases.OF_IMAGES}.get(kind)
    return (besides is not None and re.fullmatch(besides, left) is not None) or left in phrases.OF_THE_WHOLE[kind]


def _number_of(layers: re.Match[str] | None) -> int | None:
    return int(layers[1] or layers[2]) if layers and (layers[1] or layers[2]) else None


def _two_sizes(words: _Words, asked: str) -> Question | None:
    """`ratio of d_ff to d_model`."""
    two = re.search(phrases.AGAINST, words.rest)
    if two is None:
        return None
    sides = [SETTINGS.get(plain(_tidy(side))) for side in (words.rest[: two.start()] + words.rest[two.end() :], two[1])]
    if None in sides:
        return None
    return Question("ratio", sides[0], one_layer=False, one_head=False, text=asked, measure="width", over=sides[1])


def _compared(words: _Words, kind: Kind, scope: Question, how: Kind) -> Question:
    """A share of a whole, a ratio of two parts or their difference; in parameters unless FLOPs or bytes are said."""
    asked = scope.text
    measure: Kind = "params" if kind == "share" else kind
    for other in ("flops", "macs", "bytes", "params"):
        pattern = rf"(?<![\w^-])(?:{phrases.KINDS[other]}|{'weights' if other == 'params' else other})(?![\w^])"
        if words.take(pattern):
            measure = other
            words.rest = re.sub(pattern, "|", words.rest)
    words.rest = re.sub(phrases.LYING, "|", words.rest)
    scope = replace(scope, kind=how, measure=measure, precision=None, unit="")
    if how == "share":
        left = words.left()
        unit = "percent" if re.search(r"\bpercent", asked.lower()) else ""
        whole = "layers" if scope.every_layer else None
        return replace(scope, target=target_of(measure, left, asked) if left else whole, unit=unit)
    two = re.search(phrases.AGAINST, words.rest)
    if two is None or measure not in phrases.OF_PARTS:
        raise GlassformerError(f"'{shown(asked)}' is not understood: a ratio of what to what? Ask for {EXAMPLES}.")
    sides = [_tidy(words.rest[: two.start()] + " | " + words.rest[two.end() :]), _tidy(two[1])]
    return replace(scope, target=target_of(measure, sides[0], asked), over=target_of(measure, sides[1], asked))


def _check_fits(question: Question, left_out: str) -> None:
    """A precision, a unit or something left out that the kind of quantity does not have."""
    kind = question.kind
    units = {"bytes": phrases.BYTE_UNITS, "flops": phrases.FLOP_UNITS, "macs": phrases.FLOP_UNITS, "share": phrases.SHARE_UNITS}
    known = (*units.get(kind, ()), *phrases.COUNT_UNITS)
    extra = {
        question.precision or "": kind != "bytes",
        question.unit: not question.unit.startswith(known),
        left_out: kind not in ("params", "share", "bytes"),
    }
    odd = [word for word, wrong in extra.items() if word and wrong]
    if odd:
        raise GlassformerError(f"'{shown(question.text)}' is not understood: '{odd[0]}' does not go with {kind}.")


def _precision(words: _Words) -> Precision | None:
    for name, said in phrases.PRECISIONS.items():
        if words.take(rf"\b(?:(?:in|at|with|using|as) )?(?:{said})\b"):
            return name
    return None


def _one_layer(words: _Words) -> bool:
    """`in one layer`, `per layer`, `of the encoder layer`; the embedding layer is another thing."""
    for found in re.finditer(phrases.LAYER, words.rest):
        if re.search(phrases.LAYER_WORDS, found[0]):
            words.rest = f"{words.rest[: found.start()]} | {words.rest[found.end() :]}"
            return True
    return False


def _kept_numbers(words: _Words) -> bool:
    """`How many optimizer states does Adam store?` asks for numbers, not for bytes."""
    if not re.search(r"how many|number of", words.text) or re.search(r"\bbytes|[kmg]i?b\b", words.text):
        return False
    found = words.take(r"\b(?:optimi[sz]er states?|moments|gradients)\b(?: (?:values|entries|numbers))?")
    if found is None:
        return False
    words.take(
        r"\b(?:does |do )?adamw?(?: optimi[sz]er)?(?: store| keep| need)?\b|\b(?:in|during) (?:one |a )?training(?: step)?\b"
    )
    words.rest = f"{'gradients' if 'grad' in found[0] else 'optimizer'} {words.rest}"
    return True


def _kind(words: _Words, *, counted: bool, unit: str) -> tuple[Kind | None, str]:
    """Which quantity, and by which word; a number of things that are a tensor's cells asks for its elements."""
    if counted and _kept_numbers(words):
        return "elements", "numbers"
    beside = re.search(rf"\b(?:with|using|having) (?:an? |the |its )?(?:{phrases.KEPT})", words.rest)
    if re.search(phrases.KEPT, words.rest) and not beside and not re.search(r"flop|shape|element", words.rest):
        words.take(rf"\b(?:{phrases.KINDS['bytes']}|sizes?)\b")
        return "bytes", "memory"
    for kind, pattern in sorted(phrases.KINDS.items(), key=lambda item: _first_of_two(item[0], words.rest)):
        if found := words.take(rf"(?<![\w^-])(?:{pattern})(?![\w^])"):
            return kind, found[0]
    for kind, units in (("bytes", phrases.BYTE_UNITS), ("macs", ("gmac",)), ("flops", phrases.FLOP_UNITS)):
        if unit.startswith(units):
            return kind, unit
    if counted and re.sub(r"(?<=score|eight|oduct) (?:of |in )?attention$", "", plain(words.left())) in phrases.CELLS:
        return "elements", ""
    if counted and re.search(r"\bbias(?:es)?\b", words.rest):
        return "params", "biases"
    if found := words.take(r"\bweights\b"):
        return "params", found[0]
    return None, ""


def _first_of_two(kind: Kind, text: str) -> bool:
    """Kinds keep their order; but of tokens and patches (`tokens for 14 × 14 patches`) the one that is said first."""
    tokens, patches = text.find("tokens"), text.find("patches")
    return kind == "patches" and 0 <= tokens < patches


_KIND_WORDS = ("params", "parameters", "shape", "elements", "flops", "macs", "bytes", "memory", "tokens", "patches", "d_k")
