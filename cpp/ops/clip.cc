// clip: Out = min(max(X, low), high)
#include <cmath>
#include <cstring>
#include <limits>

#include "core/op_table.h"
#include "math/selected_rows.h"
#include "math/scalar_arg.h"
#include "ops/family/renamed_ports.h"

namespace paddle_mini {
namespace {

// The T nearest to a number; integers saturate.
template <class T>
T bound(float number) {
  if constexpr (std::is_floating_point_v<T>) return static_cast<T>(number);
  double wide = static_cast<double>(number);
  if (wide >= static_cast<double>(std::numeric_limits<T>::max())) return std::numeric_limits<T>::max();
  if (wide <= static_cast<double>(std::numeric_limits<T>::min())) return std::numeric_limits<T>::min();
  return static_cast<T>(number);
}

template <class T>
struct Clip {
  T low, high;
  template <class V>
  PM_HD V operator()(V v) const {
    return minimum(maximum(v, V(low)), V(high));
  }
};

template <class T>
struct PassWithin {
  T low, high;
  template <class V>
  PM_HD V operator()(V v, V gradient) const {
    return select(v > V(low), select(v < V(high), gradient, V(T(0))), V(T(0)));
  }
};

template <class T, template <class> class Step>
struct WithBounds {
  ScalarArg<T> low, high;
  PM_HD Step<T> bind_scalars() const { return {low(), high()}; }
};

// The bounds of X: the inputs Min and Max if they are given, otherwise the attributes.
template <class T>
struct Bounds {
  In<T> min, max;
  T low, high;

  explicit Bounds(const KernelInit& init)
      : min(init, "Min", optional_port), max(init, "Max", optional_port), low(bound<T>(init.attr<float>("min"))),
        high(bound<T>(init.attr<float>("max"))) {}

  bool may_fail_validation() const { return min || max; }
  template <template <class> class Step>
  WithBounds<T, Step> step() const {
    return {scalar_or(min, low), scalar_or(max, high)};
  }

  void check(KernelContext& context) const;
  static void require_order(T low, T high) {
    require<OpError>(!(low > high), "the lower bound, ", low, ", is above the upper one, ", high);
  }
  static void refuse(const Fault& fault) {
    T low, high;
    std::memcpy(&low, &fault.value, sizeof low);
    std::memcpy(&high, &fault.at, sizeof high);
    require_order(low, high);
  }
};

template <class T>
struct ClipKernel : Kernel {
  In<T> x;
  Out<T> out;
  Bounds<T> bounds;
  int64_t width = 1;
  RowMerge merge;
  std::vector<RowValues<T>> lists{1};

  explicit ClipKernel(KernelInit& init) : x(init, "X"), out(init, "Out"), bounds(init) {
    if (!x.is_rows()) return;
    width = x.shape().numel(1, x.shape().rank());
    merge = RowMerge(x.shape()[0]);
  }

  bool may_fail_validation() const override { return bounds.may_fail_validation(); }
  void refuse(const Fault& fault) const override { bounds.refuse(fault); }

  void run(KernelContext& context) override {
    bounds.check(context);
    const T* from = x.data();
    if constexpr (has_vec<T>) {
      if (x.is_rows()) {
        lists[0] = {&x.variable().rows, x.data()};
        merge.run(context, lists, width, out.data());
        out.variable().set_rows(merge.rows());
        from = out.data();
      }
    }
    map(context, out.numel(), bounds.template step<Clip>(), out.data(), from);
  }
};

template <class T>
struct ClipGradKernel : Kernel {
  In<T> x, out_gradient;
  Out<T> x_gradient;
  Bounds<T> bounds;

  explicit ClipGradKernel(KernelInit& init)
      : x(init, "X"), out_gradient(init, "Out@GRAD"), x_gradient(init, "X@GRAD"), bounds(init) {}

  bool may_fail_validation() const override { return bounds.may_fail_validation(); }
  void refuse(const Fault& fault) const override { bounds.refuse(fault); }

  void run(KernelContext& context) override {
    bounds.check(context);
    map(context, x.numel(), bounds.template step<PassWithin>(), x_gradient.data(), x.data(), out_gradient.data());
  }
};

struct ClipSecondPorts {
  static constexpr const char* type = "clip_grad";
  static constexpr std::pair<const char*, const char*> inputs[] = {
      {"X", "X"}, {"Min", "Min"}, {"Max", "Max"}, {"Out@GRAD", "grad_x@GRAD"}};
  static constexpr std::pair<const char*, const char*> outputs[] = {{"X@GRAD", "grad_out@GRAD"}};
};

std::vector<OpDesc> clip_second_gradient(const OpDesc& first) {
  std::vector<Slot> inputs = {{"X", first.input("X")}, {"grad_x@GRAD", gradient_names(first.output("X@GRAD"))}};
  for (const char* port : {"Min", "Max"})
    if (!first.input(port).empty()) inputs.push_back({port, first.input(port)});
  return {
      make_op("clip_double_grad", inputs, {{"grad_out@GRAD", gradient_names(first.input("Out@GRAD"))}}, first.attrs)};
}

void check_bounds(const InferContext& c) {
  for (const char* port : {"Min", "Max"}) {
    if (!c.has_input(port)) continue;
    require<ShapeError>(c.input(port).kind == VarKind::Tensor, port, " is ", name_of(c.input(port).kind),
                        ", it must be a tensor");
    require_scalar(c, port);
    require_same_dtype(c, "X", port);
  }
  float low = c.attr<float>("min"), high = c.attr<float>("max");
  bool ordered = low <= high || c.has_input("Min") || c.has_input("Max");
  require<ProgramError>(ordered, "attribute 'min' is ", low, ", which is not at most 'max', ", high);
}

void infer_clip(InferContext& c) {
  check_bounds(c);
  const VarInfo& x = c.input("X");
  if (x.kind != VarKind::Tensor) require_rows(c, "X");
  c.set_output("Out", x);
}

}  // namespace
}  // namespace paddle_mini

#include PM_KERNELS(clip)

namespace paddle_mini {

void define_clip(OpTable& ops) {
  ops.add(OpSchema("clip")
              .doc("Out = min(max(X, min), max), element by element; NaN stays NaN. Duplicate rows of selected rows "
                   "are merged first.")
              .input("X", "any shape; a tensor or selected rows")
              .optional_input("Min", "one element; replaces `min`")
              .optional_input("Max", "one element; replaces `max`")
              .output("Out", "shape of X")
              .required_attr("min", AttrType::Float, "lower bound")
              .required_attr("max", AttrType::Float, "upper bound")
              .accepts_selected_rows("X")
              .infer(infer_clip)
              .gradient("clip_grad", {"X", "Min", "Max", "Out@GRAD"}, {"X@GRAD"})
              .checks_data()
              .on_gpu()
              .kernels<ClipKernel, float, double, int32_t, int64_t>());
  ops.add(ops.gradient_of("clip")
              .doc("X@GRAD = Out@GRAD where min < X < max, else 0.")
              .gradient(clip_second_gradient)
              .in_place("Out@GRAD", "X@GRAD")
              .checks_data()
              .kernels<ClipGradKernel, float, double>());
  ops.add(OpSchema("clip_double_grad")
              .doc("The gradient of clip_grad: grad_out@GRAD = grad_x@GRAD where min < X < max, else 0.")
              .input("X", "from clip")
              .optional_input("Min", "one element; replaces `min`")
              .optional_input("Max", "one element; replaces `max`")
              .input("grad_x@GRAD", "the gradient of the gradient of X")
              .output("grad_out@GRAD", "the gradient of the gradient of Out")
              .required_attr("min", AttrType::Float, "lower bound")
              .required_attr("max", AttrType::Float, "upper bound")
              .infer([](InferContext& c) {
                require_tensors(c);
                check_bounds(c);
                require_same_dtype(c, "X", "grad_x@GRAD");
                require_same_shape(c, "X", "grad_x@GRAD");
                c.set_output("grad_out@GRAD", c.input("X"));
              })
              .in_place("grad_x@GRAD", "grad_out@GRAD")
              .checks_data()
              .on_gpu()
              .kernels<RenamedPorts<ClipGradKernel, ClipSecondPorts>::For, float, double>());
}

}  // namespace paddle_mini
