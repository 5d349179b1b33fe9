// put_along_axis: Result = Input with Value put at, or combined with, the positions in Index along an axis
#include <algorithm>
#include <limits>

#include "math/number.h"
#include "math/wrapping_times.h"
#include "ops/family/along_axis.h"

namespace paddle_mini {
namespace {

// How an element of Result is computed from the values put there and, with Include_self, from the element of Input.
enum class PutRule { Assign, Add, Multiply, Mean, Amin, Amax };

PutRule put_rule(const std::string& reduce) {
  if (reduce == "add") return PutRule::Add;
  if (reduce == "mul" || reduce == "multiply") return PutRule::Multiply;
  if (reduce == "mean") return PutRule::Mean;
  if (reduce == "amin") return PutRule::Amin;
  return reduce == "amax" ? PutRule::Amax : PutRule::Assign;
}

struct Putting {
  PutRule rule;
  bool self;  // whether the element of Input counts

  explicit Putting(const KernelInit& init)
      : rule(put_rule(init.attr<std::string>("Reduce"))),
        self(rule != PutRule::Assign && init.attr<bool>("Include_self")) {}
  // Whether the gradients of the values depend on how many there are, or on each other.
  bool grouped() const { return rule != PutRule::Assign && rule != PutRule::Add; }

  // The start of a fold by join().
  template <class T>
  PM_HD T none() const {
    using Limits = std::numeric_limits<T>;
    if (rule == PutRule::Multiply) return T(1);
    if (rule == PutRule::Amin) return Limits::has_infinity ? Limits::infinity() : Limits::max();
    if (rule == PutRule::Amax) return Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
    return T(0);
  }
  template <class T>
  PM_HD T join(T total, T one) const {
    switch (rule) {
      case PutRule::Assign: return one;
      case PutRule::Multiply: return WrappingTimes{}(total, one);
      case PutRule::Amin: return minimum(total, one);
      case PutRule::Amax: return maximum(total, one);
      default: return static_cast<T>(total + one);
    }
  }
  // The result of a fold of `count` values.
  template <class T>
  PM_HD T finish(T total, int64_t count) const {
    return rule == PutRule::Mean && count > 0 ? divided(total, count + (self ? 1 : 0)) : total;
  }

  template <class T>
  PM_HD static T divided(T total, int64_t count) {
    if constexpr (std::is_floating_point_v<T>) return total / static_cast<T>(count);
    else return static_cast<T>(static_cast<int64_t>(total) / count);
  }
};

// Facts that the gradients of all numbers combined to one element share. Multiply: the number of zeros and
// the product of the others; amin, amax: how many equal the result, and share its gradient; mean: how many there are.
template <class T>
struct PutGroup {
  int64_t count;
  T product;

  PM_HD void add(const Putting& putting, T value, T result) {
    if (putting.rule != PutRule::Multiply) count += putting.rule == PutRule::Mean || value == result ? 1 : 0;
    else if (value == T(0)) ++count;
    else product = WrappingTimes{}(product, value);
  }
  // The gradient of one of them.
  PM_HD T gradient(const Putting& putting, T g, T value, T result) const {
    if (putting.rule == PutRule::Mean) return Putting::divided(g, count);
    if (putting.rule != PutRule::Multiply) return value == result ? Putting::divided(g, count) : T(0);
    if (count == 0) return WrappingTimes{}(g, WrappingQuotient{}(product, value));
    return count == 1 && value == T(0) ? WrappingTimes{}(g, product) : T(0);
  }
};

template <class T>
struct PutKernel : Kernel {
  In<T> input, value;
  Out<T> result;
  AlongAxis along;
  Putting putting;
  Scratch<int64_t> counts;      // mean on a CPU: the number of values of each element
  SegmentedScatter by_element;  // on a GPU

  explicit PutKernel(KernelInit& init)
      : input(init, "Input"), value(init, "Value"), result(init, "Result"),
        along(init, input.shape(), init.attr<int32_t>("Axis"), true), putting(init),
        counts(init, kOnGpu || putting.rule != PutRule::Mean ? 0 : input.numel()),
        by_element(init, along.index.numel()) {}

  void refuse(const Fault& fault) const override { along.refuse(fault.value, fault.at); }
  void run(KernelContext& context) override;
};

template <class T>
struct PutGradKernel : Kernel {
  In<T> result_gradient;
  In<T> input, value, result;  // present if the rule needs them
  Out<T> input_gradient, value_gradient;
  AlongAxis along;
  Putting putting;
  Scratch<int64_t> counts;  // on a CPU: of each element's group, or for assign the last value put there, which stays
  Scratch<T> products;  // on a CPU: of each element's group
  SegmentedScatter by_element;  // on a GPU

  explicit PutGradKernel(KernelInit& init)
      : result_gradient(init, "Result@GRAD"), input(init, "Input", optional_port), value(init, "Value", optional_port),
        result(init, "Result", optional_port), input_gradient(init, "Input@GRAD", optional_port),
        value_gradient(init, "Value@GRAD", optional_port),
        along(init, result_gradient.shape(), init.attr<int32_t>("Axis"), true), putting(init),
        counts(init, kOnGpu || putting.rule == PutRule::Add ? 0 : result_gradient.numel()),
        products(init, kOnGpu || !putting.grouped() ? 0 : result_gradient.numel()),
        by_element(init, putting.rule == PutRule::Add ? 0 : along.index.numel()) {}

  void refuse(const Fault& fault) const override { along.refuse(fault.value, fault.at); }
  void run(KernelContext& context) override;
  // On a CPU:
  void fill_groups(KernelContext& context);
  T of(const In<T>& port, int64_t i) const { return port ? port[i] : T(0); }
};

// The inputs that the gradient of a rule reads: Value and Input, with self; for an extreme also Result.
void require_put_inputs(const InferContext& c) {
  const std::string& reduce = c.attr<std::string>("Reduce");
  const PutRule rule = put_rule(reduce);
  const bool extreme = rule == PutRule::Amin || rule == PutRule::Amax, values = extreme || rule == PutRule::Multiply;
  auto check = [&](const char* port, bool needed, const Shape& shape) {
    require<ProgramError>(!needed || c.has_input(port), "input ", port, " is missing, which Reduce ", reduce, " needs");
    if (!needed) return;
    require_same_dtype(c, "Result@GRAD", port);
    require<ShapeError>(shapes_agree(c.shape(port), shape), port, " has shape ", c.shape(port).str(), ", it must have ",
                        shape.str());
  };
  check("Value", values, c.shape("Index"));
  check("Input", values && c.attr<bool>("Include_self"), c.shape("Result@GRAD"));
  check("Result", extreme, c.shape("Result@GRAD"));
}

}  // namespace
}  // namespace paddle_mini

#include PM_KERNELS(put_along_axis)

namespace paddle_mini {

void define_put_along_axis(OpTable& ops) {
  ops.add(
      OpSchema("put_along_axis")
          .doc("Result = Input with the elements of Value written at, or combined with, the positions in Index along "
               "the axis; the other coordinates of an element are those in Value. Negative positions count from the "
               "end; a position out of range is an error.")
          .attr("Axis", 0, "the axis; negative ones count from the end")
          .attr("Reduce", "assign",
                "assign: the last of several values for one element is written; add, mul or multiply, mean, amin, "
                "amax: the sum, product, mean, smallest or largest of all; NaN counts as both extremes",
                one_of({"assign", "add", "mul", "multiply", "mean", "amin", "amax"}))
          .attr("Include_self", true, "except for assign: whether the element of Input is one of them")
          .input("Input", "at least one dimension")
          .input("Index", "Input's shape except along the axis, or smaller; int32 or int64")
          .input("Value", "shape of Index")
          .output("Result", "shape of Input")
          .infer([](InferContext& c) {
            require_tensors(c);
            check_index_along(c, c.shape("Input"), c.attr<int32_t>("Axis"));
            require_same_dtype(c, "Input", "Value");
            require<ShapeError>(shapes_agree(c.shape("Index"), c.shape("Value")), "Value has shape ",
                                c.shape("Value").str(), ", Index has ", c.shape("Index").str());
            c.set_output("Result", c.input("Input"));
          })
          .gradient("put_along_axis_grad", {"Input", "Index", "Value", "Result", "Result@GRAD"},
                    {"Input@GRAD", "Value@GRAD"})
          .in_place("Input", "Result")
          .checks_data("Index")
          .on_gpu()
          .kernels<PutKernel, float, double, int32_t, int64_t, uint8_t>());
  ops.add(
      ops.gradient_of("put_along_axis")
          .doc("Input@GRAD = Result@GRAD where no value is put. Elsewhere the numbers that were combined receive: "
               "assign: the last value Result@GRAD; add: each Result@GRAD; mul: each Result@GRAD times the product of "
               "the others, also where it is 0; mean: equal shares; amin, amax: those that equal Result equal shares. "
               "The others receive 0, as does the element of Input that is not one of them.")
          .optional_input("Input", "only mul, amin and amax with Include_self read it")
          .optional_input("Value", "only mul, amin and amax read it")
          .optional_input("Result", "only amin and amax read it; PaddlePaddle's operator requires it")
          .infer([](InferContext& c) {
            require_tensors(c);
            const VarInfo& result = c.input("Result@GRAD");
            check_index_along(c, result.shape, c.attr<int32_t>("Axis"));
            require_put_inputs(c);
            c.set_output("Input@GRAD", result);
            c.set_output("Value@GRAD", result.dtype, c.shape("Index"));
          })
          .checks_data("Index")
          .kernels<PutGradKernel, float, double, int32_t, int64_t>());
}

}  // namespace paddle_mini
