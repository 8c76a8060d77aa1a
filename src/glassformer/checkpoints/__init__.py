"""Model folders: finds the tensor in a file for each parameter, from the config and file headers only."""
