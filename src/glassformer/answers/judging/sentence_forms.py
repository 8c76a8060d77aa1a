"""The forms of a sentence that claims something: a pattern for each, and the question that such a sentence answers."""

from __future__ import annotations

import re

from glassformer.answers.judging.bounds import BOUND
from glassformer.answers.judging.tidying import ABOUT as _ABOUT

_UNIT = (
    r"(?:\s?(?:million|billion|thousand|trillion|[kKMB](?![\w])|%|percent|[KMGT]i?B|bytes|[MGT]?FLOPs?|[MG]MACs?"
    r"|megabytes|gigabytes|terabytes|kilobytes))?"
)
NUMBER = rf"(?:{BOUND} )?{_ABOUT}\d[\d,_]*(?:\.\d+)?(?:e\d+)?{_UNIT}"
_PART = (
    rf"(?P<value>{_ABOUT}(?:\d+ ?/ ?\d+|(?:a|one|two|three) (?:half|thirds?|quarters?|fifths?)|half"
    r"|\d+(?:\.\d+)? ?(?:%|percent)))"
)
_SHAPE = r"[\[(]?\s*\d+\s*(?:(?:[x×,]|by|\\times)\s*\d+\s*)+[\])]?"
_FACTOR = r"\(?\d[\d,]*[²³]?\)?"
_CHAIN = rf"{_FACTOR}(?: ?(?:[x×*·+^/]|\\times) ?{_FACTOR})+ ?(?:=|≈) ?{NUMBER}"
_CLASS = r"O\([^()]*(?:\([^()]*\)[^()]*)*\)"
_TERM = r"\d+ ?[·*×]? ?[dnhLV](?:_\{?(?:model|ff|k)\}?)?(?:²|\^\{?2\}?)?(?![\w-])"  # `12 d²`
VALUE = rf"(?P<value>{_CLASS}|{_TERM}(?: ?\+ ?{_TERM})*|{_CHAIN}|{_SHAPE}|\d+ ?/ ?\d+(?! ?[/=])|{NUMBER}|\d+(?:\.\d+)?)"
JUDGED = re.compile(
    r"^\s*(?:(?:\(?(?:(?:state|say|decide|determine) (?:if|whether) (?:the following|this) (?:statement )?is (?:true"
    r"|correct|right)(?: or (?:false|not|wrong))?|true or false|true/false|t/f|t or f)\)?|claim|statement|answer)\s*"
    r"(?:[:.?]|(?<=\)))\s*)+",
    re.I,
)
LEAD = re.compile(
    r"^(?P<lead>(?:if|with|for|in|when|given|assuming|suppose|using|at|on|because|since|per)\b[^.?]*?),\s+(?:then\s+)?"
    r"(?=(?:the|a|an|each|every|one|there|all|its|we|this|multi|self|layer|q|k|v|w|d_?[kv]|d_?head|head_dim|(?:distil|ro|al"
    r"|modern|distilro|xlm-ro)?bert|vit|deit|electra"
    r"|\d|\[)\S*\s)",
    re.I,
)
_IMAGE = r"(?P<image>\d+ ?[x×] ?\d+)(?: pixels?)?(?: rgb| colou?r| input)? image"
_PATCHES = (
    r"(?:(?:non-overlapping|patch|vision|image|visual) )*(?:\d+ ?[x×] ?\d+ )?(?:patch(?:es)?(?: tokens?)?|tokens?|vision tokens?)"
)
THINGS = (
    r"(?P<thing>(?:(?:trainable|learnable|total|different|encoder|transformer|attention|self-attention|model|output|input"
    r"|special|layer ?norm)\s)*"
    r"(?:parameters|params|weights|layers|blocks|heads|flops|macs|multiply-adds|tokens|patches|dimensions|features"
    r"|elements|entries"
    r"|scores|attention scores|matrices|segments|layer ?norms|bytes|classes|outputs|biases|hidden units))"
)
VERB = (
    r"(?:(?:will|would|can|must) )?"
    r"(?:has|have|contains?|uses?|needs?|requires?|takes?(?: up)?|costs?|performs?|consists? of|comprises?|produces?"
    r"|adds?|holds?|computes?|gives?|yields?|results? in|generates?|creates?|sees?|receives?|process(?:es)?|introduces?|gets"
    r"|is (?:split|cut|divided) into)"
)
_ATTRIBUTE = (
    r"(?:native |maximum |max )?(?P<attribute>(?:context|sequence|input) length|(?:embedding|hidden) (?:size|dimension)"
    r"|dimension(?:ality)?|intermediate size|inner dimension|size|width|length|shape|depth|hidden size"
    r"|head dimension|head size|vocabulary size|vocabulary"
    r"|vocab size|complexity|time complexity)"
)
_TAIL = r"(?P<tail>(?:\s+(?:in|of|for|with|per|when|if|at|without|excluding|including|ignoring|using)\b[^.?!]*)?)"
END = r"\s*[.!]?\s*$"

FORMS: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern + END, re.I), question)
    for pattern, question in (
        (rf"(?:an? |the )?{_IMAGE} (?:with|and|using|cut into|split into) (?P<patch>\d+ ?[x×] ?\d+)(?: pixel)? patches "
            rf"(?:yields?|gives?|produces?|becomes?|makes?|has|results? in|means) (?:an? )?"
            rf"(?:\d+ ?[x×] ?\d+ ?= ?)?(?P<value>\d+)[- ]?{_PATCHES}"
            r"(?: grid)?",
            "How many patches does a {image} image with {patch} patches have?"),
        (rf"(?:an? |the )?{_IMAGE} is (?:sliced|split|cut|divided|chopped) into (?:\d+ ?[x×] ?\d+ ?= ?)?(?P<value>\d+) "
            r"(?:non-overlapping )?(?P<patch>\d+ ?[x×] ?\d+)(?: pixel)? patches",
            "How many patches does a {image} image with {patch} patches have?"),
        (r"(?:each|every) (?:of the \d+ )?(?:attention )?heads? (?:has|gets|receives|operates|works|acts|attends"
            r"|projects(?: down)?|is projected)(?: down)?(?: in| on| with| within| to| into| inside)* (?:an? |its own )?"
            r"(?:d_?k ?= ?(?:d_?v ?= ?)?(?:\d+ ?/ ?\d+ ?= ?)?)?(?P<value>\d+)(?:[- ]?(?:dimensional|dimensions|dims?)"
            r"(?: (?:sub)?spaces?| (?:vectors|q, k,? and v vectors|queries|keys))*)?",
            "What is the dimension of each head?"),
        (rf"(?:each|every) (?:input )?(?:token|word|position) (?:is|gets) (?:represented|embedded|mapped|encoded"
            rf"|described) (?:by|as|to|into) "
            rf"an? (?P<value>\d[\d,]*)-dim(?:ensional)? (?:vector|embedding|representation){_TAIL}",
            "What is the hidden size{tail}?"),
        (r"(?:going|moving|scaling|growing) from (?P<old>\d[\d,]*)(?: tokens)? to (?P<new>\d[\d,]*) tokens (?:makes"
            r"|increases|grows|scales) "
            r"(?P<it>.+?) (?:by (?:a factor of )?)?(?P<value>\d+) ?(?:times|x|×)?(?: (?:larger|bigger|as large|as big"
            r"|more expensive))?",
            "By what factor does {it} grow when the sequence length goes from {old} to {new}?"),
        (r"(?:splitting|dividing) (?:the )?(?P<width>\d+)[- ](?:dimensions|features|dimensional \w+) (?:over|across|into"
            r"|among|between|by) "
            r"(?P<heads>\d+) heads (?:leaves|gives|yields|means|results in) (?P<value>\d+) (?:dimensions|features) (?:per"
            r"|for each|each|in each)"
            r"(?: head)?",
            "With d_model = {width} and {heads} heads, what is the dimension of each head?"),
        (r"(?:d_?k|d_?head|head_dim) ?= ?(?:d_?v ?= ?)?(?:d_?model ?//? ?(?:h|(?:n_|num_)?heads) ?= ?)?(?P<value>\d+)",
            "What is d_k?"),
        (rf"(?P<it>.+?) (?:uses?|has|have) (?:an? )?(?:wordpiece|bpe|sub-?word) (?:embeddings?|vocabulary|tokeni[sz]er)(?:"
            rf" with| that"
            rf" ha[sv]e?| of)*(?: a vocabulary of)? {VALUE} (?:tokens|words|entries|pieces)",
            "What is the vocabulary size of {it}?"),
        (rf"(?P<it>.+?) can (?:take|process|handle|read|accept) (?:an? )?(?:(?:max(?:imum)?|input) )?sequence length of "
            rf"(?:up to )?{VALUE}",
            "What is the maximum sequence length of {it}?"),
        (rf"(?:the )?total (?:parameters )?(?:per|in one|for one|in each|for each|of one) (?P<it>[^:()]+?)"
            rf"(?: ?\((?P<sizes>[^()]+)\))? ?[:=] ?"
            rf"{VALUE} (?:parameters|params|weights)",
            "With {sizes}, how many parameters does one {it} have?"),
        (rf"(?:the )?(?:raw |attention |query-key |unnormali[sz]ed )*(?:scores|logits|dot[- ]products|qk\^?t)(?: qk\^?t)? "
            rf"(?:are|is|get|must be|should be) (?:divided|scaled(?: down)?) by (?:a factor of |(?:(?:sqrt|√) ?\(?|the"
                rf" square root of )\d+\)?"
            rf"(?: ?= ?|,? (?:i\.e\.|which is|or|that is),? )(?:about |roughly )?)?"
            rf"(?P<value>\d+(?:\.\d+)?)(?: (?:before|prior to) (?:the |applying |taking )*softmax)?{_TAIL}",
            "What are the scores divided by{tail}?"),
        (rf"(?P<it>(?:weight[- ])?tying(?: [a-z -]+?)?|sharing [a-z -]+?) saves? (?:exactly |a total of )?{VALUE} "
            rf"(?:parameters|params|weights){_TAIL}",
            "How many parameters does {it} save{tail}?"),
        (rf"there (?:are|is) (?:a total of |exactly )?{VALUE} {THINGS}{_TAIL}", "How many {thing} are there{tail}?"),
        (rf"(?P<it>.+?) {VERB} (?:a total of )?{VALUE} (?:of )?(?P<memory>(?:gpu )?memory|storage|vram|ram){_TAIL}",
            "How much memory does {it} need{tail}?"),
        (rf"(?P<it>.+?) (?:is|are) (?P<value>{_ABOUT}\d[\d,]*(?:\.\d+)? ?[KMGT]i?B)(?: large| big| in size| on disk)*{_TAIL}",
            "How much memory does {it} need{tail}?"),
        (rf"(?P<it>.+?) (?:carries|{VERB}) (?P<value>{_ABOUT}\d[\d,]*(?:\.\d+)? ?[KMGT]i?B) of "
            rf"(?P<store>(?:adam )?optimi[sz]er states?|gradients){_TAIL}",
            "How much memory does the {store} of {it} need{tail}?"),
        (rf"(?P<it>.+?) (?:occup(?:y|ies)|weighs?|needs?|requires?|takes?(?: up)?"
            rf"|uses?) (?P<value>{_ABOUT}\d[\d,]*(?:\.\d+)? ?[KMGT]i?B)"
            rf"(?: on disk| of space| of (?:gpu )?memory| of disk space| of v?ram)?{_TAIL}",
            "How much memory does {it} need{tail}?"),
        (rf"(?P<it>.+?) {VERB} (?:a total of |only )?{VALUE}(?<=B) (?:to|for)? ?stor(?:e|ing|age)"
            rf"(?: (?:all |of )?(?:its|the|their)(?: \w+)? (?:weights|parameters))?{_TAIL}",
            "How much memory do the weights of {it} need{tail}?"),
        (rf"(?P<it>.+?) {VERB} (?:a total of |only )?{VALUE}(?<=B) (?:to|for)? ?(?P<what>train\w*){_TAIL}",
            "How much memory does {it} need for {what}{tail}?"),
        (rf"(?P<it>.+?) {VERB} (?:a total of |only |just )?(?P<value>{_ABOUT}\d[\d,_]*(?:\.\d+)? ?[MGT]FLOPs?){_TAIL}",
            "How many FLOPs does {it} need{tail}?"),
        (rf"(?P<it>.+?) (?:is|are) (?:an? )?vectors? (?:of|with) (?:length|size|dimension(?:ality)?) {VALUE}{_TAIL}",
            "What is the dimension of {it}{tail}?"),
        (rf"(?P<it>.+?) (?:outputs?|produces?|returns?|yields?|gives?) (?:an? )?vectors? (?:of|with) "
            rf"(?:size|dimension(?:ality)?|length) {VALUE}{_TAIL}",
            "What is the dimension of the output of {it}{tail}?"),
        (rf"(?P<it>.+?) (?:outputs?|produces?|returns?|yields?|gives?) (?:an? )?(?:matrix|tensor) (?:of|with) "
            rf"(?:size|shape|dimensions?) {VALUE}{_TAIL}",
            "What is the shape of the output of {it}{tail}?"),
        (rf"(?P<it>.+?) (?:is|are) an? (?P<value>{_SHAPE}) (?:matrix|tensor|array){_TAIL}", "What is the shape of {it}{tail}?"),
        (r"(?:each|every|one|a single) (?:attention )?head (?:of|in) (?P<it>.+?) (?:computes?|produces?|has"
            r"|yields?|forms?|creates?) "
            r"(?:an? |its own )?(?P<value>\d+ ?[x×] ?\d+) (?:matrix of )?(?:attention|score)s?(?: (?:matrix|map"
            r"|weights|scores))?",
            "What is the shape of the attention matrix of each head of {it}?"),
        (rf"the vocabulary of (?P<it>.+?) (?:contains|has|holds|consists of|comprises|includes) {VALUE} "
            r"(?:wordpiece |sub-?word |unique |bpe )*(?:tokens|words|entries|(?:word-?)?pieces|sub-?words)",
            "What is the vocabulary size of {it}?"),
        (rf"(?P<it>.+?)'s vocabulary (?:contains|has|holds|consists of|comprises) {VALUE} "
            r"(?:wordpiece |sub-?word |unique )?(?:tokens|words|entries|word-?pieces)",
            "What is the vocabulary size of {it}?"),
        (rf"(?:the |its )?vocabulary (?:has|contains|holds|consists of|comprises) {VALUE} (?:unique )?(?:tokens|words"
            rf"|entries|pieces"
            r"|sub-?words|word-?pieces)",
            "What is the vocabulary size?"),
        (rf"(?:the |its |each )?(?:ffn|mlp|feed-?forward)(?: network| layer| block)? (?:has|uses|contains) {VALUE} "
            rf"(?:hidden |inner )?"
            rf"(?:units|neurons|nodes){_TAIL}",
            "What is the intermediate size{tail}?"),
        (rf"(?P<it>.+?) {VERB} (?:a total of |only |just )?{VALUE} {THINGS}{_TAIL}", "How many {thing} does {it} have{tail}?"),
        (rf"(?P<it>.+?) (?:has|have|uses?|employs?|is of|are of) (?:an? |the )?{_ATTRIBUTE} (?:of |is "
            rf"|= ?)?(?:up to )?(?:size )?{VALUE}"
            rf"(?: (?:tokens|words|entries|word-?pieces|sub-?words|features|dimensions|units))?{_TAIL}",
            "What is the {attribute} of {it}{tail}?"),
        (rf"(?P<it>.+?) (?:splits?|divides?|cuts?|turns?) an? (?P<image>\d+ ?[x×] ?\d+)(?: pixels?)? image into {VALUE} "
            r"(?:non-overlapping )?(?:patches|patch tokens|patch embeddings)",
            "How many patches does {it} have for a {image} image?"),
        (rf"(?P<it>.+?) (?:supports?|accepts?|handles?|takes?|can (?:take|process|handle|read)) "
            rf"(?:(?:sequences?|inputs?|texts?) )?(?:of )?(?:up to|at most|a maximum of) {VALUE} tokens",
            "How many tokens can {it} take?"),
        (rf"(?:the )?(?:computational |time |runtime )?(?:cost|complexity) of (?P<it>.+?) (?:is|grows as"
            rf"|scales as) (?P<value>{_CLASS})",
            "What is the complexity of {it}?"),
        (r"(?P<it>(?:.*\b)?(?:W_?\w|[QKV]|matrix|scores|weights)\b.*?) (?:is"
            r"|are) (?P<value>\d+ ?[x×] ?\d+)", "What is the shape of {it}?"),
        (rf"(?P<it>(?!.*complexity).+?) (?:is|are|scales as|scales with|runs in|costs) (?P<value>{_CLASS})(?: time| operations)?",
            "What is the complexity of {it}?"),
        (rf"(?P<it>.+?) (?:masks|hides) {VALUE} of (?:the |its |all )?(?:input )?tokens{_TAIL}",
            "What percentage of tokens is masked in {it}{tail}?"),
        (rf"{_PART} of (?P<it>.+? (?:parameters|weights|params|flops)) (?:are|is|lie|come|sit|belong|go) (?P<place>(?:in"
            rf"|from|to) .+?)",
            "What fraction of {it} are {place}?"),
        (rf"{VALUE} of (?P<it>.+? (?:parameters|weights|params|flops))(?P<where>.*?) (?:are|is|lie|come|sit|belong|go) "
            rf"(?P<place>(?:in|from|to) .+?)",
            "What percentage of {it}{where} are {place}?"),
        (rf"(?P<it>.+?) (?:accounts? for|makes? up|holds?|contains?|represents?|comprises?|has|have) (?:nearly |over"
            rf" )?{_PART} of (?P<where>.+?)",
            "What fraction of {where} does {it} account for?"),
        (rf"(?P<it>.+?) (?:is|are) (?P<factor>{NUMBER}) times (?P<more>larger|bigger|smaller|deeper|wider) than (?P<other>.+?)",
            "How many times {more} is {it} than {other}?"),
        (rf"(?P<it>.+?) {VERB} (?P<factor>{NUMBER}) times (?P<more>more|fewer|as many|as much) (?P<thing2>parameters|weights"
            rf"|layers|heads|memory) (?P<than>than|as) (?P<other>.+?)",
            "How many times {more} {thing2} does {it} have {than} {other}?"),
        (rf"(?P<it>.+?) {VERB} (?P<factor>{_ABOUT}\d+(?:\.\d+)? ?(?:%|percent)) (?P<more>more|fewer|less) "
            rf"(?P<thing2>parameters|weights|layers|heads) than (?P<other>.+?)",
            "By what percentage does {it} have {more} {thing2} than {other}?"),
        (rf"(?P<it>.+?) (?:is|are) (?P<factor>{_ABOUT}\d+(?:\.\d+)? ?(?:%|percent)) (?P<more>smaller|larger|bigger) than "
            rf"(?P<other>.+?)",
            "By what percentage is {it} {more} than {other}?"),
        (rf"(?P<it>.+?) {VERB} (?P<factor>{NUMBER}) (?P<more>more|fewer) (?P<thing2>parameters|weights|layers|heads) "
            rf"than (?P<other>.+?)",
            "How many {more} {thing2} does {it} have than {other}?"),
        (rf"(?P<it>(?:the |each |every |its )?\S.*?) (?:is|are|equals|equal|=|will be|must be|would be|should be|is given by) "
            rf"(?:exactly |equal to )?(?:an? )?{VALUE}"
            rf"(?: (?:dimensions|features|tokens|parameters|params|matrix|-dimensional|dimensional|flops|bytes))?{_TAIL}",
            "What is {it}{tail}?"),
    )
)  # fmt: skip
WITH_A = re.compile(
    rf"(?P<it>.+?) (?:has|gives?|yields?|results? in|means?|requires?|needs?) an? (?P<what>[a-z -]+?) "
    rf"(?:of|with) {VALUE} {THINGS}{END}",
    re.I,
)
BY_SIZES = re.compile(
    rf"(?P<it>.+?) (?:leads? to|gives?|yields?|results? in|means?|requires?|makes?) (?:a total of )?{VALUE} {THINGS}{_TAIL}{END}",
    re.I,
)
NONE = re.compile(
    r"(?P<it>.+?) (?:adds?|has|have|introduces?|contains?|requires?|needs?) (?:no|zero) "
    rf"(?:additional |extra |learnable |trainable )*(?:parameters|params|weights)(?: to (?P<whole>.+?))?{END}",
    re.I,
)
TIMES = {"doubles": "2", "triples": "3", "quadruples": "4", "halves": "0.5", "half": "0.5", "twice": "2", "double": "2"}
SHARE = re.compile(
    r"(?P<it>.+?) (?:has|have|uses?) (?:about |roughly |exactly |approximately |nearly )?"
    r"(?P<times>half|twice|double|\d+(?:\.\d+)? ?(?:x|×))(?: of)?(?: the| as many)?(?: number of)? "
    r"(?P<thing>(?:encoder |attention )?(?:parameters|weights|layers|heads)) (?:of|as|in|than) (?P<other>.+?)" + END,
    re.I,
)
GROWTH = re.compile(
    r"(?P<it>.+?) (?:has|is|scales|grows|have|are)(?: an?)? (?P<how>linear|quadratic|cubic)(?:al)?(?:ly)?(?: time)?"
    r"(?: complexity)? (?:in|with|with respect to) (?:the )?"
    r"(?:(?:sequence|input|context) length|length of the (?:sequence|input)|number of (?:input )?tokens|n)" + END,
    re.I,
)
LIST = re.compile(rf"(?P<it>.+?) (?:has|have|uses?|consists? of|comprises?|contains?) (?P<list>.+?){END}", re.I)
BRACKETS = re.compile(rf"(?P<it>[^()]{{2,60}}?) ?\((?P<list>[^()]+)\){END}")
BRACKETED = re.compile(r"(?P<it>[A-Z][\w/.-]*(?: [a-z]+)?) \((?P<list>[^()]*\d[^()]*)\)")
ITEM = re.compile(
    rf"(?:and )?(?:an? |the )?(?:{NUMBER} [a-z][a-z -]{{3,40}}|[a-z][a-z -]{{3,40}} (?:of |= ?|: ?)?{NUMBER}"
    r"(?: (?:tokens|words|entries|sub-?words|features|units|dimensions))?)",
    re.I,
)
# How the letters and words of such a list are said aloud.
ALOUD = tuple(
    (re.compile(pattern, re.I), said)
    for pattern, said in (
        (r"^(?:and )?L ?= ?(\d+)$", r"\1 layers"),
        (r"^(?:and )?(?:(?-i:[HDd])|d_?model|hidden size) ?= ?(\d+)$", r"a hidden size of \1"),
        (r"^(?:and )?(?-i:h) ?= ?(\d+)$", r"\1 attention heads"),
        (r"^(?:and )?d_?k ?= ?(\d+)$", r"a head dimension of \1"),
        (r"^(?:and )?vocab(?:ulary)?(?: size)?:? (\d[\d,]*)$", r"a vocabulary size of \1"),
        (r"^(?:and )?(\d+)(?:-dim(?:ensional)?)? hidden$", r"a hidden size of \1"),
        (r"^(?:and )?hidden(?: (?:size|dim(?:ension)?|width))?:? (\d+)$", r"a hidden size of \1"),
        (
            r"^(?:and )?(?:ffn|feed-?forward|intermediate)(?: (?:size|dim(?:ension)?|width))?:? (\d+)$",
            r"an intermediate size of \1",
        ),
        (r"^(?:and )?A ?= ?(\d+)$", r"\1 attention heads"),
        (r"^(?:and )?(?:an? )?(\d+)-(layer|head)s?$", r"\1 \2s"),
        (r"^(?:and )?(\d+)(?:-dim(?:ensional)?)? (?:hidden |model )?dimension$", r"a hidden size of \1"),
        (
            r"^(?:and )?(?:an? |the )?(\d+)(?:-dim(?:ensional)?)? (?:hidden|model) (?:units|dimensions|features|states"
            r"|nodes|neurons|size)$",
            r"a hidden size of \1",
        ),
        (
            r"^(?:and )?(?:an? |the )?(\d+)(?:-dim(?:ensional)?)? embedding (?:units|dimensions?|features|size)$",
            r"an embedding size of \1",
        ),
        (rf"^(?:and )?(?:total )?(?:number of )?(parameters|params|layers|heads) ?[=:] ?({NUMBER})$", r"\2 \1"),
    )
)
# Sentences that make two claims about one thing: questions and claims by the groups of the pattern.
TWO = tuple(
    (re.compile(pattern + END, re.I), questions)
    for pattern, questions in (
        (rf"(?P<it>\S+(?: \S+)?) has (?P<a>{NUMBER}) of its (?P<b>{NUMBER}) (?:parameters|params|weights) in (?P<place>.+?)"
            r"(?: alone| only)?",
            (("How many parameters does {place} of {it} have?", "a"), ("How many parameters does {it} have?", "b"))),
        (rf"(?P<it>\S+(?: \S+)?) has (?P<b>{NUMBER}) (?:parameters|params|weights),? "
            rf"(?:of which|and) (?P<a>{NUMBER})(?: of (?:them|these|those))? "
            r"(?:belong to|are in|lie in|come from|sit in|are part of|are due to) (?P<place>.+?)",
            (("How many parameters does {place} of {it} have?", "a"), ("How many parameters does {it} have?", "b"))),
        (rf"(?:out )?of (?:the |its )?(?P<b>{NUMBER}) (?:parameters|params|weights) (?:of|in) (?P<it>[^,]+?), (?P<a>{NUMBER}) "
            r"(?:of them )?(?:belong to|are in|lie in|come from|sit in|are part of|are due to) (?P<place>.+?)",
            (("How many parameters does {place} of {it} have?", "a"), ("How many parameters does {it} have?", "b"))),
        (r"(?:the )?(?:position-wise )?(?:feed-?forward(?: network| block| layer)?|ffn|mlp) (?:of|in) (?P<it>.+?) "
            r"(?:expands|projects"
            r"|maps|goes|widens)(?: \w+ \w+)? from (?P<a>\d[\d,]*)(?: dimensions| features)? to (?P<b>\d[\d,]*)(?: "
            r"dimensions| features)?"
            r"(?:,? and (?:then )?back(?: again)?(?: (?:down )?to (?P=a))?)?",
            (("What is the hidden size of {it}?", "a"), ("What is the intermediate size of {it}?", "b"))),
        (r"(?:each|every one) of (?:the|its) (?P<a>\d+) (?:attention )?heads (?:of|in) (?P<it>[\w/-]+) (?:has|uses|gets|works"
            r"|operates|computes|produces)(?: with| on| in| over)? (?P<b>\d+)[- ]dim(?:ensional)? "
            r"(?:(?:queries|keys|values|vectors|query|key|value|sub-?spaces?)(?:, and | and |, | |$)?)*",
            (("How many attention heads does {it} have?", "a"), ("What is the dimension of each head of {it}?", "b"))),
        (r"(?P<it>\S+(?: \S+)?) (?:keeps|has|retains|uses) (?:only )?(?P<a>\d+) of (?P<other>\S+)'s (?P<b>\d+) "
            r"(?P<things>(?:encoder |transformer )?layers|heads)",
            (("How many {things} does {it} have?", "a"), ("How many {things} does {other} have?", "b"))),
        (rf"(?P<it>.+?) (?:runs in|takes|needs|has|requires|costs|is) (?P<a>{_CLASS})"
            rf"(?: time(?: complexity)?| operations| compute)? and "
            rf"(?:needs |requires |uses |takes )?(?P<b>{_CLASS}) (?:memory|space)(?: complexity)?",
            (("What is the complexity of {it}?", "a"), ("What is the space complexity of {it}?", "b"))),
    )
)  # fmt: skip
GROWN = re.compile(
    r"(?:if|when|as|once) (?P<change>(?:the |your |our )?(?:input |sequence |context )*(?:length|window|size|sequence"
    r"|context|heads|layers|d_model"
    r"|hidden size|batch size) (?:doubles|triples|quadruples|halves|is doubled|is tripled|is halved)),? (?P<it>.+?) "
    r"(?P<verb>(?:also )?(?:doubles?|triples?|quadruples?|halves)|(?:becomes?|is|gets|grows?|increases?|rises?|needs?|takes?"
    r"|costs?)(?: by)?"
    rf"(?: (?:{_ABOUT.strip()}))?(?: a factor of)?\s*(?P<times>\d+) ?(?:times|x|×|-?fold)?)"
    r"(?: as much| as many)?(?: larger| more(?: expensive| costly| memory| compute)?| bigger| slower| longer| as (?:large"
    r"|expensive|costly))?" + END,
    re.I,
)
SCALING = re.compile(
    r"(?P<change>(?:doubling|tripling|quadrupling|halving) .+?) "
    r"(?:(?:would |will )?(?P<verb>double|triple|quadruple|halve)s? (?P<it>.+?)"
    r"|(?:makes|renders) (?P<what>.+?) (?P<times>\d+) ?(?:x|×|times) (?:as )?(?:slow|larg|big|long|cost|expensive|more)\w*"
    r"(?: expensive)?)" + END,
    re.I,
)
