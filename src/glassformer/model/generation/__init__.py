"""Text from a decoder, token by token: cache, greedy decoding, beam search, sampling."""
