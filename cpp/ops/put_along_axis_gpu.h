// The kernels of put_along_axis on a GPU: one thread for each element of Result.
#pragma once

namespace paddle_mini {
namespace {

template <class T>
struct PutElement {
  Putting putting;
  const SegmentedScatter::Pair* pairs;
  int64_t count;
  const T *input, *value;
  T* result;

  PM_DEVICE void operator()(int64_t i) const {
    const int64_t first = segmented_scatter_gpu::first_of(pairs, count, i);
    int64_t at = first;
    T total = input[i];
    if (at < count && pairs[at].target == i && !putting.self) total = putting.none<T>();
    for (; at < count && pairs[at].target == i; ++at) total = putting.join(total, value[pairs[at].source]);
    result[i] = putting.finish(total, at - first);
  }
};

template <class T>
void PutKernel<T>::run(KernelContext& context) {
  by_element.sort(context, positions_of(context, along));
  PutElement<T> put{putting, by_element.pairs(), along.index.numel(), input.data(), value.data(), result.data()};
  for_each_index(context, input.numel(), put);
}

// Pointers to inputs that the rule does not need, and to outputs that are not wanted, are nullptr.
template <class T>
struct PutElementGradient {
  Putting putting;
  const SegmentedScatter::Pair* pairs;
  int64_t count;
  const T *result_gradient, *input, *value, *result;
  T *input_gradient, *value_gradient;

  PM_DEVICE void operator()(int64_t i) const {
    const T g = result_gradient[i], found = result ? result[i] : T(0), own = input ? input[i] : T(0);
    const int64_t first = segmented_scatter_gpu::first_of(pairs, count, i);
    int64_t end = first;
    PutGroup<T> group{0, T(1)};
    if (putting.self) group.add(putting, own, found);
    for (; end < count && pairs[end].target == i; ++end) group.add(putting, value_of(end), found);
    if (input_gradient) {
      if (end == first) input_gradient[i] = g;
      else input_gradient[i] = putting.self ? group.gradient(putting, g, own, found) : T(0);
    }
    for (int64_t at = first; value_gradient && at < end; ++at) {
      T part = putting.rule == PutRule::Assign ? (at + 1 == end ? g : T(0))
                                               : group.gradient(putting, g, value_of(at), found);
      value_gradient[pairs[at].source] = part;
    }
  }
  PM_DEVICE T value_of(int64_t at) const { return value ? value[pairs[at].source] : T(0); }
};

template <class T>
void PutGradKernel<T>::run(KernelContext& context) {
  const int64_t n = along.index.numel(), elements = result_gradient.numel();
  const T* from = result_gradient.data();
  T *to_input = input_gradient ? input_gradient.data() : nullptr,
    *to_value = value_gradient ? value_gradient.data() : nullptr;
  if (putting.rule == PutRule::Add) {
    if (to_input) copy_n(context, from, elements, to_input);
    if (to_input && !putting.self) zero_slabs(context, positions_of(context, along), n, 1, to_input);
    if (to_value) gather_slabs(context, positions_of(context, along), 1, n, elements, sizeof(T), from, to_value);
    return;
  }
  by_element.sort(context, positions_of(context, along));
  auto data = [](const In<T>& port) -> const T* { return port ? port.data() : nullptr; };
  PutElementGradient<T> gradient{putting,     by_element.pairs(), n,        from,    data(input),
                                 data(value), data(result),       to_input, to_value};
  for_each_index(context, elements, gradient);
}

}  // namespace
}  // namespace paddle_mini
