"""The worker's processes: the zygote, the child process of a run, its limits and its messages."""
