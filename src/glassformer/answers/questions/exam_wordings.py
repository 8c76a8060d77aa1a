"""Turns of phrase of exams and quizzes, and the plain words for them: brackets behind a question, models of no name."""

from __future__ import annotations

_END = r"(?= *(?:[.,;)]|$))"
_PART = r"(?:layers?|blocks?|tables?|matri(?:x|ces)|embeddings?|networks?|sub-?layers?|projections?|heads?|attention|norms?)"
_VECTOR = r"(?:\[?cls\]? |pooled |sentence )*(?:vector|representation|embedding|token|output|state)"

EXAM_WORDINGS: tuple[tuple[str, str], ...] = (
    # A bias is counted anyway, and a claim without it is held against what the question says.
    (rf"\(?\b(?:and |all |each )?with (?:an? |the |its |their )?bias(?: terms?| vectors?)?{_END}\)?", ""),
    (rf",? ?\(?(?<!no )(?<!without )(?<!any )(?<!excluding )\b(?:the |all |its )*(?<!no )bias(?:es| terms?|"
        rf" vectors?)? (?:is |are )?(?:included|counted){_END}\)?", ""),
    # A model without a name has the sizes that are said.
    (rf"\b({_PART}) (?:of|in|for) (?:an? |the )?(?:small |tiny |custom )?bert-(?:like|style|type)"
        r" (?:model|encoder|transformer|network)\b", r"\1"),
    (rf"\b({_PART}) (?:of|in|for) (?:an? |the )?vision transformer(?= (?:with|that|using|whose)\b)", r"\1"),
    (r"\b(\d+) (?:segment|token)[- ]types?\b", r"\1 segments"),
    (r"\b(?:token|word|input) embeddings? (?:layer |table |matrix )?(?:with|plus|and|together with) (?:fixed )?"
        r"(?=sinusoidal position)", "embeddings with "),
    (rf"\bhow many (?:classifier|classification(?: layer| head)?) (parameters|params|weights) (?:are|is) "
        rf"(?:needed|required|there|added)(?: on top)?(?: of| on| for)?(?: an?| the)? (\d+)-dim(?:ensional)? {_VECTOR}\b",
        r"how many \1 does the classification head have with d_model = \2"),
    (rf"\b(?:on top of|over|from|on) (?:an?|the|its) (\d+)-dim(?:ensional)? {_VECTOR}\b", r"with d_model = \1"),
    # What is said beside a count and changes nothing of it.
    (r" ?\((?:there are |with )?(?:two|2) (?:layer[- ]?)?norm(?:s|ali[sz]ations) (?:per|in each|for each|in every) (?:encoder )?"
        r"(?:layer|block)\)", ""),
    (r"\b((?:multi-?head )?(?:self-?)?attention(?: layer| block| sub-?layer| module)?) \(qkv,? (?:and|\+|plus) (?:the )?output"
        r"(?: projections?| matrix| matrices)?(?:,|;)? ?", r"\1 ("),
    (r"\b(?:all |the )*(?:four|4) (?:linear|projection|dense)(?: projection)? (?:layers|projections|maps"
        r"|transformations) (?:of|in) "
        r"(?=(?:the )?(?:multi-?head )?(?:self-?)?attention)", ""),
    (r"\b(?:the )?(?:input|sequence|sentence|text)(?: sequence)? is (\d[\d,]*) tokens long\b", r"sequence length = \1"),
    (r"\bhow many (weights|parameters|params) does (?:an? |the )?(single-head )?(?:multi-?head"
        r" )?(?:self-?)?attention(?: layer| block)? have in "
        r"(?=w_)", r"\2how many \1 are in "),
    (r"\b(?:what|which of (?:these|the following)) is the number of (tokens|patches) (?:that )?(an? [\w -]+?|the [\w -]+?) "
        r"(?:sees|processes|receives|gets|reads)\b", r"how many \1 does \2 see"),
    (r"\b(how many tokens .*?patches) (?:and|plus) (?:an?|one|the) (?:extra |additional |learnable"
        r" )?(?:\[?cls\]?|class(?:ification)?)"
        r" token\b", r"\1, including the class token"),
    (r"\b(?:an? |the )((?:token |sequence |text )?classification) (?:head|layer) (?:on top of|on|of|for) "
        r"((?:an? |the )?(?:encoder|transformer|model)[^.]*?) (?:predicts|outputs|distinguishes|has) (\d+) (tags"
            r"|classes|labels)\. "
        r"how many (parameters|params|weights) does (?:the linear layer|it|this layer|the head|this head) have",
        r"\2 and \3 \4. how many \5 does the \1 head have"),
)  # fmt: skip
