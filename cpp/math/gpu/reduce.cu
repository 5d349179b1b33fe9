// Sums over axes and their gradients on a GPU.
#include "math/reduce.h"

#include "math/gpu/fold.h"

namespace paddle_mini {
namespace {

template <class T>
struct GetElement {
  const T* x;
  PM_DEVICE T operator()(const int64_t (&at)[1]) const { return x[at[0]]; }
};

template <class T>
struct PutScaled {
  T scale;
  T* out;
  PM_DEVICE void operator()(int64_t o, SumOf<T> sum) const { out[o] = static_cast<T>(static_cast<T>(sum) * scale); }
};

template <class T>
struct Spread {
  StridedIndex<1> index_map;
  T scale;
  const T* y;
  T* out;

  PM_DEVICE void operator()() const {
    for (int64_t i = block_index() * kThreads + thread_index(); i < index_map.count; i += block_count() * kThreads) {
      int64_t at[1] = {};
      index_map.move(i, at);
      out[i] = static_cast<T>(y[at[0]] * scale);
    }
  }
};

}  // namespace

template <class T>
void Reduction::sum(KernelContext& context, T scale, const T* x, T* out) const {
  StridedIndex<1> remaining, folded;
  int64_t step = inner_.size;
  (inner_.reduced ? folded : remaining).add(inner_.size, {1});
  for (auto dim = outer_.rbegin(); dim != outer_.rend(); ++dim) {
    (dim->reduced ? folded : remaining).add(dim->size, {step});
    step *= dim->size;
  }
  fold(context, remaining, folded, SumOf<T>(0), GetElement<T>{x}, Plus{}, PutScaled<T>{scale, out});
}

template <class T>
void Reduction::spread(KernelContext& context, T scale, const T* y, T* out) const {
  StridedIndex<1> index_map;
  index_map.add(inner_.size, {inner_.out_step});
  for (auto dim = outer_.rbegin(); dim != outer_.rend(); ++dim) index_map.add(dim->size, {dim->out_step});
  launch(context, blocks_for(index_map.count), Spread<T>{index_map, scale, y, out});
}

template void Reduction::sum<float>(KernelContext&, float, const float*, float*) const;
template void Reduction::sum<double>(KernelContext&, double, const double*, double*) const;
template void Reduction::sum<int32_t>(KernelContext&, int32_t, const int32_t*, int32_t*) const;
template void Reduction::sum<int64_t>(KernelContext&, int64_t, const int64_t*, int64_t*) const;
template void Reduction::spread<float>(KernelContext&, float, const float*, float*) const;
template void Reduction::spread<double>(KernelContext&, double, const double*, double*) const;
template void Reduction::spread<int32_t>(KernelContext&, int32_t, const int32_t*, int32_t*) const;
template void Reduction::spread<int64_t>(KernelContext&, int64_t, const int64_t*, int64_t*) const;

}  // namespace paddle_mini
