// Gradients of gradients of normalizations, in one formula: batch_norm_grad_grad, instance_norm_double_grad. They are those
// of PaddlePaddle's programs; second gradients of programs written here are formulas of other operators.
#pragma once

#include "core/op_table.h"
#include "math/cpu/each_item.h"

namespace paddle_mini {

// Elements that share a mean and a deviation: element i is at begin + i / run * stride + i % run.
struct NormGroup {
  int64_t begin, size, run, stride;
  int64_t at(int64_t i) const { return begin + i / run * stride + i % run; }
};

// With xhat = (x - mean) s, s = 1 / deviation, the first gradients for g, that of the result, are
//   x' = scale s (g - mean(g) - xhat mean(g xhat)), scale' = sum g xhat, bias' = sum g
// and these are the gradients of u x' + a scale' + b bias', for second gradients u, a and b.
template <class T>
struct NormSecond {
  const T *x, *g, *u;  // u: nullptr for zeros
  T scale, a, b, mean, s;
  bool constant;  // mean and deviation do not depend on x: the means of g and of g xhat are left out
  T *to_x, *to_g;  // nullptr: not wanted

  // Returns the gradient of scale.
  T run(const NormGroup& group) const {
    const T n = static_cast<T>(group.size);
    T sum_u = 0, sum_g = 0, u_xhat = 0, g_xhat = 0, u_g = 0;
    for (int64_t i = 0; i < group.size; ++i) {
      int64_t at = group.at(i);
      T second = u ? u[at] : T(0), xhat = (x[at] - mean) * s;
      sum_u += second, sum_g += g[at], u_g += second * g[at];
      u_xhat += second * xhat, g_xhat += g[at] * xhat;
    }
    const T by_scale = s * (constant ? u_g : u_g - sum_u * sum_g / n - u_xhat * g_xhat / n);
    // h, the derivative by xhat, and its means.
    auto h = [&](int64_t at) {
      T second = u ? u[at] : T(0);
      return a * g[at] - (constant ? T(0) : scale * s / n * (second * g_xhat + g[at] * u_xhat));
    };
    T sum_h = 0, h_xhat = 0;
    for (int64_t i = 0; i < group.size && !constant; ++i) {
      int64_t at = group.at(i);
      sum_h += h(at), h_xhat += h(at) * (x[at] - mean) * s;
    }
    for (int64_t i = 0; i < group.size; ++i) {
      int64_t at = group.at(i);
      T second = u ? u[at] : T(0), xhat = (x[at] - mean) * s;
      if (to_g) {
        T moved = constant ? second : second - sum_u / n - xhat * u_xhat / n;
        to_g[at] = scale * s * moved + a * xhat + b;
      }
      // The last term is that of s, on which x' depends beside xhat.
      if (to_x) to_x[at] = s * (constant ? h(at) : h(at) - sum_h / n - xhat * (h_xhat + scale * by_scale) / n);
    }
    return by_scale;
  }
};

}  // namespace paddle_mini
