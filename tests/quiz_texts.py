"""Small sets that the tests of quizzes share."""

CARRYING = """
title = "Carried forward"

[[question]]
id = "layer"
kind = "quantity"
marks = 2
text = "Weights of one layer, {d} wide, {h} heads?"
spec = "encoder layers={L} d_model={d} heads={h} d_ff={f}"
answer = "params(layer=0, without=biases+norms)"
parameters = { d = [64], h = [4], f = [100], L = [6] }
hints = ["Four matrices and two.", "4 · {d} · {d} and two of {d} × {f}."]

[[question]]
id = "all"
kind = "quantity"
marks = 3
same_as = "layer"
text = "All {L} layers?"
answer = "params(layers, without=biases+norms)"
depends_on = ["layer"]
carried = "L * layer"

[[question]]
id = "scores"
kind = "worked"
text = "Scores?"
ask = "scores"
parameters = { q = [[1, 2]], k = [[[1, 0], [0, 1]]], v = [[[4, 0], [0, 4]]] }
[question.problem]
q = "{q}"
K = "{k}"
V = "{v}"

[[question]]
id = "weights"
kind = "worked"
same_as = "scores"
text = "Weights?"
ask = "weights"
depends_on = ["scores"]
carried = { scores = "scores" }

[[question]]
id = "output"
kind = "worked"
same_as = "scores"
text = "Output?"
ask = "output"
depends_on = ["weights"]
carried = { weights = "weights" }

[[question]]
id = "pick"
kind = "choice"
text = "Which?"
[[question.option]]
says = "this"
[[question.option]]
says = "that"
code = "no_scaling"
"""

HOSTILE = """
title = "<script>alert(1)</script> & \\"quotes\\" $x$ \\\\input{/etc/passwd} | `code` {{7*7}}"
about = "=1+1"

[[question]]
id = "first"
kind = "concept"
text = "<img src=x onerror=alert(1)> **bold** [link](javascript:alert(1)) $\\\\write18{{ls}}$ & ]]> <![CDATA[ é 字 \\u202e"
because = "</text></question><evil/>"
[[question.option]]
says = "<b>right</b> & true"
[[question.option]]
says = "\\"><svg onload=alert(1)>"
code = "no_scaling"
why = "%x #y ~z ^w _v"

[[question]]
id = "second"
kind = "quantity"
text = "{{braces}} <i>{d}</i>"
spec = "layer d_model={d} heads=4"
answer = "params"
parameters = { d = [64, 128] }
hints = ["<u>hint</u> & more"]

[[question]]
id = "third"
kind = "worked"
text = "numbers & <matrices>"
ask = "weights"
parameters = { q = [[1, 2]], a = [[1, 0]], b = [[0, 1]] }
[question.problem]
q = "{q}"
K = { "<x>" = "{a}", "a & b" = "{b}" }
"""
