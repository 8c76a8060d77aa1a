"""Ambiguous lines are not called wrong: each of these is right, or not a claim, in some sensible reading."""

import pytest

from glassformer.answers.documents import check_text

FAIR = r"""
the sum of 3 and 4 = 7
twice 4 + 1 = 9
step 2 - 3 + 4 = 7
batch 32 × seq 512 = 16,384 tokens
3 h 20 min = 200 min
2 × 60 minutes = 2 hours
60 minutes = 1 hour
989 TFlops ÷ 1830 MHz ÷ 132 SMs ≈ 4096
3/5 of the total = 12
60% of students = 90
pages 3-4 = 2 pages
6 : 2 = 3
3:4 = 0.75
7 mod 3 = 1
7 % 3 = 1
5! = 120
|-3| + 2 = 5
3 ± 1 = 4
sin(30°) = 0.5
3 1/2 = 3.5
$2\frac{1}{2} = 2.5$
$0.\overline{3} = 0.333\ldots$
5³ = 125 cm³
33% + 33% + 33% = 100%
0.1 + 0.2 = 0.30000000000000004
12 heads with 64 dims × 1 = 768
12 heads at 64 dims = 768
half of 768 = 384
Total - 3 × 4 = 12
2 + 2 = 4 [4]
12 (3 × 4) = 12
768 (d_model) × 2 = 1,536
log(100) = 2
6/2(1+2) = 9
6/2(1+2) = 1
-2^2 = 4
[1,234] + [1,1] = [2,235]
12,34,567 + 1 = 12,34,568
0,5 + 0,25 = 0,75
16 GB = 16 × 1024 MB
4 × 512 × 512 bytes = 1 MB
2 × 70B = 140 GFLOP
`0x200` = 512
for i = 1 to 10
P(Y = 1|X) = 0.5 / 0.8 = 0.625
$P(Y = 1|X) = 0.73$
seq_len=512 batch_size=8 → 512*8=4096
H|0> = (|0> + |1>) / sqrt(2) = |+>
7x = 112 → x = 16
https://x.org/?a=1&b=2
<img src="x" width=5 height=6>
$\sigma = 2$, $\sigma(1) \approx 0.73$
12-head × 64 = 768
A 3x3 kernel over 64 channels = 576 weights
1,728 weights and 64 biases = 1,792 parameters
10:30 = start
12 × 15 = 180 worker-days. Done in 5 days = 60
$F(x) = \int x\,dx = \frac{1}{2} x^2$
$\binom{5}{2} = 10$
E[X] = 3.5
"123" .. "456" = "123456"
!!8 == 1
FOO=1 env FOO=2 BAR
15 + 128K for level = 8
10,000 x 100,000,000 = 1 Trillion
sizes[0][1] == 1
(3, 4) * (3, 4) -> (3, 4)
[5, 64] + [5, 64] = [5, 64]
[5, 64] + [64] = [5, 64]
d_model=64 d_ff=120 = 27648
Q=5x64 K=7x64
$t=32 h=2$, t × 2 = 64
$A^{-1} = \begin{bmatrix} -2 & 1 \\ 1.5 & -0.5 \end{bmatrix}$
""".strip().split("\n")


@pytest.mark.parametrize("kind", ["md", "txt", "tex"])
@pytest.mark.parametrize("line", FAIR)
def test_an_ambiguous_line_is_never_called_wrong(line, kind):
    assert check_text(line, name="a", kind=kind).of("wrong") == ()


def test_a_shell_prompt_does_not_start_a_formula():
    text = "```console\n$ program d=512 S=8\n```\nsqrt(d) = sqrt(512)\n"
    assert check_text(text, name="a", kind="md").of("wrong") == ()


def test_all_of_them_in_one_document():
    assert check_text("\n\n".join(FAIR), name="a", kind="md").of("wrong") == ()


@pytest.mark.parametrize(
    "split", ["we multiply 768\n× 8 = 6,144", "$768 \\times\n8 = 6,144$", "768 ×\n8 = 6,144", "the product of 768\nand 8 = 6,144"]
)
def test_a_line_break_within_a_calculation_is_not_an_error(split):
    assert check_text(split, name="a", kind="md").of("wrong") == ()


@pytest.mark.parametrize(
    "line",
    [
        "40,000 x 768 = 30,720,001",
        "The feed-forward part has 2 × 768 × 3072 = 4,718,529 weights.",
        "We use 12 heads (12 × 64 = 786).",
        "Thus 12 + 4 = 17, as we saw",
        "768 multiplied by 768 is equal to 589,842",
        "31,114,752 (tables) + 187,556,672 (layers) ≈ 218,761,424",
        "- **Sum:** `3*4 = 13`",
        "12 layers × 7,087,872 parameters per layer = 85,054,446 parameters",
        "109,482,240 ≈ 120M",
        "25% of 400 = 10",
        "12 = 3 × 5",
        "5 = 6",
    ],
)
def test_a_wrong_line_is_called_wrong(line):
    assert [one.verdict for one in check_text(line, name="a", kind="md").findings] == ["wrong"]
