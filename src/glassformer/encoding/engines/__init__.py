"""Engines that compute passes instead of PyTorch: our exported graph, our batches, and a comparison before the first use."""
