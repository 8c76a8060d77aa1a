"""Text from a decoder, token by token: cache, greedy choice, beam search, sampling."""
