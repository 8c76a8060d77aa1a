"""How does it learn? Data, the loop, runs, curves, one machine or many."""
