// The kernels of sum on a CPU.
#pragma once

#include "math/copy.h"
#include "math/cpu/accumulate.h"

namespace paddle_mini {
namespace {

template <class T>
void add_tensors(KernelContext& context, int64_t n, const std::vector<In<T>>& tensors, T* out) {
  Plus add;
  size_t count = tensors.size();
  if (count == 1 && tensors[0].data() != out) copy_n(context, tensors[0].data(), n, out);
  if (count == 2) map(context, n, add, out, tensors[0].data(), tensors[1].data());
  if (count < 3) return;
  constexpr int64_t tile = 1024;
  const double cost = bytes_cost(sizeof(T) * static_cast<double>(count + 1));
  parallel_for(context, {n, cost, tile}, [&](int64_t first, int64_t end) {
    T partial[tile];
    for (int64_t begin = first; begin < end; begin += tile) {
      int64_t size = std::min(tile, end - begin);
      map(context, size, add, partial, tensors[0].data() + begin, tensors[1].data() + begin);
      for (size_t i = 2; i + 1 < count; ++i) {
        map(context, size, add, partial, static_cast<const T*>(partial), tensors[i].data() + begin);
      }
      map(context, size, add, out + begin, static_cast<const T*>(partial), tensors[count - 1].data() + begin);
    }
  });
}

// Out[i] = the sum of the elements i that have a value.
void add_arrays(ControlRun& run) {
  Variable sum;
  sum.kind = VarKind::TensorArray;
  for (size_t i = 0; i < run.op.input("X").size(); ++i) accumulate(sum, run.input("X", i));
  run.set_output("Out", 0, std::move(sum));
}
constexpr ControlFunction kAddArrays = &add_arrays;

}  // namespace
}  // namespace paddle_mini
