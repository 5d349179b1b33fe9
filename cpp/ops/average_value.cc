// average_value: the averaged parameters as they are used: the mean of the window's two generations
#include "core/op_table.h"
#include "math/map.h"

namespace paddle_mini {
namespace {

template <class T>
struct AverageValueKernel : Kernel {
  In<T> param, average, previous;
  In<int64_t> counters;  // of average_weight: updates, n in this generation, n in the previous one, steps
  Out<T> out;

  explicit AverageValueKernel(KernelInit& init)
      : param(init, "Param"), average(init, "Average"), previous(init, "Previous", optional_port),
        counters(init, "Counters"), out(init, "Out") {}

  void run(Device& device) override {
    int64_t updates = counters[0], newer = counters[1], older = counters[2];
    if (updates == 0) return copy(param.data());
    if (!previous || older == 0) return copy(average.data());
    if (newer == 0) return copy(previous.data());
    T share = static_cast<T>(static_cast<double>(older) / static_cast<double>(newer + older));
    auto mean = [share](auto now, auto before) { return now + decltype(now)(share) * (before - now); };
    map(device, param.numel(), mean, out.data(), average.data(), previous.data());
  }

  void copy(const T* from) {
    if (from != out.data()) std::copy_n(from, param.numel(), out.data());
  }
};

void infer_average_value(InferContext& c) {
  require_same_dtype(c, "Param", "Average");
  require_same_shape(c, "Param", "Average");
  if (c.has_input("Previous")) {
    require_same_dtype(c, "Param", "Previous");
    require_same_shape(c, "Param", "Previous");
  }
  const VarInfo& counters = c.input("Counters");
  require<ShapeError>(counters.dtype == DType::Int64, "Counters is ", name_of(counters.dtype), ", it must be int64");
  require<ShapeError>(shapes_agree(counters.shape, Shape{4}), "Counters has shape ", counters.shape.str(),
                      ", it must be [4]");
  c.set_output("Out", c.input("Param"));
}

}  // namespace

void define_average_value(OpTable& ops) {
  ops.add(OpSpec("average_value")
              .doc("What stands for a parameter while averages are applied: Average; with Previous, the mean over both "
                   "generations of the window, (n Average + m Previous) / (n + m); before the first update, Param "
                   "itself.")
              .input("Param", "any shape")
              .input("Average", "shape of Param, of parameter_average")
              .optional_input("Previous", "shape of Param, of parameter_average")
              .input("Counters", "[4] int64, of average_weight")
              .output("Out", "shape of Param")
              .infer(infer_average_value)
              .no_gradient("an average of parameters is not differentiated")
              .in_place("Param", "Out")
              .kernels<AverageValueKernel, float, double>());
}

}  // namespace paddle_mini
