"""The node's GPUs as they are watched: states, ages and errors, without threads."""
