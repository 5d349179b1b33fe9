// assign_value: Out = constant values stored in the program
#include <algorithm>

#include "core/op_table.h"

namespace paddle_mini {
namespace {

// The attribute that holds values of type T, and the type of the attribute's elements.
template <class T> struct ValuesOf;
template <> struct ValuesOf<float> {
  using Element = float;
  static constexpr const char* attr = "fp32_values";
};
template <> struct ValuesOf<double> {
  using Element = double;
  static constexpr const char* attr = "fp64_values";
};
template <> struct ValuesOf<int32_t> {
  using Element = int32_t;
  static constexpr const char* attr = "int32_values";
};
template <> struct ValuesOf<int64_t> {
  using Element = int64_t;
  static constexpr const char* attr = "int64_values";
};
template <> struct ValuesOf<bool> {
  using Element = int32_t;
  static constexpr const char* attr = "bool_values";
};

template <class T>
struct AssignValueKernel : Kernel {
  using Element = typename ValuesOf<T>::Element;
  Out<T> out;
  std::vector<Element> values;

  explicit AssignValueKernel(KernelInit& init)
      : out(init, "Out"), values(init.attr<std::vector<Element>>(ValuesOf<T>::attr)) {}
  void run(KernelContext& context) override;
};

template <class T>
std::pair<const char*, size_t> values_given(const InferContext& c) {
  const char* attr = ValuesOf<T>::attr;
  return {attr, c.attr<std::vector<typename ValuesOf<T>::Element>>(attr).size()};
}

std::pair<const char*, size_t> values_given(const InferContext& c, DType dtype) {
  switch (dtype) {
    case DType::Float32: return values_given<float>(c);
    case DType::Float64: return values_given<double>(c);
    case DType::Int32: return values_given<int32_t>(c);
    case DType::Int64: return values_given<int64_t>(c);
    case DType::Bool: return values_given<bool>(c);
    default:
      fail<ProgramError>("attribute 'dtype' is ", name_of(dtype),
                         ", for which the operator has no attribute of values");
  }
}

}  // namespace
}  // namespace paddle_mini

#include PM_KERNELS(assign_value)

namespace paddle_mini {

void define_assign_value(OpTable& ops) {
  ops.add(OpSchema("assign_value")
              .doc("Out = the values in the attribute that belongs to `dtype`, in the order of the elements.")
              .output("Out", "the attribute `shape` is its shape")
              .required_attr("shape", AttrType::Ints, "shape of Out; empty: one element")
              .required_attr("dtype", AttrType::Int, "element type of Out: float32, float64, int32, int64 or bool")
              .attr("fp32_values", std::vector<float>{}, "the values if dtype is float32")
              .attr("fp64_values", std::vector<double>{}, "the values if dtype is float64")
              .attr("int32_values", std::vector<int32_t>{}, "the values if dtype is int32")
              .attr("int64_values", std::vector<int64_t>{}, "the values if dtype is int64")
              .attr("bool_values", std::vector<int32_t>{}, "the values, 0 or 1, if dtype is bool")
              .infer([](InferContext& c) {
                Shape shape = c.shape_attr("shape");
                auto [attr, count] = values_given(c, c.dtype_attr("dtype"));
                require<ProgramError>(static_cast<int64_t>(count) == shape.numel(), "attribute '", attr, "' has ",
                                      count, " values, shape ", shape.str(), " needs ", shape.numel());
                c.set_output("Out", c.dtype_attr("dtype"), shape);
              })
              .no_gradient("it has no inputs")
              .on_gpu()
              .kernels<AssignValueKernel, float, double, int32_t, int64_t, bool>());
}

}  // namespace paddle_mini
