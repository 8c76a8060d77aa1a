"""Low-rank adapters: small trained matrices for frozen ones; added to a model, merged, read and written in peft's layout."""
