"""Low-rank adapters: small trained matrices beside frozen ones; added to a model, merged, read and written in peft's layout."""
