// The kernels of put_along_axis on a CPU.
#pragma once

#include "math/copy.h"
#include "math/for_each_index.h"

namespace paddle_mini {
namespace {

template <class T>
void PutKernel<T>::run(KernelContext& context) {
  along.check();
  if (result.data() != input.data()) copy_n(context, input.data(), input.numel(), result.data());
  if (putting.rule != PutRule::Assign && !putting.self) {
    along.each(context, true, [this](int64_t, int64_t at) { result[at] = putting.none<T>(); });
  }
  if (putting.rule != PutRule::Mean) {
    return along.each(context, true,
                      [this](int64_t i, int64_t at) { result[at] = putting.join(result[at], value[i]); });
  }
  fill_n(context, counts.data(), counts.numel(), int64_t{0});
  along.each(context, true, [this](int64_t i, int64_t at) {
    result[at] = putting.join(result[at], value[i]);
    ++counts[at];
  });
  for_each_index(context, result.numel(), [this](int64_t i) { result[i] = putting.finish(result[i], counts[i]); });
}

template <class T>
void PutGradKernel<T>::run(KernelContext& context) {
  along.check();
  const bool adds = putting.rule == PutRule::Add;
  if (putting.rule == PutRule::Assign) {
    along.each(context, true, [this](int64_t i, int64_t at) { counts[at] = i; });
  } else if (!adds) {
    fill_groups(context);
  }
  if (input_gradient) {
    copy_n(context, result_gradient.data(), result_gradient.numel(), input_gradient.data());
    if (!putting.self) {
      along.each(context, true, [this](int64_t, int64_t at) { input_gradient[at] = T(0); });
    } else if (!adds) {
      along.each(context, true, [this](int64_t, int64_t at) {
        const PutGroup<T> group{counts[at], products[at]};
        input_gradient[at] = group.gradient(putting, result_gradient[at], of(input, at), of(result, at));
      });
    }
  }
  if (!value_gradient) return;
  along.each(context, false, [this, adds](int64_t i, int64_t at) {
    const T g = result_gradient[at];
    if (adds) value_gradient[i] = g;
    else if (putting.rule == PutRule::Assign) value_gradient[i] = counts[at] == i ? g : T(0);
    else value_gradient[i] = PutGroup<T>{counts[at], products[at]}.gradient(putting, g, of(value, i), of(result, at));
  });
}

template <class T>
void PutGradKernel<T>::fill_groups(KernelContext& context) {
  auto add = [this](int64_t at, T one) {
    PutGroup<T> group{counts[at], products[at]};
    group.add(putting, one, of(result, at));
    counts[at] = group.count, products[at] = group.product;
  };
  for_each_index(context, counts.numel(), [this, add](int64_t at) {
    counts[at] = 0, products[at] = T(1);
    if (putting.self) add(at, of(input, at));
  });
  along.each(context, true, [this, add](int64_t i, int64_t at) { add(at, of(value, i)); });
}

}  // namespace
}  // namespace paddle_mini
