// box_clip: Output = boxes within the image that each sequence of them belongs to
#include <cmath>

#include "math/cpu/each_item.h"
#include "math/sequences.h"

namespace paddle_mini {
namespace {

template <class T>
struct BoxClipKernel : Kernel {
  In<T> boxes, sizes;
  Out<T> out;

  explicit BoxClipKernel(KernelInit& init) : boxes(init, "Input"), sizes(init, "ImInfo"), out(init, "Output") {}

  void run(KernelContext& context) override {
    const Offsets& offsets = offsets_of(&boxes.variable());
    int64_t width = row_numel(boxes.shape());
    for (size_t image = 0; image + 1 < offsets.size(); ++image) {
      const T* size = sizes.data() + 3 * image;
      T right = std::round(size[1] / size[2]) - T(1), bottom = std::round(size[0] / size[2]) - T(1);
      const T* from = boxes.data() + offsets[image] * width;
      T* to = out.data() + offsets[image] * width;
      // In this order NaN stays NaN, and an image without pixels gives 0.
      each_item(context, {(offsets[image + 1] - offsets[image]) * width, 1},
                [=](int64_t i) { to[i] = std::max(std::min(from[i], i % 2 == 0 ? right : bottom), T(0)); });
    }
  }
};

void infer_box_clip(InferContext& c) {
  require_tensors(c);
  require_same_dtype(c, "Input", "ImInfo");
  require_rank(c, "ImInfo", 2);
  const Shape &boxes = c.shape("Input"), &sizes = c.shape("ImInfo");
  int64_t images = count_of(plain_sequences(c, "Input"));
  require<ShapeError>(boxes.rank() > 1 && dims_agree(boxes[boxes.rank() - 1], 4), "Input has shape ", boxes.str(),
                      ", its last dimension must be 4");
  require<ShapeError>(dims_agree(sizes[1], 3), "ImInfo has shape ", sizes.str(), ", it must be [images, 3]");
  require<ShapeError>(dims_agree(images, sizes[0]), "Input has boxes of ", images, " images, ImInfo has ", sizes[0]);
  c.set_output("Output", c.input("Input"));
}

}  // namespace

void define_box_clip(OpTable& ops) {
  ops.add(
      OpSchema("box_clip")
          .doc("Output = Input, clipped to [0, width - 1] and [0, height - 1] of the image before it was scaled: its "
               "size in ImInfo divided by its scale, rounded.")
          .input("Input", "[boxes, ..., 4]: left, top, right, bottom, in a sequence (lod) for each image")
          .input("ImInfo", "[images, 3]: height, width and scale of each image")
          .output("Output", "as Input")
          .infer(infer_box_clip)
          .no_gradient("its boxes are results, not terms of a loss")
          .in_place("Input", "Output")
          .cpu_only("the host reads which image a box is in")
          .kernels<BoxClipKernel, float, double>());
}

}  // namespace paddle_mini
