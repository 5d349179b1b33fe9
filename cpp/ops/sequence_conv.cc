// sequence_conv: Out = each row concatenated with its neighbours in the sequence, times Filter
#include <algorithm>

#include "math/cpu/each_sequence.h"
#include "math/gemm.h"
#include "math/map.h"
#include "math/sequences.h"

namespace paddle_mini {
namespace {

// Row t of the columns is the concatenation of rows t + start ... t + start + length - 1 of X, with zeros for rows
// outside the sequence of t.
struct Context {
  Offsets offsets;
  int64_t start, length, width;

  Context(const KernelInit& init, const Variable* x)
      : offsets(offsets_of(x)), start(init.attr<int32_t>("contextStart")), length(init.attr<int32_t>("contextLength")),
        width(row_numel(x->tensor.shape)) {}

  int64_t rows() const { return offsets.back(); }
  int64_t columns() const { return length * width; }

  // Calls f(row, first tap, end of taps, first row of X) with the taps of a row that lie in its sequence.
  template <class F>
  void each_row(KernelContext& kernel_context, F f) const {
    const double cost = bytes_cost(16.0 * static_cast<double>(columns()));
    each_sequence(kernel_context, offsets, cost, [&](int64_t, int64_t first_row, int64_t end_row) {
      for (int64_t row = first_row; row < end_row; ++row) {
        int64_t first = std::clamp(first_row - row - start, int64_t{0}, length);
        int64_t end = std::clamp(end_row - row - start, first, length);
        f(row, first, end, row + start + first);
      }
    });
  }

  template <class T>
  void gather(KernelContext& kernel_context, const T* x, T* to) const {
    each_row(kernel_context, [&](int64_t row, int64_t first, int64_t end, int64_t from) {
      T* line = to + row * columns();
      std::fill_n(line, first * width, T(0));
      if (end > first) std::copy_n(x + from * width, (end - first) * width, line + first * width);
      std::fill_n(line + end * width, (length - end) * width, T(0));
    });
  }

  template <class T>
  void add_back(KernelContext& kernel_context, const T* columns_gradient, T* x_gradient) const {
    std::fill_n(x_gradient, rows() * width, T(0));
    each_row(kernel_context, [&](int64_t row, int64_t first, int64_t end, int64_t from) {
      if (end == first) return;
      T* to = x_gradient + from * width;
      map(
          kernel_context, (end - first) * width, [](auto a, auto b) { return a + b; }, to, static_cast<const T*>(to),
          columns_gradient + row * columns() + first * width);
    });
  }
};

template <class T>
struct SequenceConvKernel : Kernel {
  In<T> x, filter;
  Out<T> out;
  Context context;
  Scratch<T> columns;
  Gemm<T> product;

  explicit SequenceConvKernel(KernelInit& init)
      : x(init, "X"), filter(init, "Filter"), out(init, "Out"), context(init, &x.variable()),
        columns(init, context.rows() * context.columns()) {
    product = {{false, false, context.rows(), filter.shape()[1], context.columns()}, init.threads()};
  }

  void run(KernelContext& kernel_context) override {
    context.gather(kernel_context, x.data(), columns.data());
    product.run(kernel_context, columns.data(), filter.data(), out.data());
  }
};

template <class T>
struct SequenceConvGradKernel : Kernel {
  In<T> x, filter, out_gradient;
  Out<T> x_gradient, filter_gradient;
  Context context;
  Scratch<T> columns;
  Gemm<T> to_columns, to_filter;

  explicit SequenceConvGradKernel(KernelInit& init)
      : x(init, "X"), filter(init, "Filter"), out_gradient(init, "Out@GRAD"), x_gradient(init, "X@GRAD", optional_port),
        filter_gradient(init, "Filter@GRAD", optional_port), context(init, &x.variable()),
        columns(init, context.rows() * context.columns()) {
    int64_t outputs = filter.shape()[1];
    to_columns = {{false, true, context.rows(), context.columns(), outputs}, init.threads()};
    to_filter = {{true, false, context.columns(), outputs, context.rows()}, init.threads()};
  }

  void run(KernelContext& kernel_context) override {
    if (filter_gradient) {
      context.gather(kernel_context, x.data(), columns.data());
      to_filter.run(kernel_context, columns.data(), out_gradient.data(), filter_gradient.data());
    }
    if (x_gradient) {
      to_columns.run(kernel_context, out_gradient.data(), filter.data(), columns.data());
      context.add_back(kernel_context, columns.data(), x_gradient.data());
    }
  }
};

Shape convolved(const InferContext& c) {
  plain_sequences(c, "X");
  require_rank(c, "X", 2);
  require_rank(c, "Filter", 2);
  require_same_dtype(c, "X", "Filter");
  require<ProgramError>(!c.attr<bool>("paddingTrainable"),
                        "attribute 'paddingTrainable' is true: the operator pads sequences only with zeros");
  int32_t stride = c.attr<int32_t>("contextStride");
  require<ProgramError>(stride == 1, "attribute 'contextStride' is ", stride, ", it must be 1");
  const Shape &x = c.shape("X"), &filter = c.shape("Filter");
  int64_t length = c.attr<int32_t>("contextLength");
  bool fits = x[1] < 0 || filter[0] < 0 || (x[1] <= filter[0] && x[1] * length == filter[0]);
  require<ShapeError>(fits, "Filter has shape ", filter.str(), ", for ", length, " rows of X ", x.str(),
                      " it must have ", length, " * ", x[1], " rows");
  return {x[0], filter[1]};
}

}  // namespace

void define_sequence_conv(OpTable& ops) {
  ops.add(
      OpSchema("sequence_conv")
          .doc("Out[t] = (X[t + start], ..., X[t + start + length - 1]) Filter, with zeros beyond the sequence of t.")
          .input("X", "sequences of rows [T, D]")
          .input("Filter", "[contextLength * D, N]")
          .output("Out", "[T, N], the sequences of X")
          .required_attr("contextLength", AttrType::Int, "the number of rows of X for one row of Out", at_least(1))
          .attr("contextStart", 0, "the first of these rows, relative to the row itself; may be negative")
          .attr("contextStride", 1, "must be 1: a row of Out for each row of X")
          .attr("paddingTrainable", false, "must be false: a sequence is padded with zeros")
          .infer([](InferContext& c) {
            VarInfo out = c.input("X");
            out.shape = convolved(c);
            if (out.shape.known()) out.shape.numel();  // refuses a shape that is too large
            c.set_output("Out", out);
          })
          .gradient("sequence_conv_grad", {"X", "Filter", "Out@GRAD"}, {"X@GRAD", "Filter@GRAD"})
          .cpu_only("processes sequences of different lengths one after the other")
          .kernels<SequenceConvKernel, float, double>());
  ops.add(ops.gradient_of("sequence_conv")
              .doc("Gradients of sequence_conv with respect to the rows and the filter.")
              .kernels<SequenceConvGradKernel, float, double>());
}

}  // namespace paddle_mini
