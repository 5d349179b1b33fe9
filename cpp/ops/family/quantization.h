// Numbers rounded to the integers of a few bits, times a scale: the parts of the operators of quantized models.
#pragma once

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/op_table.h"
#include "math/axis_folds.h"
#include "math/copy.h"
#include "math/for_each_index.h"

namespace paddle_mini {

// Integers from -bins to bins, and -bins - 1 if halves are rounded to even ones; else halves are rounded away from 0.
struct QuantizedRange {
  double bins;
  bool to_even;

  explicit QuantizedRange(const KernelInit& init)
      : bins((int64_t{1} << (init.attr<int32_t>("bit_length") - 1)) - 1),
        to_even(init.attr<int32_t>("round_type") == 0) {}
};

// The integer of x where `scale` is that of `bins`.
template <class T>
struct Quantize {
  T bins;
  bool to_even;

  explicit Quantize(const QuantizedRange& range) : bins(static_cast<T>(range.bins)), to_even(range.to_even) {}
  PM_HD T operator()(T x, T scale) const {
    T inverse = T(1) / (scale <= T(1e-6) ? scale + T(1e-6) : scale);
    if (!to_even) return std::round(bins * inverse * std::min(std::max(x, -scale), scale));
    return std::min(std::max(std::rint(bins * inverse * x), -bins - T(1)), bins);
  }
};

template <class T>
struct Dequantize {
  T bins;

  PM_HD T operator()(T x, T scale) const { return x * scale / bins; }
};

template <class T>
struct QuantizeDequantize {
  Quantize<T> quantize;

  PM_HD T operator()(T x, T scale) const { return quantize(x, scale) * scale / quantize.bins; }
};

struct SizeOfNumber {
  template <class T>
  PM_HD T operator()(T x) const {
    return x < T(0) ? -x : x;
  }
};

struct LargerNumber {
  template <class T>
  PM_HD T operator()(T a, T b) const {
    return b > a ? b : a;
  }
};

// Which axes share a scale: all but `axis`, or all for -1.
inline std::vector<bool> axes_of_scale(const Shape& x, int32_t axis) {
  std::vector<bool> reduced(static_cast<size_t>(x.rank()), true);
  if (axis >= 0) reduced[static_cast<size_t>(axis)] = false;
  return reduced;
}

// OutAccum = rate InAccum + max |X|, OutState = rate InState + 1, OutScale = OutAccum / OutState
template <class T>
struct AverageScale {
  T rate;
  const T *most, *accum_in, *state_in;
  T *accum, *state, *out_scale, *scale;

  PM_HD void operator()(int64_t) const {
    T sum = rate * accum_in[0] + most[0], weight = rate * state_in[0] + T(1);
    scale[0] = sum / weight;
    if (accum) accum[0] = sum;
    if (state) state[0] = weight;
    if (out_scale) out_scale[0] = scale[0];
  }
};

template <class T>
struct CurrentScale {
  const T *accum, *state;
  T* scale;

  PM_HD void operator()(int64_t) const { scale[0] = accum[0] / state[0]; }
};

// An output that a step does not change has the value of its input; without one it keeps what its variable holds.
template <class T>
void keep(KernelContext& context, const In<T>& before, const Out<T>& after) {
  if (!before || !after || before.data() == after.data()) return;
  copy_n(context, before.data(), before.numel(), after.data());
}

template <class T>
struct MovingScale {
  In<T> accum_in, state_in;
  Out<T> accum, state, out_scale;
  AxisFolds folds;
  Scratch<T> most, scale;
  T rate;

  MovingScale(KernelInit& init, const Shape& x, float rate)
      : accum_in(init, "InAccum", optional_port), state_in(init, "InState", optional_port),
        accum(init, "OutAccum", optional_port), state(init, "OutState", optional_port),
        out_scale(init, "OutScale", optional_port), folds(x, axes_of_scale(x, -1)), most(init, 1), scale(init, 1),
        rate(static_cast<T>(rate)) {}

  // Writes the outputs; the result is OutScale.
  const T* update(KernelContext& context, const T* x) const {
    auto data = [](const Out<T>& port) { return port ? port.data() : nullptr; };
    folds.fold(context, SizeOfNumber{}, LargerNumber{}, T(0), most.data(), x);
    AverageScale<T> average{rate,        most.data(), accum_in.data(), state_in.data(),
                            data(accum), data(state), data(out_scale), scale.data()};
    for_each_index(context, 1, average);
    return scale.data();
  }

  void keep_state(KernelContext& context) const {
    keep(context, accum_in, accum);
    keep(context, state_in, state);
  }
};

inline OpSchema with_moving_scale(OpSchema schema) {
  return schema.optional_input("InAccum", "[1]: the sum of OutScale; needed unless is_test")
      .optional_input("InState", "[1]: its weight; needed unless is_test")
      .optional_output("OutScale", "the scale of this run")
      .optional_output("OutState", "[1]: moving rate InState + 1; InState with is_test")
      .optional_output("OutAccum", "[1]: moving rate InAccum + max |X|; InAccum with is_test")
      .updates("InState", "OutState")
      .updates("InAccum", "OutAccum")
      .attr("is_test", false, "whether the scale is not updated");
}

// OutState and OutAccum, of the type of `port`.
inline void infer_state(InferContext& c, const char* port) {
  for (auto [before, after] : {std::pair("InAccum", "OutAccum"), std::pair("InState", "OutState")}) {
    require<ProgramError>(c.has_input(before) || !c.has_output(after), after, " is given without ", before);
    if (!c.has_input(before)) continue;
    require_scalar(c, before);
    require_same_dtype(c, port, before);
    c.set_output(after, c.input(port).dtype, Shape{1});
  }
}

inline void require_state(const InferContext& c) {
  for (const char* port : {"InAccum", "InState"})
    require<ProgramError>(c.attr<bool>("is_test") || c.has_input(port), port, " is missing, but is_test is false");
}

inline void infer_moving_scale(InferContext& c) {
  require_state(c);
  infer_state(c, "X");
  c.set_output("OutScale", c.input("X").dtype, Shape{1});
}

// X@GRAD = Out@GRAD, as if numbers were not rounded. PaddlePaddle's name of the operator.
inline std::vector<OpDesc> straight_through(const OpDesc& op) {
  return {make_op("stright_throuth_estimator_grad", {{"Out@GRAD", gradient_names(op.output("Out"))}},
                  {{"X@GRAD", gradient_names(op.input("X"))}})};
}

inline OpSchema with_bits(OpSchema schema, int32_t round_type) {
  return schema.attr("bit_length", 8, "bits of an integer", between(2, 16))
      .attr("round_type", round_type, "0: halves are rounded to even integers; 1: away from 0", between(0, 1));
}

}  // namespace paddle_mini
