"""A server for vectors of texts: OpenAI-compatible /v1/embeddings, requests batched together by tokens."""
