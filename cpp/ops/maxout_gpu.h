// The kernels of maxout on a GPU.
#pragma once

namespace paddle_mini {
namespace {

// Maps element i of Out to the first element of X in its group.
struct MaxoutPlace {
  int64_t groups, inner;
  PM_DEVICE int64_t first(int64_t i) const { return i / inner * groups * inner + i % inner; }
};

template <class T>
struct LargestOfGroup : MaxoutPlace {
  const T* x;
  T* out;
  PM_DEVICE void operator()(int64_t i) const {
    int64_t from = first(i);
    T most = x[from];
    for (int64_t g = 1; g < groups; ++g) most = maximum(most, x[from + g * inner]);
    out[i] = most;
  }
};

template <class T>
struct ToLargest : MaxoutPlace {
  const T *x, *out, *out_gradient;
  T* to;
  PM_DEVICE void operator()(int64_t i) const {
    bool found = false;
    for (int64_t g = 0, at = first(i); g < groups; ++g, at += inner) {
      bool here = !found && x[at] == out[i];
      to[at] = here ? out_gradient[i] : T(0);
      found = found || here;
    }
  }
};

template <class T>
void MaxoutKernel<T>::run(KernelContext& context) {
  LargestOfGroup<T> body{{blocks.groups, blocks.inner}, x.data(), out.data()};
  for_each_index(context, out.numel(), body);
}

template <class T>
void MaxoutGradKernel<T>::run(KernelContext& context) {
  ToLargest<T> body{{blocks.groups, blocks.inner}, x.data(), out.data(), out_gradient.data(), x_gradient.data()};
  for_each_index(context, out.numel(), body);
}

}  // namespace
}  // namespace paddle_mini
