// CPU kernels of average_accumulates.
#pragma once

namespace paddle_mini {
namespace {

template <class T>
void AverageAccumulatesKernel<T>::run(KernelContext& context) {
  int64_t update = updates[0] + 1, count = accumulates[0] + 1, older = old_accumulates[0];
  bool ends = window_ends(update, count, window, longest, shortest);
  if (ends) end_window(context);
  else add(context, update % kLongestSum == 0);
  updates_out[0] = update;
  accumulates_out[0] = ends ? 0 : count;
  old_accumulates_out[0] = ends ? count : older;
}

template <class T>
void AverageAccumulatesKernel<T>::end_window(KernelContext& context) {
  auto step = [](auto p, auto s1, auto s2) {
    using V = decltype(p);
    return std::tuple(V(T(0)), V(T(0)), (s1 + p) + s2);
  };
  map(context, param.numel(), step, std::tuple(sum1_out.data(), sum2_out.data(), sum3_out.data()), param.data(),
      sum1.data(), sum2.data());
}

template <class T>
void AverageAccumulatesKernel<T>::add(KernelContext& context, bool spills) {
  copy_all(context, sum3, sum3_out);
  if (spills) {
    auto step = [](auto p, auto s1, auto s2) { return std::tuple(decltype(p)(T(0)), s2 + (s1 + p)); };
    map(context, param.numel(), step, std::tuple(sum1_out.data(), sum2_out.data()), param.data(), sum1.data(),
        sum2.data());
  } else {
    copy_all(context, sum2, sum2_out);
    map(context, param.numel(), [](auto p, auto s1) { return s1 + p; }, sum1_out.data(), param.data(), sum1.data());
  }
}

}  // namespace
}  // namespace paddle_mini
