// row_conv: Out[t] = the sum of X[t + w] * Filter[w] over the following rows of the sequence
#include <algorithm>

#include "math/copy.h"
#include "math/cpu/each_sequence.h"
#include "math/map.h"
#include "math/sequences.h"

namespace paddle_mini {
namespace {

// The sequences of the lod; in [images, length, width], each image is one sequence.
Offsets rows_of(const Variable* x) {
  const Shape& shape = x->tensor.shape;
  if (shape.rank() == 2) return offsets_of(x);
  Offsets offsets{0};
  for (int64_t i = 0; i < shape[0]; ++i) offsets.push_back(offsets.back() + shape[1]);
  return offsets;
}

// Lookahead convolution of Deep Speech 2 (Amodei et al. 2016), section 3.6.
struct Lookahead {
  Offsets offsets;
  int64_t taps, width;

  explicit Lookahead(const KernelInit& init) : offsets(rows_of(init.input("X"))) {
    const Shape& filter = init.input("Filter")->tensor.shape;
    taps = filter[0], width = filter[1];
  }

  double cost_of_tap() const { return bytes_cost(24.0 * static_cast<double>(width)); }

  // Calls f(row of Out, tap) for each pair where row + tap lies in the row's sequence; both are offsets in elements. A
  // sequence stays on one thread.
  template <class F>
  void each(KernelContext& context, F f) const {
    each_sequence(context, offsets, cost_of_tap() * static_cast<double>(taps),
                  [&](int64_t, int64_t begin, int64_t end) {
                    for (int64_t row = begin; row < end; ++row) {
                      for (int64_t w = 0; w < std::min(taps, end - row); ++w) f(row * width, w * width);
                    }
                  });
  }
  // The same, but a tap stays on one thread.
  template <class F>
  void each_by_tap(KernelContext& context, F f) const {
    each_item(context, {taps, cost_of_tap() * static_cast<double>(offsets.back())}, [&](int64_t w) {
      for (size_t i = 0; i + 1 < offsets.size(); ++i) {
        for (int64_t row = offsets[i]; row + w < offsets[i + 1]; ++row) f(row * width, w * width);
      }
    });
  }
};

// to += a * b
template <class T>
void add_product(KernelContext& context, int64_t n, const T* a, const T* b, T* to) {
  map(context, n, [](auto total, auto x, auto y) { return total + x * y; }, to, static_cast<const T*>(to), a, b);
}

template <class T>
struct RowConvKernel : Kernel {
  In<T> x, filter;
  Out<T> out;
  Lookahead lookahead;

  explicit RowConvKernel(KernelInit& init) : x(init, "X"), filter(init, "Filter"), out(init, "Out"), lookahead(init) {}
  void run(KernelContext& context) override {
    fill_n(context, out.data(), out.numel(), T(0));
    lookahead.each(context, [&](int64_t row, int64_t tap) {
      add_product(context, lookahead.width, x.data() + row + tap, filter.data() + tap, out.data() + row);
    });
  }
};

template <class T>
struct RowConvGradKernel : Kernel {
  In<T> x, filter, out_gradient;
  Out<T> x_gradient, filter_gradient;
  Lookahead lookahead;

  explicit RowConvGradKernel(KernelInit& init)
      : x(init, "X"), filter(init, "Filter"), out_gradient(init, "Out@GRAD"), x_gradient(init, "X@GRAD", optional_port),
        filter_gradient(init, "Filter@GRAD", optional_port), lookahead(init) {}

  void run(KernelContext& context) override {
    int64_t width = lookahead.width;
    const T* gradient = out_gradient.data();
    if (x_gradient) {
      fill_n(context, x_gradient.data(), x_gradient.numel(), T(0));
      lookahead.each(context, [&](int64_t row, int64_t tap) {
        add_product(context, width, gradient + row, filter.data() + tap, x_gradient.data() + row + tap);
      });
    }
    if (filter_gradient) {
      fill_n(context, filter_gradient.data(), filter_gradient.numel(), T(0));
      lookahead.each_by_tap(context, [&](int64_t row, int64_t tap) {
        add_product(context, width, gradient + row, x.data() + row + tap, filter_gradient.data() + tap);
      });
    }
  }
};

void require_rows_and_filter(const InferContext& c) {
  const Shape &x = c.shape("X"), &filter = c.shape("Filter");
  require<ShapeError>(x.rank() == 2 || x.rank() == 3, "X has shape ", x.str(), ", it must have 2 or 3 dimensions");
  if (x.rank() == 2) plain_sequences(c, "X");
  require<ShapeError>(x.rank() == 2 || c.input("X").lod_level == 0, "X has both 3 dimensions and sequences (lod)");
  require_same_dtype(c, "X", "Filter");
  require<ShapeError>(filter.rank() == 2 && dims_agree(filter[1], x[x.rank() - 1]), "Filter has shape ", filter.str(),
                      ", X has ", x.str());
}

}  // namespace

void define_row_conv(OpTable& ops) {
  ops.add(OpSchema("row_conv")
              .doc("Out[t] = the sum over w of X[t + w] * Filter[w], element by element, for the positions t + w in "
                   "the sequence.")
              .input("X", "sequences of rows [T, D], or [images, T, D]")
              .input("Filter", "[taps, D]")
              .output("Out", "shape and sequences of X")
              .infer([](InferContext& c) {
                require_rows_and_filter(c);
                c.set_output("Out", c.input("X"));
              })
              .gradient("row_conv_grad", {"X", "Filter", "Out@GRAD"}, {"X@GRAD", "Filter@GRAD"})
              .cpu_only("processes sequences of different lengths one after the other")
              .kernels<RowConvKernel, float, double>());
  ops.add(ops.gradient_of("row_conv")
              .doc("X@GRAD[t + w] = the sum of Out@GRAD[t] * Filter[w], Filter@GRAD[w] that of Out@GRAD[t] * X[t + w].")
              .kernels<RowConvGradKernel, float, double>());
}

}  // namespace paddle_mini
