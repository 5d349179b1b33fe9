// Turns exceptions into statuses of the C interface, with a message for each thread.
#pragma once

#include <exception>

#include "capi/paddle_mini.h"

namespace paddle_mini::capi {

// Called in a handler: stores the message of the current exception, and returns its status.
int failed() noexcept;
const char* last_error() noexcept;

template <class F>
int guarded(F f) noexcept {
  try {
    f();
    return PM_OK;
  } catch (...) { return failed(); }
}

}  // namespace paddle_mini::capi
