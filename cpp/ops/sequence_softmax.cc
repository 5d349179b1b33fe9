// sequence_softmax: Out = exp(X) / (sum of exp(X) over the sequence)
#include "math/cpu/each_sequence.h"
#include "math/sequences.h"
#include "math/softmax.h"

namespace paddle_mini {
namespace {

template <class T>
struct SequenceSoftmaxKernel : Kernel {
  In<T> x;
  Out<T> out;
  Offsets offsets;

  explicit SequenceSoftmaxKernel(KernelInit& init)
      : x(init, "X"), out(init, "Out"), offsets(offsets_of(&x.variable())) {}

  void run(KernelContext& context) override {
    each_sequence(context, offsets, 1, [&](int64_t, int64_t at, int64_t end) {
      if (end > at) Softmax({end - at}, 0).run<T>(context, x.data() + at, out.data() + at, nullptr);
    });
  }
};

template <class T>
struct SequenceSoftmaxGradKernel : Kernel {
  In<T> out, out_gradient;
  Out<T> x_gradient;
  Offsets offsets;

  explicit SequenceSoftmaxGradKernel(KernelInit& init)
      : out(init, "Out"), out_gradient(init, "Out@GRAD"), x_gradient(init, "X@GRAD"),
        offsets(offsets_of(init.input("X"))) {}

  void run(KernelContext& context) override {
    each_sequence(context, offsets, 1, [&](int64_t, int64_t at, int64_t end) {
      if (at == end) return;
      const T *y = out.data() + at, *gradient = out_gradient.data() + at;
      Softmax({end - at}, 0).gradient<T>(context, y, gradient, x_gradient.data() + at, nullptr);
    });
  }
};

void require_numbers(const InferContext& c) {
  sequences(c, "X");
  const Shape& x = c.shape("X");
  int64_t width = row_numel(x);
  require<ShapeError>(width == 1 || width < 0, "X has shape ", x.str(), ", a row must have one element");
}

}  // namespace

void define_sequence_softmax(OpTable& ops) {
  ops.add(OpSchema("sequence_softmax")
              .doc("Out = exp(X) / (sum of exp(X) over the sequence), for each sequence of X's last level.")
              .input("X", "sequences of numbers, [T, 1] or [T]")
              .output("Out", "shape and sequences of X")
              .infer([](InferContext& c) {
                require_numbers(c);
                c.set_output("Out", c.input("X"));
              })
              .gradient("sequence_softmax_grad", {"X", "Out", "Out@GRAD"}, {"X@GRAD"})
              .in_place("X", "Out")
              .cpu_only("processes sequences of different lengths one after the other")
              .kernels<SequenceSoftmaxKernel, float, double>());
  ops.add(ops.gradient_of("sequence_softmax")
              .doc("X@GRAD = Out (Out@GRAD - sum of Out@GRAD * Out over the sequence).")
              .input("X", "as in sequence_softmax; its values are not read")
              .in_place("Out@GRAD", "X@GRAD")
              .kernels<SequenceSoftmaxGradKernel, float, double>());
}

}  // namespace paddle_mini
