// fused_softmax_mask: Out = softmax(X + Mask); fused_softmax_mask_upper_triangle: Out = softmax of X up to the diagonal
#include "math/for_each_index.h"
#include "math/softmax.h"
#include "math/unravel_last.h"
#include "ops/family/elementwise.h"
#include "ops/family/unary.h"

#include <limits>

namespace paddle_mini {
namespace {

struct AddMask {
  template <class V>
  PM_HD V operator()(V x, V mask) const {
    return x + mask;
  }
};

template <class T>
struct FusedSoftmaxMaskKernel : Kernel {
  In<T> x, mask;
  Out<T> out;
  Broadcast broadcast;
  Softmax softmax;
  Scratch<T> scratch;

  explicit FusedSoftmaxMaskKernel(KernelInit& init)
      : x(init, "X"), mask(init, "Mask"), out(init, "Out"), broadcast(x.shape(), mask.shape(), -1),
        softmax(x.shape(), -1), scratch(init, softmax.scratch_count()) {}
  void run(KernelContext& context) override {
    broadcast.map(context, AddMask{}, x.data(), mask.data(), out.data());
    softmax.run(context, static_cast<const T*>(out.data()), out.data(), scratch.data());
  }
};

// Element [..., i, j], or minus infinity for j above i.
template <class T>
struct UpToDiagonal {
  int64_t rows, columns;
  const T* x;
  T* out;

  PM_HD void operator()(int64_t at) const {
    int64_t left = at, column = unravel_last(left, columns), row = unravel_last(left, rows);
    out[at] = column > row ? -std::numeric_limits<T>::infinity() : x[at];
  }
};

template <class T>
struct SoftmaxUpToDiagonalKernel : Kernel {
  In<T> x;
  Out<T> out;
  Softmax softmax;
  Scratch<T> scratch;

  explicit SoftmaxUpToDiagonalKernel(KernelInit& init)
      : x(init, "X"), out(init, "Out"), softmax(x.shape(), -1), scratch(init, softmax.scratch_count()) {}
  void run(KernelContext& context) override {
    for_each_index(context, x.numel(), UpToDiagonal<T>{x.shape()[2], x.shape()[3], x.data(), out.data()});
    softmax.run(context, static_cast<const T*>(out.data()), out.data(), scratch.data());
  }
};

constexpr char kSoftmaxPort[] = "Softmax", kOutPort[] = "Out";

template <const char* saved>
struct MaskedSoftmaxGradKernel {
  template <class T>
  struct For : Kernel {
    In<T> out, out_gradient;
    Out<T> x_gradient;
    Softmax softmax;
    Scratch<T> scratch;

    explicit For(KernelInit& init)
        : out(init, saved), out_gradient(init, "Out@GRAD"), x_gradient(init, "X@GRAD"), softmax(out.shape(), -1),
          scratch(init, softmax.scratch_count()) {}
    void run(KernelContext& context) override {
      softmax.gradient(context, out.data(), out_gradient.data(), x_gradient.data(), scratch.data());
    }
  };
};

constexpr const char* kMaskedGradientDoc = "X@GRAD = Out (Out@GRAD - sum of Out@GRAD Out along the last axis).";

void infer_with_mask(InferContext& c) {
  require_tensors(c);
  require_rank(c, "X", 4);
  require_rank(c, "Mask", 4);
  require_same_dtype(c, "X", "Mask");
  const Shape &x = c.shape("X"), &mask = c.shape("Mask");
  for (int axis = 0; axis < 4; ++axis) {
    require<ShapeError>(dims_agree(mask[axis], axis == 1 ? 1 : x[axis]), "Mask has shape ", mask.str(), ", for X ",
                        x.str(), " it must have 1 head, and X's other dimensions");
  }
  c.set_output("Out", c.input("X"));
}

void infer_triangle(InferContext& c) {
  require_tensors(c);
  require_rank(c, "X", 4);
  const Shape& x = c.shape("X");
  require<ShapeError>(dims_agree(x[2], x[3]), "X has shape ", x.str(), ", its last two dimensions must be equal");
  c.set_output("Out", c.input("X"));
}

void infer_from_softmax(InferContext& c) {
  require_same_shape(c, "Softmax", "Out@GRAD");
  require_same_dtype(c, "Softmax", "Out@GRAD");
  c.set_output("X@GRAD", c.input("Softmax"));
}

std::vector<OpDesc> gradient_from_softmax(const OpDesc& op) {
  return {make_op("fused_softmax_mask_grad",
                  {{"Softmax", op.output("Out")}, {"Out@GRAD", gradient_names(op.output("Out"))}},
                  {{"X@GRAD", gradient_names(op.input("X"))}})};
}

}  // namespace

void define_fused_softmax_mask(OpTable& ops) {
  ops.add(OpSchema("fused_softmax_mask")
              .doc("Out = softmax of X + Mask along the last axis. Mask has no gradient.")
              .input("X", "[batch, heads, rows, columns]")
              .input("Mask", "[batch, 1, rows, columns]")
              .output("Out", "shape of X")
              .infer(infer_with_mask)
              .gradient(gradient_from_softmax)
              .on_gpu()
              .kernels<FusedSoftmaxMaskKernel, float, double>());
  ops.add(OpSchema("fused_softmax_mask_grad")
              .doc(kMaskedGradientDoc)
              .input("Softmax", "Out of fused_softmax_mask")
              .input("Out@GRAD", "the gradient of Out")
              .output("X@GRAD", "the gradient of X")
              .infer(infer_from_softmax)
              .on_gpu()
              .kernels<MaskedSoftmaxGradKernel<kSoftmaxPort>::For, float, double>());
  ops.add(OpSchema("fused_softmax_mask_upper_triangle")
              .doc("Out = softmax of the elements of each row of X up to the diagonal; 0 after it.")
              .input("X", "[batch, heads, rows, rows]")
              .output("Out", "shape of X")
              .infer(infer_triangle)
              .gradient("fused_softmax_mask_upper_triangle_grad", {"Out", "Out@GRAD"}, {"X@GRAD"})
              .on_gpu()
              .kernels<SoftmaxUpToDiagonalKernel, float, double>());
  ops.add(same_shape_gradient(ops, "fused_softmax_mask_upper_triangle")
              .doc(kMaskedGradientDoc)
              .kernels<MaskedSoftmaxGradKernel<kOutPort>::For, float, double>());
}

}  // namespace paddle_mini
