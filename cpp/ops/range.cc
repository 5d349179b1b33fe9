// range: Out = Start, Start + Step, Start + 2 Step, ..., excluding End
#include <cmath>

#include "core/op_table.h"

namespace paddle_mini {
namespace {

template <class T>
int64_t count_of(T start, T end, T step) {
  require<OpError>(step != 0, "Step is 0");
  double count = std::ceil((static_cast<double>(end) - static_cast<double>(start)) / static_cast<double>(step));
  require<OpError>(count == count, "Start, End or Step is not a number");
  if constexpr (std::is_integral_v<T>) {
    if ((end > start) != (step > 0) || end == start) return 0;
    // Unsigned arithmetic, since the distance may exceed the range of T.
    uint64_t distance = step > 0 ? static_cast<uint64_t>(end) - static_cast<uint64_t>(start)
                                 : static_cast<uint64_t>(start) - static_cast<uint64_t>(end);
    uint64_t stride = step > 0 ? static_cast<uint64_t>(step) : uint64_t{0} - static_cast<uint64_t>(step);
    count = static_cast<double>((distance - 1) / stride + 1);
  }
  require<OpError>(count < 9e15, "Out would have ", count, " elements");
  return count > 0 ? static_cast<int64_t>(count) : 0;
}

template <class T>
int64_t count_of(const InferContext& c) {
  auto number = [&](const char* port) { return *c.value(port)->tensor.as<T>(); };
  return count_of(number("Start"), number("End"), number("Step"));
}

template <class T>
struct RangeKernel : Kernel {
  In<T> start, step;
  Out<T> out;

  explicit RangeKernel(KernelInit& init) : start(init, "Start"), step(init, "Step"), out(init, "Out") {}
  void run(KernelContext&) override {
    T value = start[0];
    for (int64_t i = 0; i < out.numel(); ++i, value = static_cast<T>(value + step[0])) out[i] = value;
  }
};

void infer_range(InferContext& c) {
  DType dtype = c.input("Start").dtype;
  for (const char* port : {"Start", "End", "Step"}) {
    require_scalar(c, port);
    require_same_dtype(c, port, "Start");
  }
  Shape shape{-1};
  if (c.value("Start")) {
    shape[0] = dtype == DType::Int64     ? count_of<int64_t>(c)
               : dtype == DType::Int32   ? count_of<int32_t>(c)
               : dtype == DType::Float64 ? count_of<double>(c)
                                         : count_of<float>(c);
  }
  c.set_output("Out", dtype, shape);
}

}  // namespace

void define_range(OpTable& ops) {
  ops.add(OpSchema("range")
              .doc("Out = Start, Start + Step, Start + 2 Step, ... up to End, exclusive. The number of elements "
                   "depends on data.")
              .input("Start", "one element")
              .input("End", "one element of Start's type")
              .input("Step", "one element of Start's type, not 0")
              .output("Out", "[n]")
              .infer(infer_range)
              .no_gradient("its inputs are counts and positions, which have no gradient")
              .cpu_only("the size of its result depends on data")
              .kernels<RangeKernel, float, double, int32_t, int64_t>());
}

}  // namespace paddle_mini
