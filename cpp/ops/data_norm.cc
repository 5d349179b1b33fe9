// data_norm: Y = (X - Means) Scales, with means and scales from sums over the data so far
#include <cmath>
#include <vector>

#include "core/op_table.h"
#include "math/cpu/each_item.h"

namespace paddle_mini {
namespace {

// X as rows of `width` columns. With slots, whose first column counts how often an id has been seen, a slot of count 0 is
// left out: its columns of Y are 0, and it does not count in sums.
template <class T>
struct DataNormRows {
  In<T> x;
  int64_t rows, width, slot;

  explicit DataNormRows(const KernelInit& init)
      : x(init, "X"), rows(x.shape()[0]), width(x.shape()[1]), slot(init.attr<int32_t>("slot_dim")) {}

  bool skips(int64_t row, int64_t column) const {
    constexpr T least(1e-7f);
    return slot > 0 && std::abs(x[row * width + column / slot * slot]) < least;
  }
  LoopSize loop(int64_t items, int64_t length) const { return {items, flops_cost(4.0 * static_cast<double>(length))}; }
};

template <class T>
struct DataNormKernel : Kernel {
  DataNormRows<T> data;
  In<T> scale, bias, size, sum, square_sum;
  Out<T> y, means, scales;

  explicit DataNormKernel(KernelInit& init)
      : data(init), scale(init, "scale_w", optional_port), bias(init, "bias", optional_port), size(init, "BatchSize"),
        sum(init, "BatchSum"), square_sum(init, "BatchSquareSum"), y(init, "Y"), means(init, "Means"),
        scales(init, "Scales") {}

  void run(KernelContext& context) override {
    for (int64_t j = 0; j < data.width; ++j) {
      means[j] = sum[j] / size[j];
      scales[j] = std::sqrt(size[j] / square_sum[j]);
    }
    each_item(context, data.loop(data.rows, data.width), [&](int64_t i) {
      for (int64_t j = 0; j < data.width; ++j) {
        T value = (data.x[i * data.width + j] - means[j]) * scales[j];
        if (scale) value = value * scale[j] + bias[j];
        y[i * data.width + j] = data.skips(i, j) ? T(0) : value;
      }
    });
  }
};

template <class T>
struct DataNormGradKernel : Kernel {
  DataNormRows<T> data;
  In<T> scale, means, scales, y_gradient;
  Out<T> x_gradient, scale_gradient, bias_gradient, size_gradient, sum_gradient, square_gradient;
  T epsilon;

  explicit DataNormGradKernel(KernelInit& init)
      : data(init), scale(init, "scale_w", optional_port), means(init, "Means"), scales(init, "Scales"),
        y_gradient(init, "Y@GRAD"), x_gradient(init, "X@GRAD", optional_port),
        scale_gradient(init, "scale_w@GRAD", optional_port), bias_gradient(init, "bias@GRAD", optional_port),
        size_gradient(init, "BatchSize@GRAD", optional_port), sum_gradient(init, "BatchSum@GRAD", optional_port),
        square_gradient(init, "BatchSquareSum@GRAD", optional_port),
        epsilon(static_cast<T>(init.attr<float>("epsilon"))) {}

  void run(KernelContext& context) override {
    each_item(context, data.loop(data.width, 3 * data.rows), [&](int64_t j) { column(j); });
  }

  void column(int64_t j) const {
    T by_scale = 0, by_bias = 0, count = 0, sum = 0, squares = 0;
    for (int64_t i = 0; i < data.rows; ++i) {
      int64_t at = i * data.width + j;
      bool skipped = data.skips(i, j);
      T from_mean = data.x[at] - means[j], slope = scale ? scales[j] * scale[j] : scales[j];
      if (x_gradient) x_gradient[at] = skipped ? T(0) : y_gradient[at] * slope;
      if (skipped) continue;
      by_scale += y_gradient[at] * from_mean * scales[j], by_bias += y_gradient[at];
      count += T(1), sum += data.x[at], squares += from_mean * from_mean;
    }
    if (scale_gradient) scale_gradient[j] = by_scale;
    if (bias_gradient) bias_gradient[j] = by_bias;
    const T parts = data.slot > 0 && count > T(0) ? count : T(1);
    if (size_gradient) size_gradient[j] = count / parts;
    if (sum_gradient) sum_gradient[j] = sum / parts;
    if (square_gradient) square_gradient[j] = squares / parts + count * epsilon;
  }
};

void check_data_norm(const InferContext& c, std::initializer_list<const char*> columns) {
  require_tensors(c);
  require_rank(c, "X", 2);
  const Shape& x = c.shape("X");
  for (const char* port : columns) {
    if (!c.has_input(port)) continue;
    require_same_dtype(c, "X", port);
    require<ShapeError>(shapes_agree(c.shape(port), Shape{x[1]}), port, " has shape ", c.shape(port).str(), ", X has ",
                        x[1], " columns");
  }
  bool shifts = c.attr<bool>("enable_scale_and_shift");
  require<ProgramError>(c.has_input("scale_w") == shifts && c.has_input("bias") == shifts,
                        "scale_w and bias are needed if enable_scale_and_shift is true, and only then");
  int64_t slot = c.attr<int32_t>("slot_dim");
  require<ShapeError>(slot <= 0 || x[1] < 0 || x[1] % slot == 0, "X has ", x[1],
                      " columns, which do not divide into slots of ", slot);
}

}  // namespace

void define_data_norm(OpTable& ops) {
  ops.add(
      OpSchema("data_norm")
          .doc("Y = (X - Means) Scales with Means = BatchSum / BatchSize and Scales = sqrt(BatchSize / "
               "BatchSquareSum); with enable_scale_and_shift times scale_w, plus bias. The sums are of the data "
               "so far. With slot_dim, slots of columns whose first one is 0 become 0.")
          .input("X", "[rows, columns]")
          .optional_input("scale_w", "[columns]: a factor")
          .optional_input("bias", "[columns]")
          .input("BatchSize", "[columns]: how many rows the sums are of")
          .input("BatchSum", "[columns]: the sum of rows")
          .input("BatchSquareSum", "[columns]: the sum of squares of their distance to the mean")
          .output("Y", "shape of X")
          .output("Means", "[columns]")
          .output("Scales", "[columns]")
          .attr("epsilon", 1e-4f, "is added to the gradient of BatchSquareSum")
          .attr("slot_dim", -1, "columns of a slot; at most 0: there are none")
          .attr("summary_decay_rate", 0.9999999f, "not read: PaddlePaddle's GPU lets sums decay by it")
          .attr("enable_scale_and_shift", false, "whether there are scale_w and bias")
          .attr("data_layout", "NCHW", "not read: X has two axes", one_of({"NCHW", "NHWC", "AnyLayout"}))
          .attr("sync_stats", false, "not read: of several devices")
          .infer([](InferContext& c) {
            check_data_norm(c, {"scale_w", "bias", "BatchSize", "BatchSum", "BatchSquareSum"});
            c.set_output("Y", c.input("X"));
            for (const char* port : {"Means", "Scales"}) c.set_output(port, c.input("BatchSize"));
          })
          .gradient("data_norm_grad", {"X", "scale_w", "bias", "Means", "Scales", "Y@GRAD"},
                    {"X@GRAD", "scale_w@GRAD", "bias@GRAD", "BatchSize@GRAD", "BatchSum@GRAD", "BatchSquareSum@GRAD"})
          .cpu_only("it normalizes the input of tables that are on the host")
          .kernels<DataNormKernel, float, double>());
  ops.add(
      ops.gradient_of("data_norm")
          .doc("X@GRAD = Y@GRAD Scales scale_w, with the means and scales as constants. Those of the sums are what "
               "this batch adds to them, as PaddlePaddle's parameter servers take them: its n rows, the sum of X, and "
               "the sum of (X - Means)^2; with slots, whose rows of count 0 are left out, the same divided by n. "
               "To the last one n epsilon is added.")
          .shape_only("bias")
          .optional_output("BatchSize", "not written; programs name the variable")
          .optional_output("BatchSum", "not written")
          .optional_output("BatchSquareSum", "not written")
          .infer([](InferContext& c) {
            check_data_norm(c, {"scale_w", "bias", "Means", "Scales"});
            require_same_dtype(c, "X", "Y@GRAD");
            require_same_shape(c, "X", "Y@GRAD");
            c.set_output("X@GRAD", c.input("X"));
            for (const char* port : {"scale_w@GRAD", "bias@GRAD", "BatchSize@GRAD", "BatchSum@GRAD",
                                     "BatchSquareSum@GRAD", "BatchSize", "BatchSum", "BatchSquareSum"}) {
              c.set_output(port, c.input("Means"));
            }
          })
          .kernels<DataNormGradKernel, float, double>());
}

}  // namespace paddle_mini
