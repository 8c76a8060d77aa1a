"""What is in this file? Untrusted files, read with limits: JSON, TOML, safetensors, tokenizers."""
