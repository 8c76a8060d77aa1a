import sys, time, tempfile, json
sys.path.insert(0,"src"); sys.path.insert(0,"tests")
import numpy as np, torch
from pathlib import Path
import glassformer as gf
from checkpoint_files import add_tokenizer, WORDS
print(torch.__version__, torch.cuda.get_device_name())
d=Path(tempfile.mkdtemp())
spec=gf.spec("bert-base", vocab=31)
torch.manual_seed(0)
gf.save(gf.Encoder(spec), d/"m"); add_tokenizer(d/"m")
rng=np.random.default_rng(0)
texts=[" ".join(rng.choice(WORDS, rng.integers(1,200))) for _ in range(4000)]
t=time.time(); ref=gf.load(d/"m",dtype="float64",device="cuda"); print("load", time.time()-t)
for pool in ("mean","first","last","max","pooled"):
    a=ref.encode(texts[:300],pool=pool)
    for dt in ("float32","bfloat16","float16"):
        m=gf.load(d/"m",dtype=dt,device="cuda")
        b=m.encode(texts[:300],pool=pool)
        print(pool,dt,b.dtype,abs(a-b).max(), "cos", (a*b).sum(-1).min())
m=gf.load(d/"m",dtype="bfloat16",device="cuda"); m.encode(texts[:500])
torch.cuda.synchronize(); t=time.time(); v=m.encode(texts); torch.cuda.synchronize(); dt=time.time()-t
n=sum(len(e.ids) for e in m.tokenizer.encode_batch(texts)); print("encode", len(texts)/dt,"texts/s", n/dt, "tokens/s")
cpu=gf.load(d/"m").encode(texts[:20]); gpu=gf.load(d/"m",device="cuda").encode(texts[:20]); print("cpu-gpu fp32", abs(cpu-gpu).max())
p=m.save(d/"out"); print(gf.load(p,dtype="bfloat16").verdict)
