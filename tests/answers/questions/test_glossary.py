"""Questions as course notes, exams and forums put them: each is answered, or said not to be understood."""

import pytest

from glassformer.answers.asked import ask
from glassformer.answers.questions.glossary import PART_NAMES, TENSOR_NAMES
from glassformer.answers.questions.name_matching import looked_up, plain
from glassformer.spec import GlassformerError
from glassformer.spec.reading import request_from_words

ANSWERED = [line.split("|") for line in r"""
How many parameters does BERT-base have?|bert-base|109482240
How many trainable parameters are there?|bert-base|109482240
How many parameters are there in a single encoder layer of BERT?|bert-base|7087872
params of one transformer block|bert-base|7087872
How many parameters does the attention block have in one layer?|bert-base|2362368
How many learnable parameters are in the multi-head attention module of one encoder layer?|bert-base|2362368
params of multi-head self-attention per layer|bert-base|2362368
Calculate the number of parameters in the feed-forward network of one layer.|bert-base|4722432
params of the MLP in one layer|bert-base|4722432
params of the first linear layer of the FFN in one layer|bert-base|2362368
params of W_1 and b_1 in one layer|bert-base|2362368
how many parameters in the token embedding table?|bert-base|23440896
params of the embedding matrix|bert-base|23440896
How many parameters are in the embedding layer?|bert-base|23837184
params of positional embeddings|bert-base|393216
params of token type embeddings|bert-base|1536
params of the positional encoding|transformer-base|0
params of biases|t5-base|0
params of layer normalization per layer|bert-base|3072
params of a single LayerNorm|bert-base|1536
params of W^Q in one layer|bert-base|589824
params of $W_{K}$ in one layer|bert-base|589824
params of the query matrix in one layer|bert-base|589824
params of the output projection in one layer|bert-base|590592
params of Q, K and V projections in one layer|bert-base|1771776
params of W_Q, W_K, W_V and W_O in one layer|bert-base|2359296
params of W_Q, W_K and W_V for one head|attention d_model=512 heads=8|98304
params of one attention head|bert-base|147648
parameters per head without biases|attention d_model=512 heads=8|98304
params of attention biases per layer|bert-base|3072
params of the 12 layers|bert-base|85054464
params of layers.3|bert-base|7087872
non-embedding parameters|bert-base|85645056
params in one layer (no bias)|bert-base|7080960
params in one layer excluding biases and layer norm|bert-base|7077888
params of the classification head|bert-base head=classify classes=5|3845
parameters in the classification head|vit-b16|769000
parameters of the linear projection of patches|vit-b16|590592
What is the dimension of each attention head?|bert-base|64
dimension per head|bert-base|64
d_ff|t5-v1.1-base|2048
hidden size|bert-base|768
how many attention heads?|bert-base|12
size of the vocabulary|bert-base|30522
length of a flattened patch|vit-b16|768
how many patches are there?|vit-b16 image=384|576
what is the sequence length?|vit-b16|197
scaling factor|bert-base|8
What is the shape of the attention score matrix for one head?|bert-base t=128|(128, 128)
shape of Q K^T|bert-base t=10|(1, 12, 10, 10)
What are the dimensions of $W_i^Q$?|transformer-base|(512, 64)
dimension of the output of each head|transformer-base t=10|(1, 10, 64)
shape of the concatenation of the heads|bert-base t=10|(1, 10, 768)
shape of the hidden layer of the ffn|bert-base t=10|(1, 10, 3072)
shape of the input to the encoder|bert-base t=10|(1, 10, 768)
shape of the CLS vector|bert-base t=10|(1, 768)
size of the embedding matrix|bert-base|(30522, 768)
How many attention scores are computed per head?|bert-base t=512|262144
How many attention weights in all layers?|bert-base t=512|37748736
How many parameters do the two linear layers of the FFN have per layer?|bert-base|4722432
Parameter count for multi-head attention (including biases) in one layer|bert-base|2362368
How many parameters does a single attention head have (Q, K, V only)?|bert-base|147648
How many numbers does the score matrix hold for one head?|bert-base t=20|400
how many params does the LM head add|bert-base head=mlm|622650
FLOPs for one token through one encoder layer|bert-base t=512|15728640
compute cost of attention per layer in GFLOPs|bert-base t=512|3221225472
How many MB do the attention weights of one layer take in fp32?|bert-base t=512|12582912
RAM needed for Adam's moments|bert-base|875857920
Dimension of the query vector|bert-base|64
width of each head|transformer-base|64
what is the maximum sequence length|bert-base|512
how many tokens enter the encoder?|vit-b16|197
How many weights and biases are there in the feed-forward sublayer of one encoder block?|transformer-base|2099712
Ignoring biases, how many parameters are in one encoder layer's attention?|bert-base|2359296
If biases are excluded, how many parameters does multi-head attention have?|attention d_model=512 heads=8|1048576
How many parameters does the model have if we ignore LayerNorm?|bert-base|109443840
How many parameters in the output projection matrix W_O of one layer, bias excluded?|bert-base|589824
number of bias parameters in the FFN of one layer|bert-base|3840
How many biases are there in one encoder layer?|layer d_model=512 heads=8|4608
How many parameters are there in all 12 encoder layers together?|bert-base|85054464
How many parameters do the six encoder layers have in total?|transformer-base|18914304
How many parameters do sinusoidal positional encodings add?|transformer-base|0
How many parameters does a token classification head with 9 labels have?|bert-base head=tag classes=9|6921
How many parameters does a Transformer encoder layer with d_model = 512, h = 8 and d_ff = 2048 have?|layer|3152384
What's the parameter count of one BERT-large layer?|bert-large|12596224
How many parameters for Q, K, V and O in total per layer without bias?|bert-base|2359296
What is the shape of K^T for a single head?|transformer-base t=20|(1, 64, 20)
State the dimensions of the matrix Q K^T if there are 12 tokens.|transformer-base|(1, 8, 12, 12)
shape of softmax(QK^T / sqrt(d_k))|bert-base t=16|(1, 12, 16, 16)
shape of softmax(QK^T/√d_k)V for one head|bert-base t=16|(1, 16, 64)
$\frac{QK^T}{\sqrt{d_k}}$ shape for one head|bert-base t=16|(1, 16, 16)
What is the shape of each head's value matrix?|transformer-base t=10|(10, 64)
Shape of the output after the first linear layer of the FFN|transformer-base t=10|(1, 10, 2048)
What is the shape of the bias b_1?|transformer-base|(2048,)
What is the shape of X W_Q?|bert-base t=10|(1, 10, 12, 64)
What is the shape of the input sequence after adding the CLS token?|vit-b16|(1, 197, 768)
Given a sequence of 50 tokens, what is the shape of the score matrix in each head?|transformer-base|(50, 50)
How many attention heads are there in total in the model?|bert-base|144
How many patches does ViT-B/16 split a 224x224 image into?|vit-b16|196
What is the number of patches along with the class token?|vit-b16|197
What is the sequence length for ViT-B/16 at resolution 384?|vit-b16-384|577
How many GFLOPs are needed for one training step?|bert-base t=128|67045294080
FLOPs for the backward pass|bert-base t=128|44696862720
What does a single encoder layer cost in FLOPs per token at length 256?|bert-base|14942208
Estimate the multiply-accumulate count of the first linear layer of the FFN for 128 tokens, per layer.|bert-base|301989888
Memory for weights, gradients and Adam states in fp32|bert-base|1751715840
How much VRAM do the parameters and gradients need together in fp32?|bert-base|875857920
Total training memory with Adam in fp32 (no activations)|bert-base|1751715840
How much memory do Q, K and V take in one layer in fp16?|bert-base t=512|2359296
How big is the model in fp16 (MiB)?|bert-base|218964480
What is the head dimension if d_model is 512 with 8 heads?|transformer-base|64
In a Transformer with h=8 heads and d_model=512, what is d_k?|transformer-base|64
How wide is the hidden layer in the position-wise feed-forward network?|transformer-base|2048
What do we divide the attention scores by?|bert-base|8
By which number are the dot products divided?|transformer-base|8
What is the expansion factor of the FFN?|bert-base|4
How many output neurons does the classification layer have?|bert-base head=classify classes=3|3
How many outputs does the softmax of the MLM head have?|bert-base head=mlm|30522
How many tokens are in a batch?|bert-base batch=32 t=128|4096
How many parameters are there in a LayerNorm with hidden size 768?|bert-base|1536
how many LayerNorms does BERT-base have?|bert-base|25
params of attention with its biases in one layer|bert-base|2362368
param count of a single encoder block of BERT-base incl. biases and layernorm?|bert-base|7087872
I'm trying to work out how many weights there are in the attention of BERT base, per layer, ignoring biases.|bert-base|2359296
Shape of Q, K and V for each head if seq len is 128|bert-base|(1, 128, 64)
what's the shape of the attention scores before softmax with batch size 32 and 128 tokens?|bert-base|(32, 12, 128, 128)
output shape of the encoder for batch 8, seq len 64|bert-base|(8, 64, 768)
What is the shape of the logits for a 3-class classifier with batch size 16?|bert-base head=classify classes=3|(16, 3)
How big is the attention matrix for 1024 tokens (one head)?|transformer-base|(1024, 1024)
what is the shape of W1 in the FFN|bert-base|(768, 3072)
how big is one head|bert-base|64
How large is d_ff|bert-base|3072
how much memory do attention scores take for seq len 4096 in fp16, one layer|transformer-base|268435456
kv cache for batch 4, 512 tokens in fp32|bert-base|150994944
size of kv cache per token in fp16|bert-base|36864
how much gpu memory to load bert-base in half precision|bert-base|218964480
how many multiplications are needed to compute Q for 10 tokens in one layer|transformer-base|2621440
what sequence length makes attention as expensive as the ffn|bert-base|1536
total training flops per step, batch 32, seq len 128|bert-base|2145449410560
Number of patches in a 224x224 image with 32x32 patches|vit-b32|49
How many patches do we get from a 384x384 image with patch size 16?|vit-b16-384|576
how many parameters does the MLM head add to BERT if tied?|bert-base head=mlm|622650
params of the NSP head|bert-base head=pretrain|1538
params of the MLM head|bert-base head=pretrain|622650
memory of the MLM head in fp32|bert-base head=pretrain|2490600
What does sqrt(d_k) equal for BERT-base?|bert-base|8
How many attention matrices are computed in one forward pass of BERT-base?|bert-base|144
how many dot products are computed for attention in one head with 10 tokens?|bert-base|100
""".strip().splitlines()]  # fmt: skip


@pytest.mark.parametrize(("question", "spec", "value"), ANSWERED)
def test_a_question_in_other_words_is_answered(question, spec, value):
    assert str(ask(question, request_from_words(spec.split())).value) == value


NOT_UNDERSTOOD = (
    """
is BERT bigger than RoBERTa|number of bananas|params of the decoder|params of cross attention
params of the last layer|flops of softmax|flops without attention|shape of weights without batch|params if heads=8
memory in fp8|number of parameters per token|parameters per sequence|shape of W_O in MB|params in fp16|flops of ffn in MB
params of the embeddings per head|params of the pooler in one layer|memory of the scores during training
number of tokens in bananas|scaling factor of the ffn|patches per head
how many position embeddings|How many weights are in the attention matrix?|number of parameters per class|FLOPs per second
How many parameters are saved by tying?|Memory for activations, weights and gradients|How many sequences fit in 16 GB?
flops of the pooler per token|params of positions in one layer|share of params|shape
""".replace("\n", "|")
    .strip("|")
    .split("|")
)


@pytest.mark.parametrize("question", NOT_UNDERSTOOD)
def test_what_is_not_understood_is_said_in_one_line_and_never_answered(question):
    with pytest.raises(GlassformerError):
        ask(question, request_from_words(("bert-base",)))


@pytest.mark.parametrize(
    ("question", "message"),
    [
        ("How many parameters does RoBERTa have?", "names another model than the spec, bert-base"),
        ("params of BERT-large", "names another model"),
        ("number of heads in BERT-large", "names another model"),
        ("params of 6 layers", "speaks of 6 layers, and this encoder has 12. Write layers=6."),
    ],
)
def test_a_question_about_another_encoder_is_not_answered_for_this_one(question, message):
    with pytest.raises(GlassformerError, match=message):
        ask(question, request_from_words(("bert-base",)))


def test_a_name_is_found_without_the_noun_that_adds_nothing():
    assert looked_up("the Feed-Forward sub-layers", PART_NAMES) == "ffn"
    assert looked_up("the Feed-Forward bananas", PART_NAMES) is None
    assert looked_up("the Feed-Forward blocks", PART_NAMES) == "ffn"
    assert looked_up("attention matrices", TENSOR_NAMES) == "attention.weights"
    assert plain("The [CLS] vectors") == "cls vector"


@pytest.mark.parametrize(
    ("question", "meant"),
    [
        ("parms of W_O", "params"),
        ("flosp of ffn", "flops"),
        ("memry in fp16", "memory"),
        ("shpae of weights", "shape"),
        ("flops of atention", "attention"),
        ("memory of atention weights", "attention weight"),
    ],
)
def test_a_slip_in_one_word_is_answered_with_the_word(question, meant):
    with pytest.raises(GlassformerError, match=f"Did you mean '{meant}'"):
        ask(question, request_from_words(("bert-base",)))


@pytest.mark.parametrize(
    ("question", "spec", "message"),
    [
        ("params of the MLM head", "bert-base head=classify", "this encoder has head=classify, and no MLM head. Write head=mlm."),
        ("params of the classifier", "bert-base head=mlm", "and no classification head. Write head=classify."),
        ("params of the NSP head", "bert-base head=classify classes=3", "and no NSP head. Write head=pretrain."),
        ("share of params in the MLM head", "bert-base head=pretrain", "of the two heads of head=pretrain"),
        ("params of attention with biases and layernorm", "bert-base", "the norms are no part of that"),
    ],
)
def test_a_part_that_this_encoder_does_not_have_is_not_answered_with_another(question, spec, message):
    with pytest.raises(GlassformerError, match=message):
        ask(question, request_from_words(spec.split()))
