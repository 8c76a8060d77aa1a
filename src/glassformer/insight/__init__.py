"""What do the parts of a trained model do? Hooks by step name, ablation, gradients, lens, patching and probes."""
