// masked_select: Y = the elements of X where Mask is true, in order
#include "core/op_table.h"
#include "math/axis_index_map.h"
#include "math/broadcast.h"

namespace paddle_mini {
namespace {

// Calls f(offset in X) for each selected element; X and Mask are broadcast to a common shape.
class Selection {
 public:
  Selection(const Shape& x, const Shape& mask)
      : whole_(broadcast_shape(x, mask, -1)), x_(broadcast_maps(x, whole_, "Mask")),
        mask_(broadcast_maps(mask, whole_, "X")) {}

  template <class F>
  void each(const bool* mask, F f) const {
    int64_t index[Shape::kMaxRank] = {};
    for (int64_t i = 0, n = whole_.numel(); i < n; ++i) {
      if (mask[offset(mask_, index)]) f(offset(x_, index));
      for (int axis = whole_.rank() - 1; axis >= 0 && ++index[axis] == whole_[axis]; --axis) index[axis] = 0;
    }
  }

  int64_t count(const bool* mask) const {
    int64_t count = 0;
    each(mask, [&](int64_t) { ++count; });
    return count;
  }

 private:
  static int64_t offset(const AxisIndexMaps& index_maps, const int64_t* index) {
    int64_t at = 0;
    for (size_t axis = 0; axis < index_maps.size(); ++axis)
      at = at * index_maps[axis].in + index_maps[axis].step * index[axis];
    return at;
  }

  Shape whole_;
  AxisIndexMaps x_, mask_;
};

template <class T>
struct MaskedSelectKernel : Kernel {
  In<T> x;
  In<bool> mask;
  Out<T> y;
  Selection selection;

  explicit MaskedSelectKernel(KernelInit& init)
      : x(init, "X"), mask(init, "Mask"), y(init, "Y"), selection(x.shape(), mask.shape()) {}
  void run(KernelContext&) override {
    T* to = y.data();
    selection.each(mask.data(), [&](int64_t from) { *to++ = x[from]; });
  }
};

// An element of X that is selected more than once after broadcasting receives the sum of the gradients.
template <class T>
struct MaskedSelectGradKernel : Kernel {
  In<bool> mask;
  In<T> y_gradient;
  Out<T> x_gradient;
  Selection selection;

  explicit MaskedSelectGradKernel(KernelInit& init)
      : mask(init, "Mask"), y_gradient(init, "Y@GRAD"), x_gradient(init, "X@GRAD"),
        selection(x_gradient.shape(), mask.shape()) {}
  void run(KernelContext&) override {
    int64_t count = selection.count(mask.data());
    require<ShapeError>(count == y_gradient.numel(), "Y@GRAD has ", y_gradient.numel(), " elements, Mask selects ",
                        count);
    std::fill_n(x_gradient.data(), x_gradient.numel(), T(0));
    const T* from = y_gradient.data();
    selection.each(mask.data(), [&](int64_t to) { x_gradient[to] += *from++; });
  }
};

void require_mask(const InferContext& c) {
  require<ShapeError>(c.input("Mask").dtype == DType::Bool, "Mask is ", name_of(c.input("Mask").dtype),
                      ", it must be bool");
  broadcast_shape(c.shape("X"), c.shape("Mask"), -1);  // refuses shapes that do not broadcast
}

void infer_masked_select(InferContext& c) {
  require_mask(c);
  Shape shape{-1};
  if (const Variable* mask = c.value("Mask"))
    shape[0] = Selection(c.shape("X"), c.shape("Mask")).count(mask->tensor.as<bool>());
  c.set_output("Y", c.input("X").dtype, shape);
}

}  // namespace

void define_masked_select(OpTable& ops) {
  ops.add(OpSchema("masked_select")
              .doc("Y = the elements of X where Mask is true, one after the other. X and Mask are broadcast to one "
                   "shape. The number of elements depends on data.")
              .input("X", "any shape")
              .input("Mask", "bool; a shape that can be broadcast with X's")
              .output("Y", "[n]")
              .infer(infer_masked_select)
              .custom_lod()
              .gradient("masked_select_grad", {"Mask", "X", "Y@GRAD"}, {"X@GRAD"})
              .cpu_only("the size of its result depends on data")
              .kernels<MaskedSelectKernel, float, double, int32_t, int64_t>());
  ops.add(ops.gradient_of("masked_select")
              .doc("X@GRAD = Y@GRAD at the selected elements, else 0.")
              .dtype_from_input("X")
              .checks_data()
              .kernels<MaskedSelectGradKernel, float, double, int32_t, int64_t>());
}

}  // namespace paddle_mini
