// Includes the CUDA runtime, or its emulation where kernels are checked on the host (PM_CUDA_ON_HOST).
#pragma once

#ifdef PM_CUDA_ON_HOST
#include "cuda/on_host.h"
#else
#include <cuda_runtime.h>
#endif
