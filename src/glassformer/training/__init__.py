"""Training: data, the training loop, runs and curves, on one machine or many."""
