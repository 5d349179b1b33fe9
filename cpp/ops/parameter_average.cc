// parameter_average: AverageOut = Average + Weight (Param - Average)
#include "core/op_table.h"
#include "math/map.h"

namespace paddle_mini {
namespace {

// Subtract, multiply, add, each rounded by itself: every device gives the same bits.
template <class T>
struct Lerp {
  T weight;
  template <class V>
  V operator()(V average, V param) const { return average + V(weight) * (param - average); }
};

template <class T>
void copy(int64_t n, const T* from, T* to) {
  if (from != to) std::copy_n(from, n, to);
}

template <class T>
struct ParameterAverageKernel : Kernel {
  In<T> param, average, previous;
  NumberIn weight;
  In<int32_t> roll;
  Out<T> average_out, previous_out;

  explicit ParameterAverageKernel(KernelInit& init)
      : param(init, "Param"), average(init, "Average"), previous(init, "Previous", optional_port),
        weight(init, "Weight"), roll(init, "Roll", optional_port), average_out(init, "AverageOut"),
        previous_out(init, "PreviousOut", optional_port) {}

  void run(Device& device) override {
    int64_t n = param.numel();
    T w = static_cast<T>(weight[0]);
    bool rolls = roll && roll[0] != 0 && w != T(0);
    // A generation that ends is written where the previous one was; the next begins with weight 1,
    // which does not read what Average holds.
    T* target = rolls ? previous_out.data() : average_out.data();
    if (w == T(1)) copy(n, param.data(), target);
    else if (w == T(0)) copy(n, average.data(), target);
    else map(device, n, Lerp<T>{w}, target, average.data(), param.data());
    if (rolls) copy(n, average.data(), average_out.data());
    else if (previous_out) copy(n, previous.data(), previous_out.data());
  }
};

void infer_parameter_average(InferContext& c) {
  require_same_dtype(c, "Param", "Average");
  require_same_shape(c, "Param", "Average");
  require_number(c, "Weight");
  require_scalar(c, "Weight");
  bool given[] = {c.has_input("Previous"), c.has_input("Roll"), c.has_output("PreviousOut")};
  require<ProgramError>(given[0] == given[1] && given[1] == given[2],
                        "Previous, Roll and PreviousOut are given all or none");
  if (given[0]) {
    require_same_dtype(c, "Param", "Previous");
    require_same_shape(c, "Param", "Previous");
    require<ShapeError>(c.input("Roll").dtype == DType::Int32, "Roll is ", name_of(c.input("Roll").dtype),
                        ", it must be int32");
    require_scalar(c, "Roll");
    c.set_output("PreviousOut", c.input("Previous"));
  }
  c.set_output("AverageOut", c.input("Average"));
}

}  // namespace

void define_parameter_average(OpTable& ops) {
  ops.add(
      OpSpec("parameter_average")
          .doc("AverageOut = Average + Weight (Param - Average), rounded after each of the three operations. Weight 1 "
               "gives Param itself, weight 0 leaves everything as it is. Where Roll is 1 the result goes to "
               "PreviousOut, and Average stays. The Weight comes from average_weight, which knows the scheme; this "
               "operator does not.")
          .input("Param", "any shape")
          .input("Average", "shape of Param")
          .input("Weight", "one element, float32 or float64, between 0 and 1; rounded to Param's dtype")
          .optional_input("Previous", "shape of Param: the average of the window's previous generation")
          .optional_input("Roll", "one element, int32: 1 where a generation ends")
          .output("AverageOut", "the variable of Average")
          .optional_output("PreviousOut", "the variable of Previous")
          .infer(infer_parameter_average)
          .no_gradient("an average of parameters is not differentiated")
          .updates("Average", "AverageOut")
          .updates("Previous", "PreviousOut")
          .kernels<ParameterAverageKernel, float, double>());
}

}  // namespace paddle_mini
