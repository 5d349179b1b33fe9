// Random numbers for a GPU are generated on the host and copied.
#pragma once

#include <vector>
#include "cuda/copy.h"

namespace paddle_mini {

// make(to) writes n elements on the host, which are copied to `out`: the same numbers on every device.
template <class T, class Make>
void make_on_host(KernelContext& context, int64_t n, T* out, Make make) {
  std::vector<T> made(static_cast<size_t>(n));
  make(made.data());
  upload(context, made.data(), made.size() * sizeof(T), out);
}

}  // namespace paddle_mini
