// iou_similarity: Out = the overlap of each box in X with each box in Y
#include "core/op_table.h"
#include "math/for_each_index.h"

namespace paddle_mini {
namespace {

// Intersection over union of two boxes; `border` is 1 for boxes of pixels, whose right and bottom ends are inside.
template <class T>
struct Overlap {
  const T *x, *y;
  T* out;
  int64_t y_count;
  T border;

  PM_HD void operator()(int64_t i) const {
    const T *a = x + i / y_count * 4, *b = y + i % y_count * 4;
    T left = a[0] > b[0] ? a[0] : b[0], right = a[2] < b[2] ? a[2] : b[2];
    T top = a[1] > b[1] ? a[1] : b[1], bottom = a[3] < b[3] ? a[3] : b[3];
    T width = right - left + border, height = bottom - top + border;
    T both = width > T(0) && height > T(0) ? width * height : T(0);
    T first = (a[2] - a[0] + border) * (a[3] - a[1] + border), second = (b[2] - b[0] + border) * (b[3] - b[1] + border);
    out[i] = both / (first + second - both + T(1e-10));
  }
};

template <class T>
struct IouSimilarityKernel : Kernel {
  In<T> x, y;
  Out<T> out;
  T border;

  explicit IouSimilarityKernel(KernelInit& init)
      : x(init, "X"), y(init, "Y"), out(init, "Out"), border(init.attr<bool>("box_normalized") ? 0 : 1) {}
  void run(KernelContext& context) override {
    for_each_index(context, out.numel(), Overlap<T>{x.data(), y.data(), out.data(), y.shape()[0], border});
  }
};

}  // namespace

void define_iou_similarity(OpTable& ops) {
  ops.add(OpSchema("iou_similarity")
              .doc("Out[i, j] = the area of the intersection of the boxes X[i] and Y[j] over that of their union, plus "
                   "1e-10.")
              .attr("box_normalized", true,
                    "false: the ends of boxes are pixels inside of them, so that sizes are 1 larger")
              .input("X", "[n, 4]: left, top, right, bottom")
              .input("Y", "[m, 4]")
              .output("Out", "[n, m]")
              .infer([](InferContext& c) {
                require_tensors(c);
                require_same_dtype(c, "X", "Y");
                for (const char* port : {"X", "Y"}) {
                  const Shape& boxes = c.shape(port);
                  require<ShapeError>(boxes.rank() == 2 && dims_agree(boxes[1], 4), port, " has shape ", boxes.str(),
                                      ", it must be [n, 4]");
                }
                VarInfo out = c.input("X");
                out.shape = Shape{c.shape("X")[0], c.shape("Y")[0]};
                c.set_output("Out", out);
              })
              .no_gradient("it selects boxes, and is not a term of a loss")
              .on_gpu()
              .kernels<IouSimilarityKernel, float, double>());
}

}  // namespace paddle_mini
