"""What can an assistant ask? The commands as tools of the Model Context Protocol, over standard input and output."""
