// fill_constant: Out = value, everywhere
#include <cerrno>
#include <cstdlib>

#include "core/op_table.h"
#include "math/fill.h"

namespace paddle_mini {
namespace {

// `str_value` is exact where the FLOAT attribute is not: 0.1 of float64, large whole numbers.
template <class T>
T value_of(const KernelInit& init) {
  const std::string& digits = init.attr<std::string>("str_value");
  if (digits.empty()) return number_as<T>(static_cast<double>(init.attr<float>("value")));
  char* end = nullptr;
  if constexpr (std::is_same_v<T, int64_t>) {
    errno = 0;
    int64_t whole = std::strtoll(digits.c_str(), &end, 10);
    if (*end == 0 && errno == 0) return whole;
  }
  double number = std::strtod(digits.c_str(), &end);
  require<ProgramError>(end != digits.c_str() && *end == 0, "attribute 'str_value' is '", printable(digits),
                        "', which is no number");
  return number_as<T>(number);
}

template <class T>
struct FillConstantKernel : FillKernel<T> {
  explicit FillConstantKernel(KernelInit& init) : FillKernel<T>(init, value_of<T>(init)) {}
};

}  // namespace

void define_fill_constant(OpTable& ops) {
  ops.add(OpSpec("fill_constant")
              .doc("Out = value in every element.")
              .output("Out", "of shape `shape`")
              .attr("shape", std::vector<int64_t>{}, "shape of Out; empty: one element")
              .attr("dtype", static_cast<int32_t>(DType::Float32), "element type of Out")
              .attr("value", 0.0f, "the value")
              .attr("str_value", "", "the value in decimal, \"inf\" or \"nan\"; used instead of `value` unless empty")
              .attr("force_cpu", false, "that Out is on the CPU whatever the place")
              .infer([](InferContext& c) { c.set_output("Out", c.dtype_attr("dtype"), c.shape_attr("shape")); })
              .no_gradient("it has no inputs")
              .dtype_from_output("Out")
              .kernels<FillConstantKernel, float, double, bool, uint8_t, int8_t, int16_t, int32_t, int64_t>());
}

}  // namespace paddle_mini
