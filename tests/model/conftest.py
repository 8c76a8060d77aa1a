"""One thread each: the tensors are tiny, and the test processes already share the cores."""

import torch

torch.set_num_threads(1)
