"""Analysis of trained models: hooks by step name, ablation, saliency, logit lens, patching and probes."""
