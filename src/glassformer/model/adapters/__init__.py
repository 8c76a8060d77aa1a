"""Low-rank adapters: small trained matrices beside frozen ones, put on from outside, merged, and in the layout of peft."""
