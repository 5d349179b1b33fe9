// f(i) for every i below n, in any order: for what is no map.
//   template <class F> void for_each_index(Device& device, int64_t n, F f);
#pragma once

#include "core/kernel.h"

#include PM_LAUNCHERS(for_each_index)
