// Whether two numbers are nearly equal, and the tolerances of the operators allclose and isclose.
#pragma once

#include <cmath>

#include "core/op_table.h"
#include "core/target.h"
#include "math/complex.h"

namespace paddle_mini {

inline void is_number(const std::string& name, const AttrValue& value) {
  number_in(name, std::get<std::string>(value));
}

template <class T>
struct IsClose {
  double rtol, atol;
  bool equal_nan;

  static PM_HD bool is_nan(T x) {
    if constexpr (is_complex_number<T>) return std::isnan(x.real) || std::isnan(x.imag);
    else return std::isnan(x);
  }
  PM_HD bool operator()(T a, T b) const {
    using R = real_part_of<T>;
    using std::abs;
    if (is_nan(a) || is_nan(b)) return equal_nan && is_nan(a) && is_nan(b);
    if (a == b) return true;
    R apart = abs(a - b), allowed = static_cast<R>(atol + rtol * static_cast<double>(abs(b)));
    // PaddlePaddle tolerates 1e-15 beyond the bound.
    return apart <= allowed || abs(apart - allowed) <= R(1e-15);
  }
};

// The inputs of a kernel: two tensors and the tolerances.
template <class T>
struct CloseInputs {
  In<T> input, other;
  NumberIn rtol_in, atol_in;
  double rtol, atol;
  bool equal_nan;

  explicit CloseInputs(const KernelInit& init)
      : input(init, "Input"), other(init, "Other"), rtol_in(init, "Rtol", optional_port),
        atol_in(init, "Atol", optional_port), rtol(number_in("rtol", init.attr<std::string>("rtol"))),
        atol(number_in("atol", init.attr<std::string>("atol"))), equal_nan(init.attr<bool>("equal_nan")) {}
};

// The schema without doc, output, infer and kernels.
inline OpSchema comparison_of_close(const char* type) {
  return OpSchema(type)
      .input("Input", "any shape")
      .input("Other", "shape and element type of Input")
      .optional_input("Rtol", "one number, which replaces the attribute")
      .optional_input("Atol", "one number, which replaces the attribute")
      .attr("rtol", "1e-5", "a number as text", is_number)
      .attr("atol", "1e-8", "a number as text", is_number)
      .attr("equal_nan", false, "whether NaN is equal to NaN")
      .no_gradient("its output is bool")
      .on_gpu();
}

inline void check_close_inputs(const InferContext& c) {
  require_tensors(c);
  require_same_shape(c, "Input", "Other");
  require_same_dtype(c, "Input", "Other");
  for (const char* port : {"Rtol", "Atol"}) {
    if (!c.has_input(port)) continue;
    require_number(c, port);
    require_scalar(c, port);
  }
}

}  // namespace paddle_mini
