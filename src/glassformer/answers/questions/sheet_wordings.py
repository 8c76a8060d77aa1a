"""Turns of phrase of exam sheets, and the plain words for them: widths and heads in a scene, the layout, tokens of an image."""

from __future__ import annotations

import re
from collections.abc import Callable

_CLS = r"(?:the |an? )?(?:\[?cls\]?|class(?:ification)?)(?: token)?"
_VECTORS = r"(?:vectors?|embeddings?|representations?|outputs?|states?|features?)"
# Where these stand, a width may be another than that of the model.
_OTHER_WIDTHS = r"(?!.*\b(?:ffn|mlp|feed-?forward|window|inner|intermediate|hidden layer|heads? of|height|pixels wide)\b)"
_ENTERS = (
    r"(?: (?:that|which))?(?: (?:enters|is fed (?:in)?to|goes into|reaches|is given to|is passed (?:in)?to|is processed by"
    r"|feeds))?"
    r"(?: (?:the |a )?(?:transformer |vit )*(?:encoder|model|transformer|vit|network)(?: sees| processes| receives| gets)?)?"
)
COLUMNS = re.compile(
    r"\b(?:tokens?|words?|inputs?|embeddings|positions)(?: vectors?)? (?:are |is |as |stored as |stored in |in |placed in "
    r"|written as )+"
    r"(?:the |its )?columns?\b|\bcolumns? (?:is|are|represents?|holds?|stands? for|corresponds? to) (?:an? |one |the )?"
    r"(?:single )?"
    r"(?:tokens?|words?|positions?)\b|\bcolumn(?:[- ]vector)?[- ](?:convention|layout|notation)\b"
    r"|\b(?:one|each|a) (?:token|word) (?:per|in each|a) column\b",
    re.I,
)
ROWS = re.compile(COLUMNS.pattern.replace("column", "row"), re.I)
_LAYOUT = (
    r"\(?,? ?\b(?:following|using|in|under|with|adopting|assuming|where|if|when|and)(?: (?:the|a|we use|we store|that|each"
    r"|every|all))* "
    rf"(?:(?:{COLUMNS.pattern})|(?:{ROWS.pattern}))"
    rf"(?: \((?:(?:each|every|one|a) )?(?:(?:{COLUMNS.pattern})|(?:{ROWS.pattern}))\))?\)?(?=$|[,.;:?)]| what| give| state| how)"
)

SHEET_WORDINGS: tuple[tuple[str, str | Callable[[re.Match[str]], str]], ...] = (
    # How the tokens stand: an answer reads it off the question as it was put.
    (_LAYOUT, ""),
    # What the scene gives.
    (r"\b(?:is |are |gets )?(?:tokeni[sz]ed|split|broken|cut) (?:up )?into (\d+) (?:sub-?words|tokens|word-?pieces|pieces"
        r"|words)\b",
        r"has \1 tokens"),
    (r"\b(?:and )?(?:is |are )?(?:each )?(?:embedded|represented|encoded|mapped|projected) (?:in|into|to|as|with|by|using) "
        r"(?:an? )?"
        rf"(\d+)[- ](?:dimensions|dimensional (?:{_VECTORS}|space)|dim (?:{_VECTORS})|d {_VECTORS})", r"and d_model = \1"),
    (rf"^{_OTHER_WIDTHS}(.*?)(?<!hidden )((?:encoder|transformer|model|layer|block|vit|stack|network)s?) (?:of|with|and|has) "
        r"(?:an? )?width (?:of )?(?=\d)", r"\1\2 with d_model = "),
    (rf"^{_OTHER_WIDTHS}(.*?)(?:,| and| with) width (?:of )?(?=\d)", r"\1 and d_model = "),
    (rf"^{_OTHER_WIDTHS}(.*?)\b(?:if |when |where )?the (?:model )?width (?:is|equals|=) (?=\d)", r"\1with d_model = "),
    (r"\bbut (?:only |just )?(?=\d+ (?:shared )?(?:kv|k/v|key))", "and "),
    (r"\b(?:all|both) biases (?:and|&|plus) (?:the |all |both |two )*(?:layer[- ]?)?norms?(?:ali[sz]ations?)?"
        r"(?: (?:a|per|in each|in every|of each) (?:layer|block))?(?=\s*(?:[,.;)]|$))", ""),
    (r"[(,] ?(?:all |the )?bias(?:es)?(?: terms)? (?:are |being )?(?:counted|included)(?: too| as well)?\)?", ""),
    (r"[(,] ?(?:all |the )*bias(?:es)? and (?:the |all |both )*(?:layer[- ]?)?norm(?:s|ali[sz]ations?)?(?: parameters)? "
        r"(?:are |being )?"
        r"(?:included|counted)\)?(?=\s*(?:[.;]|$))", ""),
    (r"\b(?:we|i|you) stack (?=\d)", ""), (r"\b(?:ffn |mlp )ratio\b", "expansion factor"),
    (r"\b(\d[\d,]*) ?[x×] ?(\d[\d,]*) ((?:token |word |input )?embedding (?:table|matrix))\b",
        r"\3 with vocabulary size \1 and d_model = \2"),
    # Images.
    (rf"\bhow long is the (?:input |token |patch |resulting )*sequence{_ENTERS}(?=$|[,.?]| for| if| when| with| counting| "
        rf"including)",
        "how many tokens are in the sequence"),
    (rf",? (?:with )?{_CLS} (?:is |being )?(?:included|counted|added)\b", " including the class token"),
    # Heads of a task, one head of attention.
    (rf"\b(?:linear |dense |final |output |fully[- ]connected |softmax )*(?:classification |classifier |output |linear )?"
        rf"(?:layer|head|classifier)(?: (?:that|which))? (?:maps|mapping|projects|projecting|from|taking|takes|turns|sends)"
        rf"(?: an?| the| from)* (\d+)[- ]dim(?:ensional)?(?: \[?cls\]?| pooled| sentence| token| hidden)*(?: {_VECTORS})? "
        r"(?:on|in)?to (\d+) (?:labels|classes|outputs|categories|logits|scores)\b",
        r"classification head with d_model = \1 and \2 classes"),
    (r"\b(in|of|for|inside|within) an? (?:single )?(?:attention )?head(?= (?:with|in|of|for|have|has)\b|,)", r"\1 one head"),
    # Units, and what is said of them.
    (r"\b(memory|storage|space|size)((?: footprint| usage| requirements?)?),? in bytes\b", r"\1\2"),
    (r"\bmb \((?:2\^\{?20\}?|1,?048,?576|1024\^2) bytes\)", "mib"),
    (r"\bgb \((?:2\^\{?30\}?|1024\^3) bytes\)", "gib"),
    (r" \((?:1 mb = )?(?:10\^\{?[69]\}?|1e[69]|1,?000,?000) bytes\)", ""),
    (r"\bhow many bytes per (?:parameter|weight)\b", "how many bytes of a 1-parameter model"),
    (r"\b(?:the )?(?:two |both |first and second )?(?:adam )?moment(?:s| estimates)\b(?: of adam)?", "optimizer states"),
    # Sizes that are letters, and options behind an unfinished sentence.
    (r"\b(?:with|for) (?:an? )?(?:sequence|input|context) length (?:of )?n(?: and (?:an? )?(?:model |hidden |embedding )?"
        r"(?:width|dimension|size) (?:of )?d(?:_model)?)?\b(?! ?=)", ""),
    (r"^((?:the )?(?:time |computational |space |memory )*complexity of [\w -]+?) (?:is|equals)[ :]*(?=$|\(?a[).])",
        r"what is \1 "),
)  # fmt: skip
