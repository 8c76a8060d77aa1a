"""Turns of phrase and the plain words for them: formulas by their names, what is left out, the many ways to ask for one thing."""

from __future__ import annotations

import re
from collections.abc import Callable

from glassformer.answers.questions import phrases
from glassformer.answers.questions.encoders import full_name
from glassformer.answers.questions.exam_wordings import EXAM_WORDINGS
from glassformer.answers.questions.said_otherwise import SAID_OTHERWISE
from glassformer.answers.questions.sheet_wordings import SHEET_WORDINGS

NUMBERS = {
    word: str(number)
    for number, word in enumerate("two three four five six seven eight nine ten eleven twelve".split(), start=2)
} | {"sixteen": "16", "twenty-four": "24", "thirty-two": "32"}  # fmt: skip

_DIVISOR = r"(?:/|÷|over|divided by)\s*(?:sqrt|√|root of)?\s*[({]*\s*d(?:_?\{?(?:k|head)\}?)?\s*[)}]*"
_SCORES = rf"[({{]*\s*qk\^t\s*[)}}]*\s*(?:{_DIVISOR})?"
# Formulas of attention, and what they are called.
FORMULAS = (
    (rf"softmax\s*[({{]+\s*{_SCORES}\s*[)}}]*\s*[·*@×]?\s*v\b", "head output"),
    (rf"softmax\s*[({{]+\s*{_SCORES}\s*[)}}]*", "attention weights"),
    (rf"qk\^t\s*{_DIVISOR}", "scaled scores"),
    (r"\bx\s*[·*@×]?\s*w_?\^?\{?([qkv])\}?(?!\w)", r"\1"),
    (r"\battention\s*\(\s*q\s*,\s*k\s*,\s*v\s*\)", "head output"),
    (r"\bconcat\s*\(\s*head_?\{?1\}?\s*,.*?\)(?=\s*w_?\^?o)\s*w_?\^?\{?o\}?", "attention output"),
    (r"\bconcat\s*\(\s*head_?\{?1\}?\s*,.*?\)", "concatenated heads"),
    (r"\b(?:temperature|factor|scale|scaling factor)(?: of)? 1\s*/\s*(?:sqrt|√)\s*[({]*\s*d_?\{?k\}?\s*[)}]*", "scaling factor"),
    (r"(?:\bsqrt|√|\b(?:the )?square root of)\s*[({]*\s*d_?\{?k\}?\s*[)}]*", "scaling factor"),
)

_PRODUCTS = r"(?:the |raw )*(?:(?:attention )?(?:scores|logits)|dot[- ]products?|qk\^t|score matrix)"
DIVIDED = (
    (
        rf"\b(?:by (?:what|which)(?: (?:number|value|factor|constant))?|what(?: number| value| factor)?) (?:do|does|must"
        rf"|should) (?:we|you|one|it) "
        rf"(?:divide|scale) {_PRODUCTS}(?: by)?",
        "scaling factor ",
    ),
    (rf"\b(?:do|does|must|should) (?:we|you|one|it|the model|bert) (?:divide|scale) {_PRODUCTS}(?: by)?", "scaling factor "),
    (
        rf"\b(?:by (?:what|which)(?: (?:number|value|factor|constant))?|what) (?:are|is) {_PRODUCTS} (?:divided|scaled"
        rf"|normali[sz]ed)(?: by)?",
        "scaling factor ",
    ),
    (rf"\b(?:are|is) {_PRODUCTS} (?:divided|scaled)(?: by)?", "scaling factor "),
    (
        rf"\b(?:value|number|factor|constant|scalar) (?:is|are) (?:used )?to (?:scale|divide) {_PRODUCTS}(?: by)?",
        "scaling factor ",
    ),
)

_THINGS = (
    "(?:the |any |all )*(?:bias(?:es)?(?: (?:terms?|vectors?))?|[a-z]+ ?norms?(?: parameters)?|norms|(?:[a-z]+ )?embeddings?"
    "|pooler|head)"
)
_SEVERAL = rf"({_THINGS}(?:(?:,| and|, and| or) {_THINGS})*)"
_IGNORE = (
    "(?:ignor(?:e|ing)|exclud(?:e|ing)|omit(?:ting)?|neglect(?:ing)?|leav(?:e|ing) out|drop(?:ping)?"
    "|(?:(?:do|does|will) not|don't|without|not) (?:count|consider|includ|tak)(?:e|ing)?(?: into account)?)"
)
_IGNORED = "(?:excluded|ignored|omitted|neglected|left out|not counted|not included|disabled|dropped|turned off)"
LEFT_OUT = (
    # What only the loss reads is no part of an encoder without a head.
    (
        r",? (?:and|or) (?:any |all |the )?other (?:parameters|weights|layers) [^.]*?\b(?:loss|prediction|task)\b[^.]*",
        " and pooler",
    ),
    (rf"\b(?:you |we |one |students )?(?:can |may |should |please )?{_IGNORE} {_SEVERAL}(?=\s*(?:[.,;)]|$))", r"| without \1 |"),
    (rf"\b(?:if|when|assuming|suppose|provided)(?: that)? (?:we |you |one )?{_IGNORE} {_SEVERAL}", r"| without \1 |"),
    (rf"\b(?:if|when|with|assuming|suppose)(?: that)? {_SEVERAL} (?:is |are |being )?{_IGNORED}", r"| without \1 |"),
    (rf"\b(?:assuming|suppose|if) (?:there (?:is|are) )?no {_SEVERAL}", r"| without \1 |"),
    (rf"\b(?:neglecting|leaving aside|bar|minus|apart from|other than|outside(?: of)?) {_SEVERAL}", r"| without \1 |"),
    (rf"[,(] ?{_SEVERAL} (?:is |are |being )?{_IGNORED}\)?", r"| without \1 |"),
    (r"\b(?:bias|biases)[- ]free\b", "| without biases |"),
    (
        r"(?:\b(?:the|all|these|its) )*(?:(?:linear|projection|weight|dense|attention) )*(?:layers|matrices|projections|maps) "
        r"(?:have|has|use|contain) no bias(?:es| terms?| vectors?)?\b|\bno bias(?:es| terms?)? (?:is|are) used\b",
        "| without biases |",
    ),
)
# Said of a layer or of all of it, this changes nothing; said of a part that has no norm, it is another question.
COUNTED_ANYWAY = (
    r"(?<!\w)(?:including|incl\.?|counting|with) (?:all |the )*bias(?:es| terms)?,? (?:and|&|plus) "
    r"(?:all |the |both |two )*(?:layer[- ]?)?norm(?:s|ali[sz]ations?)?(?: parameters)?\b"
)
PARTS_WITHOUT_NORMS = r"\b(?:attention|mha|ffn|feed|mlp|head|pooler|projection|matrix|w_[qkvo12])"
_MEMORY = r"(?:memory|space|storage)(?: usage| use| cost| footprint| consumption| requirements?)?"
_GROWS = r"(?:scale|grow|depend|increase)s? (?:with|on|in) (?:the )?(?:sequence|input|context) length"
_OF_SIZES = r"^(?=.*\b(?:layers|heads|blocks|dimension\w*|size|width)\b)(?!.*(?:param|flop|memory|weights))(.*?)"
_LONGEST = r"(?:tokens|positions|words|wordpieces)"
# Words that people add and that change nothing; `i` only where it is a person.
_SPARE = (
    r"\b(?:just|simply|really|actually|basically|exactly|distinct|separate|different|kindly|typically|usually|normally|roughly|overall"
    r"|in (?:theory|practice|principle|your case)|of course|for (?:one|a single|each|an?) (?:input )?(?:sentence|sequence"
    r"|image|example"
    r"|forward pass)(?= *(?:[.,?]|$))|(?:do|should|would|must|can|will) (?:i|we|you|one) (?:need|expect|see|get|have|require)"
    r"|(?:to|for) (?:hold|keep|fit|load|holding|keeping)(?=(?: all)?(?: of)? the (?:weights|parameters|params)))\b"
)
_HAVING = r"(?:has|have|needs?|requires?|contains?|holds?|uses?|takes|adds?|produces?|yields?|gives?|creates?|generates?)"
_WIDER = (
    r"(?:d_?ff|(?:ffn|mlp|feed-?forward) (?:dimension|size|width)|(?:(?:ffn|mlp|feed-?forward)(?: network)?(?:'s)? )?"
    r"(?:inner|hidden|intermediate)(?: layer)?(?: (?:dimension|size|width))?)"
)
IN_OTHER_WORDS: tuple[tuple[str, str | Callable[[re.Match[str]], str]], ...] = (
    (rf"({full_name()}) \((\d+) (?:layers|blocks)\)", r"\1 with number of layers = \2"),
    (rf"({full_name()}) \((\d+) (?:attention )?heads\)", r"\1 with \2 heads"),
    (r"\[class\]", "class"), (r"\bbefore flattening\b", ""),
    *EXAM_WORDINGS,
    *SHEET_WORDINGS,
    *SAID_OTHERWISE,
    (r"\b(\d[\d,]*[- ]token (?:sequence|input|document|text))'s (?:own |full |whole )*", r"\1 | "),
    (r"\b(heads|layers|blocks|tokens) [hnlt](?= (?:does|do|are|is|in|of)\b|$)", r"\1"),
    (rf"({full_name()}) (?:encoder )?(?:encoder|stack|architecture)(?= (?:have|has|contain|use|consist)|$)", r"\1"),
    (r"\b(?:an? |the )?(?:document|text|prompt|passage|article|sentence)(?= \w+ from \d[\d,]* to \d[\d,]* (?:tokens|words)\b)",
        "the sequence length"),
    (r"\b(?:at|in|for|of|per) each of the ([\w-]+(?: [\w-]+){0,3}?) (?:layers|blocks)\b", r"of \1 in one layer"),
    (r"\b(?:and |with )?the same (?:embedding|model|hidden|input) (?:dimension|size|width)\b", ""),
    (r"\bafter (?:being )?flatten\w*(?:,| and| then)* (?:the )?(?:linear(?:ly)? )?(?:project|embedd)\w*(?: (?:in)?to)?\b", ""),
    (r"\bconcatenating (?:all |the |of )*(?:outputs of )?(?:the )?(\d+ )?heads\b", r"the concatenation of \1heads"),
    (rf"\b{_WIDER} ?(?:=|is|of|being|equals)? ?(?:4|four) ?(?:[·*×]|times)? ?d(?:_?\{{?model\}}?)?\b(?! ?=)",
        "expansion factor 4"),
    (_SPARE, ""),
    (r"^(?=.*(?:image|patch|vit|deit|pixel))(.*?)\b(?:tokens|patches|patch tokens)\b([^.]*?),? ?"
        r"\b(?:excluding|without|not counting|ignoring|before adding) (?:the |any )?"
        r"(?:\[?cls\]?|class(?:ification)?)(?: token)?(?=$|[.,)])", r"\1patches\2"),
    (r"(?<!to )(?<!much )(?<!does )\bcompute (?=(?:the|how|what|all|its|their|each|number|total)\b)", "calculate "),
    (rf"^(.{{3,120}}?) {_HAVING} how many ([a-z -]+?)(?=$|[.,(])", r"how many \2 does \1 have"),
    (rf"\bhow many (params|parameters|weights|layers|heads|tokens|patches|flops) ((?:the|an?|each|one) [^.,?]+?"
        rf"|[a-z]*bert[-\w]*|vit[-/\w]*)"
        rf" {_HAVING}(?= for\b| in\b| when\b| with\b|$|[.,])", r"how many \1 does \2 have"),
    (r"\b(?:the )?(?:three |four )?(?:projection |weight |linear )*matrices,? \(?(?=w_?\^?\{?q)", ""),
    (r"\b((?:size|dimension(?:ality)?|width|length)) \(?[dhnl]\)?(?=$|[.,])", r"\1"),
    (r"\b(one |a single )?(attention (?:matrix|map)|score matrix) of (?:size|shape|dimensions?) \(?(\d+) ?(?:[x×,]|by) ?\3\)?",
        lambda found: f"{found[2]} {'per head ' if found[1] else ''}for {found[3]} tokens"),
    (rf"^({full_name()}): (?:the )?(.+)$", r"\2 of \1"),
    (r"\b(?:what|which) (size|dimension(?:ality)?|dimensions|shape|width) (?:does|do|will"
        r"|would) (.+?) (?:have|produce|give|return|yield)\b", r"what is the \1 of \2"),
    (r"\b(?:each|every|one) (?:attention )?head has (?:an? )?(?:size|dimension(?:ality)?|width)(?: of)?(?: =)?\s*_{2,}",
        "what is the dimension of each head"),
    (r"((?:the|each|every) [^,.]+?) (?:has|have) (?:an? )?(size|dimension(?:ality)?|width|length)(?: of)?(?: [a-z]_?\w{0,5})?"
        r"(?: =)?\s*_{2,}", r"what is the \2 of \1"),
    (rf"\b(?:the )?(tiny|small|base|large|huge|xlarge|xxlarge) (?:version|variant|model"
        rf"|size) of (?:the )?({phrases.MODEL})", r"\2-\1"),
    (r"\bthat maps? (\d+)-dim(?:ensional)? (?:inputs?|vectors?) (?:in)?to \1-dim(?:ensional)? (?:outputs?"
        r"|vectors?)\b", r"with d_model = \1"),
    (r"\b(?:learnable|trainable|learned) (?:scalars|values|numbers|entries|coefficients)\b", "parameters"),
    (r"\bhow long can (?:the )?(?:inputs?|sequences?|texts?|sentences?)(?: to| for| of| in) (.+?) (?:be|get)\b(?:,? in tokens)?",
        r"what is the maximum sequence length of \1"),
    (r"\b(?:taken|occupied|used|consumed|required|needed)(?: up)? (?:by|for) (?=(?:the |all )?\S+)", "of "),
    (r"\b(?:raw |attention |score |the )+(?:scores?|matrix|logits),? \(?(qk\^t|scaled scores)\b\)?", r"\1"),
    (r"\b(qk\^t|scaled scores) (?:attention |score )?matrix\b", r"\1"),
    (r"\b(per-head |head )?(dimension(?:ality)?|size|width)(?: \(?d_?(?:k|h|head)\)?)? (?:that|which) "
        r"(?:each|every) (?:attention )?head (?:operates|works|acts|attends|uses|gets|has)(?: in| on| with| within)?\b",
        r"\2 per head"),
    (r"\bdimension(?:ality)? \(?(d_?[kv])\)? of (?:each|an?|one|every)(?: individual| single)? (?:attention )?head\b", r"\1"),
    (r"\bdimension(?:ality)? of (?:each|an?|one|every)(?: individual| single)? (?:attention )?head,? \(?(d_?[kv])\)?(?!\w)",
        r"\1"),
    (r"\b((?:per-)?head (?:dimension|size|width)) \(?d_?(?:h|head)\)?(?!\w)", r"\1"),
    (r"\b(?:the )?(?:two |both )?(?:matrix (?:multiplications|products|multiplies)|matmuls) (?:in|of|for) (?=[\w -]*attention)",
        ""),
    (r"\b(?:how (?:many|much) (parameters|params|weights|memory)|what) (?:do|would|can|could|is|are) (?:we |you |one )?saved? "
        r"(?:if|by|when)(?: we| you| one)? (?:remov|dropp?|omitt?|eliminat|delet)(?:e|ing|s)? (.+)$",
        r"how many parameters does \2 have"),
    (r"\b(?:if |by |when )?(?:we |you |one )?replac(?:e|ing) (?:the |learned |absolute )*"
        r"(position(?:al)? (?:embeddings|encodings)) (?:by|with) (?:the |fixed )*sinusoidal"
        r"(?: ones| position(?:al)?| embeddings| encodings)*,? how many (?:parameters|params|weights) "
        r"(?:do|would|can) (?:we|you|one) save\b", r"how many parameters of \1"),
    (r"\bif (?:we|you|one) (?:remove|drop|omit|eliminate|delete) (.+?), how many (?:parameters|params|weights) (?:do|would|can) "
        r"(?:we|you|one) save\b", r"how many parameters does \1 have"),
    (r"\b(?:the )?attention (?:matrix|weights|map|weight matrix)(?: [a-z])? ?[=(] ?(attention weights|scaled scores"
        r"|qk\^t)\b\)?", r"\1"),
    (r"\b(?:all |the |these |its )*(?:(?:linear|projection|weight|dense|attention) )*(?:layers|matrices|projections|maps) "
        r"(?:includ|hav|us|contain|com)(?:e|es|s)?(?: with)? (?:an? |their )?bias(?:es| terms?| vectors?)? *(?:[.;]|$)", ""),
    (r"\b(an?|one|each) ((?:ro|al|distil)?bert[-\w]*|vit[-/\w]*) (?:encoder )?(?:layer|block)'s (parameters|params|weights"
        r"|flops)", r"\3 of one layer of \2"),
    (rf"\bhow many {_LONGEST} can (.+?) (?:take|read|handle|process|encode|accept|see)(?: at (?:most|once|a time))?\b",
        r"maximum sequence length of \1"),
    (rf"\b(?:(?:max(?:imum)?|largest) number of (?:input )?{_LONGEST}|longest (?:input|text)|max(?:imum)? positions)\b",
        "maximum sequence length"),
    (r"\b(max(?:imum)? (?:sequence|input|context) length|longest (?:input|sequence|text))(?: that)? (.+?) can (?:take|read"
        r"|handle|process|encode|accept|see)(?: (?:in|as) (?:an?|one|its) (?:single )?(?:input|sequence|pass)| at once)?",
        r"maximum sequence length of \2"),
    (r"\b(?:(?:hidden|model|embedding|head|key) )?(?:size|width|dimension(?:ality)?)s?,? \((d_?(?:model|k|v|ff))\)", r"\1"),
    (r"\b(?:each|every|one) (?:attention )?head (?:operates|works|acts|attends)(?: in| on| with| within)?\b",
        "dimension of each head"),
    (r"\b(?:each|every) (?:attention )?head (?:has|gets|uses) d_?k\b", "d_k"),
    (r"\b(?:equal(?:ly)?[- ]sized|usual|typical) (?=attention heads|heads|dimension|size|width)", ""),
    (r"\b(?:(?:per-)?head|key|query) (?:dimension|size|width)s?,? \(?(d_?k)\)?", r"\1"),
    (r"\bdimension(?:ality)? of (?:the )?(?:keys?|quer(?:y|ies))(?: vectors?)?,? \(?(d_?k)\)?", r"\1"),
    (r"\b(?:(?:head |key )?dimension )?d_?k (?:(?:that is )?(?:passed|fed|given|used|assigned) )?"
        r"(?:per|(?:for|of|in|into|to|by|at) (?:each|every|one|a))(?: individual| single)? (?:attention )?head\b", "d_k"),
    (r"\bd_?ff (?:is|being|equals|of) (?:four|4) times (?:the )?(?:d_?model|model dimension|hidden size|width)\b",
        "expansion factor 4"),
    (r"\bhow many additional (.+?) compared (?:to|with) ", r"how many more \1 than "),
    (r"\(?(?:also )?(?:denoted|known|referred to|called) as [a-z ]+\)?", ""),
    (r"\boutput (shapes?|dimensions?|size) of (?:the )?", r"\1 of the output of "),
    (r"\b(?:for|given|with|on) (?:an? )?(?:input )?sequence of (?:length )?[nlt](?: tokens)?\b", ""),
    (r"[(,.]? ?\b(?:including|include|counting|i\.e\.,?)((?: |, ?)(?:the|all|both|and|qkv|[qkvo]|[wb]_?[qkvo12]|output|query"
        r"|key|value|projections?|matri(?:x|ces)|weights?|linear|layers?|heads?|bias(?:es)?|terms?|vectors?))+(?=\s*(?:[.;:,)]"
        r"|$))\)?", ""),
    (r"(?<=scores )(are (?:computed )?)?in (?:(?:one|each|a single) (?:attention )?head's |the |one |each )?"
        r"(?:(?:full|whole|entire) )*(?:[ntsl] ?[x×] ?[ntsl] )?(?:attention |score )?"
        r"(?:matrix|map)(?: (?:before|after) (?:the )?softmax)?(?=$|[.,?]| for )",
        lambda found: "per head" if re.search(r"head|\bone\b|\beach\b", found[0]) else ""),
    (r"\b(?:must|can|will|should) be computed\b", "are computed"),
    (r"^(?=.*param)(.*?),? for (?:an? )?(?:model |hidden |embedding )?(?:width|size|dimension)(?: d)?(?=$|[,.])", r"\1"),
    (r"^(?=.*param)(.*?),? (?:in terms|as a function) of (?:the )?(?:d(?:_?\{?model\}?)?|model dimension|hidden size)(?: "
        r"(?:only|alone))?(?=$|[,.])", r"\1"),
    (r"\bcompute(?=$|[.,?])", "have"),
    (rf"^(?!.*(?:bert|vit|electra|combined|together|total|in all|overall)){_OF_SIZES} "
        r"in (?:both )?(?:the |its )*encoder and (?:the )?decoder\b", r"\1"),
    (r"\b(?:is|are) (.+?) (?:composed|made up|made|built) (?:up )?of\b", r"does \1 have"),
    (r"\bidentical (?=layers|blocks)", ""),
    (rf"{_OF_SIZES} " r"(?:in|of) (?:the|its) encoder(?: stack)?(?=$|[,.])", r"\1"),
    (r"\b(?:intermediate|standard|full|naive|whole|entire|complete) (?=attention (?:matri|map|score|weight))", ""),
    (rf"{_OF_SIZES}\b(?:in|of) the " r"transformer(?:'s)?(?: encoder)?(?: stack| model)?\b(?! decoder| in\b| of\b|-)", r"\1 "),
    (rf"{_OF_SIZES}\bthe " r"transformer(?:'s)?(?: encoder)?(?: stack| model)?(?= (?:have|has|use|contain))", r"\1it"),
    (r"\bdefault (?=vocab|hidden|number|dropout|size)", ""),
    (r"^(?:hi,? |so,? |ok,? )?(?:(?:i'm|i am|we're) trying to|i (?:want|need|would like) to|(?:can|could) (?:you|(?:some"
        r"|any)(?:one|body))|"
        r"please|help me|does anyone know|how (?:do|can) (?:i|you|we)) ?(?:work out|figure out|find out|understand|know"
        r"|calculate|compute|tell me|explain|derive|count)?\b,?", ""),
    (r"[(,] ?(?:for |in |of )?(one|a single|single|per|each) (head|layer)(?: only| alone)?(?:\)|(?= in |,|$))", r" for one \2 "),
    (r"\b(?:attention )?(?:weights|scores|matrix|logits) (?:before|prior to) (?:the )?softmax\b", "attention scores"),
    (r"\battention (?:weights|scores|matrix|probabilities) after (?:the )?softmax\b", "attention weights"),
    (r"\bdot[- ]products (?:are |is )?(?:computed |needed |calculated )?(?:for|in) (?:the )?(?:self-?)?attention\b",
        "dot products"),
    (r"\b(?:an?|one|each|every|single) (?:single )?(?:layer|rms)[- ]?norm(?:ali[sz]ation)?(?: layer| module)?\b(?! \w*dim)",
        "one layernorm"),
    (r"\bwhat ((?:sequence |context )?length) makes (.+?) (as (?:expensive|costly) as) ", r"at what \1 is \2 \3 "),
    (r"\b(training flops|training cost) per (?:training )?step\b", r"\1"),
    (r"\b((?:each|every|one|a single|an?) (?:attention )?head)'s\b", r"| of \1 |"),
    (r"\b((?:the |one |an? |each |every |single )*(?:encoder |transformer )?(?:layer|block))'s\b", r"| of \1 |"),
    (r"\bon top of (?:the |an? )?(?:\[?cls\]?(?: token| vector| embedding| representation)?|bert(?![-\w])|encoder|model"
        r"|it)\b", "|"),
    (r"\b(?:added|introduced) by (?=(?:an? |the )?(?:classif|linear|mlm|nsp|pooler|head|task))", "of "),
    (r"\bon(?: top of)? (?:an? |the )?((?:\d+-dim(?:ensional)? )?)(?:cls )?(?:representation|vector|embedding|hidden"
        r" state)s?\b", r"with \1"),
    (r"\bon top of (?=(?:(?:ro|al|distil)?bert|vit)[-/\w])", "of "),
    (r"\bif (?:the )?(?:x|inputs?)(?: tensor| matrix)? (?:is of|has|have|is) (?:the )?(?:shape|size|dimensions?)\b", "with"),
    (rf"\bhow (?:does|do) (?:the )?{_MEMORY} (?:of|in|for) (.+?) {_GROWS}", r"space complexity of \1"),
    (rf"\bhow (?:does|do) (.+?)(?:'s)? {_MEMORY} {_GROWS}", r"space complexity of \1"),
    (r"\bhow (?:does|do) (?:the )?(?:time|compute|cost|runtime|flops|computation|complexity)(?: cost)? (?:of|in|for) "
        rf"(.+?) {_GROWS}", r"complexity of \1"),
    (rf"\bhow (?:does|do) (.+?) {_GROWS}", r"complexity of \1"),
    (r"\bbig-?o (?:time )?complexity\b", "complexity"),
    (r",? ?\b(?:according to|as in|from|in) (?:the )?(?:original )?(?:transformer |attention is all you need |vaswani et"
        r" al\.? )paper\b", ""),
    (r"\b(?:when|if) (?:an? |the )?(\d+ ?[x×] ?\d+)(?: pixel)? images? (?:is|are) (?:divided|split|cut|chopped) into"
        r" (\d+ ?[x×] ?\d+) patches", r"with a \1 image and \2 patches"),
    (r"\bimage patches\b|\bpatch tokens\b", "patches"),
    (r"\bpatches of (?:size )?(\d+ ?[x×] ?\d+)(?: pixels)? (?:fit|are there|are|can be cut|can be made|are obtained|do you"
        r" get) (?:in|into|from|out of|inside) (?:an? |the )?(\d+ ?[x×] ?\d+)(?: pixel)? image",
        r"patches with a \2 image and \1 patches"),
    (r"\bratio (?:of |between )?d_?ff ?(?:/|to|and|over|:) ?d_?model\b", "expansion factor"),
    (r"\bhow many times (?:bigger|larger|wider|greater) (?:is|are) (?:the )?(?:ffn|mlp|feed-?forward(?: network)?)(?: hidden"
        r" layer| inner layer| hidden size| width)? than (?:the )?(?:d_?model|model (?:width|dimension)|hidden size)\b",
        "what is the expansion factor"),
    (r"\b(?:in|using|with) (?:the )?(?:pytorch|torch|keras|tensorflow|jax|hugging ?face(?:'s)?(?:"
        r" transformers)?(?: library)?)\b|\bgiven the following(?: (?:settings|sizes|values"
        r"|hyper-?parameters))?\b:?", ""),
    (r"\b(?:torch\.)?nn\.(?=[a-z])", ""),
    (r"\btransformerencoderlayer\b", "one encoder layer"),
    (r"\bmultiheadattention\b", "multi-head attention"),
    (r"\b(?:at|with|using|assuming) ([248]) bytes (?:per|a|for each|for every|each) (?:parameter|weight|number|value|float"
        r"|element)\b",
        lambda found: f"in fp{8 * int(found[1])}"),
    (r"\ban? (\d+) ?[x×] ?\1 (attention (?:matrix|map)|score matrix)\b", r"an \2 for \1 tokens"),
    (r"\b(?:the |its |an? )*(?:inner|hidden|intermediate|feed-?forward|ffn|mlp)(?: hidden| inner)?(?: (?:layer|dimension"
        r"|size|width))?"
        r"(?: of (?:the |its )?(?:ffn|mlp|feed-?forward(?: network)?))? (?:is|being|has|of|=|stays|remains)?(?:"
        r" always| kept at)? ?(two|three|four|eight"
        r"|[248]) ?(?:times|x|×) "
        r"(?:as (?:wide|large|big)(?: as (?:the )?(?:model|input|hidden|embedding)(?: dimension| size| width)?)?|wider|larger"
        r"|the (?:size of the )?(?:model|hidden|embedding|input)(?: (?:dimension|size|width))?"
        r"|d_?\{?model\}?)(?=\s*(?:[.,;)]|$))",
        lambda found: f"expansion factor {NUMBERS.get(found[1], found[1])}"),
    (r"\b(?:if |when |assuming |given that |where )?(?:each|every|one|a) (?:parameter|weight|number|value|float|element) "
        r"(?:takes|is|uses|needs|requires|occupies|stored in) (?:up )?([248]) bytes\b",
        lambda found: f"in fp{8 * int(found[1])}"),
    (r"\b(?:to store|storing|storage of|for) (\d[\d,.]*(?: ?(?:million|billion|m|b))?) ((?:fp|float|bf|int)\d+ )?(?:params"
        r"|parameters|weights)(?: in)?\b", r"of a model with \1 parameters in \2"),
    (r"\b(?:multiplying|the product of|multiplication of) (?:the )?q(?:ueries)?(?: matrix)? (?:and|by|with|times) (?:the )?k"
        r"(?:eys)?(?: matrix)? ?\^t", "qk^t"),
    (r"\b(?:the )?(?:encoder (?:of|in) )?(?:the )?(?:(?:vanilla |paper's )?base|original(?: base)?) transformer(?:'s)?"
        r"(?: ?\(base\)|[- ]base)?(?: model| paper| encoder)?\b(?!-)", "transformer-base"),
    (r"\bwordpiece vocabulary\b", "vocabulary"),
    (r"\b(?:what|which) value does (.+?) (?:take|have)\b", r"what is \1"),
    (r"\b(?:to process|for processing|when processing|to encode|for encoding) (?:an? )?(\d[\d,]*)[- ]tokens?(?: (?:sequence"
        r"|input|document|text|sentence))?\b", r"for \1 tokens"),
    (r"\b(\d+) ?[x×] ?\1 ?[x×] ?3\b", r"\1x\1"),
    (r"\bof an? (?:transformer |encoder )?(?:model|network)\b(?= (?:with|having) (?!\d)|,|$)", ""),
    (r"\bmax(?:imum)? input (?:length|size)\b", "maximum sequence length"),
    (r"\bcompare (?:the )?(?:number of )?(.+?) of (.+?) (?:and|with|to|vs\.?) (.+)$", r"how many more \1 does \2 have than \3"),
    (r"\b(?:if )?(?:the )?images? (?:have|has) (\d+) (?:colou?r )?channels\b", r"with \1 channels"),
    (r"\beach flattened patch\b", "flattened patch"),
    (r"\bof the (?:original |base |vanilla )*model\b", ""),
    (r"\b(?:the )?(?:original |vanilla )?transformer[- ]base model\b|\b(?:the )?original transformer[- ]base\b",
        "transformer-base"),
    (r"\bdimension(?:ality)? of (?:the )?(quer(?:y|ies)|keys?|values?)(?: vectors?)? (?:in|of|per|for|inside"
        r"|within) (?:each|one|a single)"
        r" (?:attention )?head\b", r"\1 dimension"),
    (r"\b(?:in|for|of|consider|suppose|take|given) (?:a|an|the|this|our) (?:standard |vanilla |base |original )?transformer"
        r"(?: encoder| model)?\b(?=,| with| \(|\.|$)", "|"),
    (r"\bhow (?:much|many) of (?=.*\b(?:account for|make up|go(?:es)? to|belongs? to|takes? up|comes? from|lies? in)\b)",
        "what share of "),
    (r"\b(one|an?|each|every|single) ((?:ro|al|distil)?bert[-\w]*|vit[-/\w]*) ((?:encoder )?(?:layer|block))\b", r"\1 \3 of \2"),
    (r"\((?=(?:[kmgt]i?b|percent|%)\))([^)]*)\)", r" in \1"),
    (r"\b(?:one|a single|single|each) ((?:multi-?head |self-)*attention|mha|ffn|mlp|feed-?forward)(?: network)? (?:layer"
        r"|block|sub-?layer|module)\b", r"\1 in one layer"),
    (r"\bafter (?:splitting|reshaping|being split|the split) (?:in)?to (?:the )?(?:\d+ )?heads\b", ""),
    (r"\b(?:needed |required )?(?:to compute|for computing|when computing|in computing) (?:the )?(?=qk|attention|score"
        r"|softmax|scaled|q\b|k\b|v\b)", "of "),
    (r"\b(ffn|mlp|feed-?forward(?: network| layer| block)?|attention|classifier|pooler)'s (\w+(?: \w+)?)", r"\2 of \1"),
    (r"\bwhich (?:one )?(?:of these |of the following )?(?:has|have|contains) more (parameters|params|weights)\b,?:? ?(.+?)"
        r" or (.+)$", r"how many more \1 does \2 have than \3"),
    (r"\b(?:pick|choose|select|mark|tick|circle) the (?:right|correct) (?:answer|option)[.:]?", ""),
    (r"\bwhich of (?:these|the following)(?: options| values)? (?:is|equals)\b", "what is"),
    (r"[:,.]? ?[-*•]? ?(?:\(?a\)|a\.) ?\S.* (?:\(?b\)|b\.) ?\S.*$", ""),
    (r"\(?\b(?:count(?:ing)?|assum(?:e|ing)|tak(?:e|ing)) (?:an?|one|each) (?:mac|multiply-add) as (?:2|two) (?:flops"
        r"|operations)\b\)?", ""),
    (r"^(?:fill in the blanks?|complete the sentence|short answer|question|q)\s*\d*\s*[:.] ?", ""),
    (r"(?:=|\bis|\bequals|\bare)\s*_{2,}(?: dimensions| features)?\s*\.?$", ""),
    (r"^(.+?) (?:has|have|contains|uses|consists of) _{2,} (.+?)\.?$", r"how many \2 does \1 have"),
    (r"\blinear (?:classifier|layer|head) (?:on top of|over|on) (?:the |an? )?(.*?)(?:\[?cls\]? )?(?:vector|embedding"
        r"|representation|token|output)\b", r"classifier \1"),
    (r"^(?:i have|we have|you have|there are|let|compare:?)\b", ""),
    (r"\bhow wide (?:is|are)\b", "what is the width of"),
    (r"\bhow (?:deep) (?:is|are)\b", "what is the depth of"),
    (r"\b(?:roughly|approximately|exactly|precisely|about)\b(?! \d)", ""),
    (r"\brgb |\bcolou?r(?= (?:patch|image))", ""),
    (r"\b(adam|adamw)'s\b", r"\1"),
    (r"\b(model|network|encoder|transformer)'s\b", r"\1"),
)  # fmt: skip
