// The kernels of put_along_axis on a GPU.
#pragma once

namespace paddle_mini {
namespace {

template <class T>
void PutKernel<T>::run(KernelContext& context) {
  using Combine = SegmentedScatter::Combine;
  by_element.sort(context, positions_of(context, along));
  int64_t n = input.numel();
  if (!add) by_element.put<Combine::Last>(context, 1, n, 1, input.data(), value.data(), result.data());
  else if (!replaces) by_element.put<Combine::AddTo>(context, 1, n, 1, input.data(), value.data(), result.data());
  else by_element.put<Combine::SumInstead>(context, 1, n, 1, input.data(), value.data(), result.data());
}

// Pairs with the same target element are adjacent. Only the last value put there has a gradient.
template <class T>
struct GradientOfLast {
  const SegmentedScatter::Pair* pairs;
  int64_t count, elements;
  const T* from;
  T* to;

  PM_DEVICE void operator()(int64_t i) const {
    int64_t element = pairs[i].target;
    if (element >= elements) return;  // an index out of range is refused
    bool last = i + 1 == count || pairs[i + 1].target != element;
    to[pairs[i].source] = last ? from[element] : T(0);
  }
};

template <class T>
void PutGradKernel<T>::run(KernelContext& context) {
  int64_t n = along.index.numel();
  if (input_gradient) {
    copy_n(context, result_gradient.data(), result_gradient.numel(), input_gradient.data());
    if (replaces) zero_slabs(context, positions_of(context, along), n, 1, input_gradient.data());
  }
  if (!value_gradient) return;
  int64_t elements = result_gradient.numel();
  const T* from = result_gradient.data();
  T* to = value_gradient.data();
  if (add) return gather_slabs(context, positions_of(context, along), 1, n, elements, sizeof(T), from, to);
  by_element.sort(context, positions_of(context, along));
  for_each_index(context, n, GradientOfLast<T>{by_element.pairs(), n, elements, from, to});
}

}  // namespace
}  // namespace paddle_mini
