"""/metrics of this node's GPUs: DCGM's names and more, attributed to pods, never silent."""
