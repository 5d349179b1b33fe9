// The kernels of put_along_axis on a CPU.
#pragma once

namespace paddle_mini {
namespace {

template <class T>
void PutKernel<T>::run(KernelContext& context) {
  along.check();
  if (result.data() != input.data()) std::copy_n(input.data(), input.numel(), result.data());
  if (add && replaces) along.each(context, true, [this](int64_t, int64_t at) { result[at] = T(0); });
  if (add)
    along.each(context, true, [this](int64_t i, int64_t at) { result[at] = static_cast<T>(result[at] + value[i]); });
  else along.each(context, true, [this](int64_t i, int64_t at) { result[at] = value[i]; });
}

template <class T>
void PutGradKernel<T>::run(KernelContext& context) {
  along.check();
  if (input_gradient) {
    std::copy_n(result_gradient.data(), result_gradient.numel(), input_gradient.data());
    if (replaces) along.each(context, true, [this](int64_t, int64_t at) { input_gradient[at] = T(0); });
  }
  if (!value_gradient) return;
  if (!add) along.each(context, true, [this](int64_t i, int64_t at) { last[at] = i; });
  along.each(context, true,
             [this](int64_t i, int64_t at) { value_gradient[i] = add || last[at] == i ? result_gradient[at] : T(0); });
}

}  // namespace
}  // namespace paddle_mini
