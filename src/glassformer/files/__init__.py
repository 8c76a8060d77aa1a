"""Reading untrusted files with limits: JSON, TOML, safetensors, tokenizers."""
