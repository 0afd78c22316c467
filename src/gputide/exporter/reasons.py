"""Why a GPU does not give a field: the words that both device readers print."""

NOT_SUPPORTED = "this GPU or driver does not support it"
NO_GPM = "needs GPM, which NVML has on Hopper and newer"
NOT_ASKED = "not asked for: each sample blocks the driver for 20 ms"
MIG_WHOLE_ONLY = "the driver gives it for whole GPUs only, and MIG mode is on"
ONE_SAMPLE = "known from the second reading on"
