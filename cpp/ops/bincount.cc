// bincount: Out[v] = how often the number v occurs in X, or the sum of the weights of its occurrences
#include <algorithm>
#include <type_traits>

#include "core/op_table.h"

namespace paddle_mini {
namespace {

// Numbers beyond this are more likely a mistake than a table of that size.
constexpr int64_t kMostBins = INT32_MAX;

// `x` has the integers, of X or of its value in `infer`. Returns the number of bins.
template <class Integers>
int64_t count_bins(const Integers& x, int64_t n, int64_t least) {
  for (int64_t i = 0; i < n; ++i) {
    int64_t value = x[static_cast<size_t>(i)];
    require<OpError>(value >= 0 && value < kMostBins, "X has ", value, " at element ", i,
                     ", numbers to count must be from 0 to ", kMostBins - 1);
    least = std::max(least, value + 1);
  }
  return least;
}

struct BincountKernel : Kernel {
  IndexIn x;
  const Variable* weights;
  Variable& out;

  explicit BincountKernel(KernelInit& init) : x(init, "X"), weights(init.input("Weights")), out(*init.output("Out")) {}

  void run(KernelContext&) override {
    if (!weights) return add([](int64_t) { return int64_t{1}; }, out.tensor.as<int64_t>());
    switch (weights->tensor.dtype) {
      case DType::Float32: return add_weights<float, float>();
      case DType::Float64: return add_weights<double, double>();
      case DType::Int32: return add_weights<int32_t, double>();
      default: return add_weights<int64_t, double>();
    }
  }
  template <class Weight, class Sum>
  void add_weights() const {
    const Weight* of = weights->tensor.as<Weight>();
    add([of](int64_t i) { return static_cast<Sum>(of[i]); }, out.tensor.as<Sum>());
  }
  template <class F, class Sum>
  void add(F weight, Sum* to) const {
    std::fill_n(to, out.tensor.shape.numel(), Sum(0));
    for (int64_t i = 0, n = x.numel(); i < n; ++i) to[x[i]] += weight(i);
  }
};

void infer_bincount(InferContext& c) {
  require_tensors(c);
  require_index(c, "X");
  require_rank(c, "X", 1);
  DType sums = DType::Int64;
  if (c.has_input("Weights")) {
    DType dtype = c.input("Weights").dtype;
    bool known = dtype == DType::Float32 || dtype == DType::Float64 || dtype == DType::Int32 || dtype == DType::Int64;
    require<ShapeError>(known, "Weights is ", name_of(dtype), ", it must be float32, float64, int32 or int64");
    require<ShapeError>(shapes_agree(c.shape("Weights"), c.shape("X")), "Weights has shape ", c.shape("Weights").str(),
                        ", X has ", c.shape("X").str());
    sums = dtype == DType::Float32 ? DType::Float32 : DType::Float64;
  }
  Shape out{-1};
  if (auto x = c.integers("X")) out[0] = count_bins(*x, static_cast<int64_t>(x->size()), c.attr<int32_t>("minlength"));
  c.set_output("Out", sums, out);
}

}  // namespace

void define_bincount(OpTable& ops) {
  ops.add(OpSchema("bincount")
              .doc("Out[v] = how often v occurs in X, or with Weights the sum of the weights of its occurrences. A "
                   "negative number is an error.")
              .input("X", "[n], int32 or int64, at least 0")
              .optional_input("Weights", "[n]")
              .output("Out",
                      "[the largest number + 1, at least minlength]: int64; with Weights float32 if they are float32, "
                      "else float64")
              .attr("minlength", 0, "the least length of Out", at_least(0))
              .infer(infer_bincount)
              .no_gradient("PaddlePaddle has none either")
              .cpu_only("the size of its result depends on data")
              .kernel_for_any<BincountKernel>());
}

}  // namespace paddle_mini
