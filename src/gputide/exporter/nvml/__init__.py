"""The node's real GPUs, by NVIDIA's own NVML binding."""
