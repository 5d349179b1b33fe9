// histogram: Out = the number of elements of X in each of several intervals of equal width
#include <algorithm>
#include <cmath>

#include "core/op_table.h"

namespace paddle_mini {
namespace {

template <class T>
struct HistogramKernel : Kernel {
  In<T> x;
  Out<int64_t> out;
  double low, high;

  explicit HistogramKernel(KernelInit& init)
      : x(init, "X"), out(init, "Out"), low(init.attr<int32_t>("min")), high(init.attr<int32_t>("max")) {}

  void run(KernelContext&) override {
    double first = low, last = high;
    const int64_t n = x.numel(), bins = out.numel();
    if (low == high && n > 0) {
      auto [least, greatest] = std::minmax_element(x.data(), x.data() + n);
      first = static_cast<double>(*least), last = static_cast<double>(*greatest);
      for (int64_t i = 0; i < n; ++i) {
        double value = static_cast<double>(x[i]);
        require<OpError>(std::isfinite(value), "X has ", value, " at element ", i,
                         ": attributes 'min' and 'max' are equal, so all elements must be finite");
      }
    }
    if (first == last) first -= 1, last += 1;
    // With it neither the width nor a product with the number of intervals is infinite.
    const double scale = last - first > 1e290 ? 0x1p-80 : 1, begin = first * scale, width = last * scale - begin;
    std::fill_n(out.data(), bins, int64_t{0});
    for (int64_t i = 0; i < n; ++i) {
      double value = static_cast<double>(x[i]);
      if (!(value >= first && value <= last)) continue;
      double place = (value * scale - begin) * static_cast<double>(bins) / width;
      ++out[place < static_cast<double>(bins) ? static_cast<int64_t>(place) : bins - 1];
    }
  }
};

}  // namespace

void define_histogram(OpTable& ops) {
  ops.add(OpSchema("histogram")
              .doc("Out = the number of elements of X in each of `bins` intervals of equal width from min to max; the "
                   "last one includes max. If min and max are equal, the range is that of X. Elements outside of the "
                   "range, and NaN, do not count.")
              .input("X", "any shape")
              .output("Out", "[bins], int64")
              .attr("bins", int64_t{100}, "how many intervals", at_least(1))
              .attr("min", 0, "the lower end of the range")
              .attr("max", 0, "the upper end of the range")
              .infer([](InferContext& c) {
                require_tensors(c);
                int32_t low = c.attr<int32_t>("min"), high = c.attr<int32_t>("max");
                require<ProgramError>(low <= high, "attribute 'min' is ", low, ", which is above 'max', ", high);
                c.set_output("Out", DType::Int64, Shape{c.attr<int64_t>("bins")});
              })
              .no_gradient("its output is a number of elements")
              .checks_data()
              .cpu_only("its threads would add to the same numbers")
              .kernels<HistogramKernel, float, double, int32_t, int64_t>());
}

}  // namespace paddle_mini
