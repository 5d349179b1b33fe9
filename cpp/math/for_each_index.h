// for_each_index: calls f(i) for every i in [0, n), in any order, for kernels that are not element-wise maps.
//   template <class F> void for_each_index(KernelContext& context, int64_t n, F f);
#pragma once

#include "core/kernel.h"

#include PM_LAUNCHERS(for_each_index)
