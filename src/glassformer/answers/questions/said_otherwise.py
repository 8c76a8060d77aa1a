"""Turns of phrase of course sheets and model cards, and the plain words for them: what is fed in, stored, added or saved."""

from __future__ import annotations

_TEXTS = r"(?:sentences|sequences|texts|examples|inputs|documents|reviews|samples)"
_FED = r"(?:fed|passed|given|put|input|sent|run|encoded|processed|forwarded)"
_NEW = r"(?:(?:new|additional|extra|more|trainable|task-specific) )*"
_MODEL = r"(?P<model>[a-z]*bert[-\w]*|vit[-/\w]*|electra[-\w]*)"
_CLASSES = r"(?P<classes>\d+)[- ](?:class|way|label|classes|labels|categories|category|output classes)"
_TUNING = (
    r"(?:[ ,.]+(?:if|when|by|to|we|you|one|is|are|for|with|an?|the|single|on|top|of|and|its|linear|classification|output|softmax"
    r"|layer|head|classifier|task|problem|representation|\[?cls\]?|token|vector|embedding|using|add|adding|added|fine-?tun(?:e|ed|ing)"
    r"|train(?:ed|ing)?|sentiment|text|sentence|sequence|dataset|model))*[ ,.]*"
)

SAID_OTHERWISE: tuple[tuple[str, str], ...] = (
    # What is fed in: how many texts, and how long.
    (rf"\b(?:when|if|after|for|given) (?:an? |the )?(?:batch of )?(\d+) {_TEXTS},? (?:(?:each|all|every one) )?"
        r"(?:(?:padded|truncated)(?: (?:or|and) (?:padded|truncated))? to|of length|of|with)(?: (?:an? |the"
        r" )?(?:max(?:imum)? )?length of)? "
        rf"(\d+)(?: tokens)?(?: each)?,? (?:is|are) {_FED} (?:(?:in)?to|through|by|with) (?:the |an? )?",
        r"with batch size \1 and sequence length \2 of "),
    (rf"\bbatch of (\d+) {_TEXTS},? (?:(?:each|all) )?(?:(?:padded|truncated)(?: (?:or|and) (?:padded"
        rf"|truncated))? to|of length|of|with) "
        r"(\d+)(?: tokens)?(?: each)?(?=\W|$)", r"batch size \1 and sequence length \2"),
    (r"\b(?:and |where )?(?:we|you|one) (?:use|have|employ|choose|set) (?=\d+ (?:attention )?heads\b)", "and "),
    (r"\b(?:returned|produced|emitted|given out|output) by (?=(?:the |an? )?[\w-]+)", "of "),
    (r"\bwhat (shape|size|dimensions?) (?:do|will|would|does) (?:we|you|one|it) (?:get|obtain|have|become)\b", r"what is the \1"),
    (r"\b(?:after )?(?:splitting|reshaping|dividing) (?:an? |the )?(?:input|tensor|embeddings?|x|projected"
        r" tensor)? ?(with [^?]*?)"
        r",? (?:in)?to (\d+) heads,? (what is the (?:shape|size|dimensions?)(?: of (?:the )?(?:result|output"
        r"|tensor|resulting tensor))?)",
        r"\1 and \2 heads, what is the shape of the queries"),
    (r"\bhow many rows and (?:how many )?columns (?:does|do|will|would|are in|are there in) (.+?)(?: have|"
        r" contain)?(?=$|[.,?]| for\b| if\b| when\b)",
        r"what is the shape of \1"),
    (r"\b(?:after )?(?:the concatenation of|concatenating|concatenat\w+ of) (?:all |the )*(?:outputs? of"
        r" )?(?:the |all )*(\d+) heads(?: of| with| each of| each with)?"
        r"(?: an?)?(?: output)? ?(?:dimension(?:ality)?|size|width)?(?: of)? ?(\d+)(?: each)?,? what is the"
        r" (?:size|dimension(?:ality)?|length|width) of the "
        r"(?:resulting|final|combined|concatenated|output) (?:vector|output|representation|embedding)(?: (?:for"
        r"|of) (?:each|every|a|one) token)?",
        r"with \1 heads and d_k = \2, what is the dimension of the concatenated heads"),
    (r"\b((?:token |word |input )?embedding (?:matrix|table)) (?:with|of|that has|having) (\d[\d,]*) rows and"
        r" (\d[\d,]*) columns\b",
        r"\1 with vocabulary size \2 and d_model = \3"),
    (r"\b(?:cifar(?:-?100?)?|imagenet(?:-\w+)?|mnist|coco|photo) (?=images?\b)", ""),
    (r"\bthe (?:embedding layer|embeddings)( of (?:the )?[\w/-]+)?,? \(?i\.e\.,? ((?:the )?(?:(?:word|token"
        r"|wordpiece|segment|token type|positional|position)"
        r"(?:,? and |, )?)+ embeddings)\)?", r"the \2\1"),
    (r"\bhow many query heads (?:share|use|attend with|are (?:assigned|mapped) to|are there (?:for|per)|per"
        r"|belong to) (?:one|each|a single|every|the same|an?) "
        r"(?:kv|k/v|key[-/ ](?:and[- ])?value|shared)(?:[- ]heads?)?\b", "what is the group size of queries"),
    # What is stored, and how.
    (r"\b(?:when|if|once) (?:(?:it|they) (?:is|are) )?(?:loaded|stored|kept|held|saved|represented|run|used)(?:"
        r" (?:in memory|on disk))? "
        r"(?=(?:in|as|with|using) (?:fp|float|bf|int|half|full|single|double|mixed|\d+-?bit))", ""),
    (r"\b(?:loaded|stored|kept|held|saved|represented) (?=(?:in|as) (?:fp|float|bf|int|half|full|single|double|\d+-?bit))", ""),
    # What is added: every word of it is known, since another task, layer or number makes it another question.
    # Who learns or needs parameters may mean all of them, unless new ones are spoken of.
    (rf"^(?=.*\b(?:linear|classification|softmax|output) (?:layer|head|classifier))"
        rf"(?=.*\b(?:new|additional|extra|more|task-specific|add(?:s|ed|ing)?|introduc(?:e|ed)|from scratch)\b)"
        rf"how many {_NEW}(?:parameters|params|weights) (?:(?:would|will|do|does|are|is|must|need to) )*(?:be |we |you |it )?"
        r"(?:added|introduced|needed|required|add|introduce|need|learned|learnt)(?: to learn)?(?: from scratch)?"
        rf"{_TUNING}{_MODEL}{_TUNING}{_CLASSES}{_TUNING}$",
        r"how many parameters does the classification head of \g<model> with \g<classes> classes have"),
    (r"\bhow many (parameters|params|weights) (?:does|do|would|will|must) (?:an? |the )?vocab(?:ulary)? of"
        r" (?:size )?(\d[\d,]*)(?: (?:tokens|words"
        r"|entries|sub-?words))?,? (?:with|and) (?:an? )?(\d+)[- ]dim(?:ensional|ension)? (?:(?:token|word"
        r"|input) )?(?:embeddings?|vectors?) "
        r"(?:need|require|have|take(?: up)?|add|use|cost|contain|account for)\b",
        r"how many \1 does the token embedding matrix with vocabulary size \2 and d_model = \3 have"),
    (r"\bhow many (flops|multiply-adds|macs|multiplications) (?:does|do) (?:one|an?|each|every) (?:single )?token (?:cost"
        r"|need|require|take|use)s? in (.+?)(?=$|[.,?])",
        r"how many \1 does \2 need per token"),
    (r"\bin terms of (?:the )?(?:number of )?(parameters|params|bytes|flops)\b", r"in \1"),
    (r"\bhow (?:large|big) is (.+?),? (?:(?:measured |counted )?in|by) (?:number of )?(parameters"
        r"|params)\b", r"how many \2 does \1 have"),
)  # fmt: skip
