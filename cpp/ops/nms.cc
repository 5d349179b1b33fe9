// nms: KeepBoxesIdxs = the boxes that overlap no kept box before them
#include <algorithm>

#include "ops/family/box_suppression.h"

namespace paddle_mini {
namespace {

// A size below 0 counts in the areas as it is, as in PaddlePaddle.
template <class T>
bool overlap_exceeds(const T* a, const T* b, float threshold) {
  T left = a[0] > b[0] ? a[0] : b[0], top = a[1] > b[1] ? a[1] : b[1];
  T right = a[2] < b[2] ? a[2] : b[2], bottom = a[3] < b[3] ? a[3] : b[3];
  T both = (right - left > 0 ? right - left : T(0)) * (bottom - top > 0 ? bottom - top : T(0));
  T all = (a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - both;
  return both / all > static_cast<T>(threshold);
}

template <class T>
std::vector<int64_t> boxes_apart(const T* boxes, int64_t count, float threshold) {
  std::vector<int64_t> kept;
  for (int64_t i = 0; i < count; ++i) {
    bool stays = std::none_of(kept.begin(), kept.end(), [&](int64_t other) {
      return overlap_exceeds(boxes + other * 4, boxes + i * 4, threshold);
    });
    if (stays) kept.push_back(i);
  }
  return kept;
}

template <class T>
struct NmsKernel : Kernel {
  In<T> boxes;
  Out<int64_t> kept;
  float threshold;

  explicit NmsKernel(KernelInit& init)
      : boxes(init, "Boxes"), kept(init, "KeepBoxesIdxs"), threshold(init.attr<float>("iou_threshold")) {}
  void run(KernelContext&) override {
    std::vector<int64_t> found = boxes_apart(boxes.data(), boxes.shape()[0], threshold);
    std::copy(found.begin(), found.end(), kept.data());
  }
};

void infer_nms(InferContext& c) {
  require_tensors(c);
  require_rank(c, "Boxes", 2);
  const Shape& boxes = c.shape("Boxes");
  require<ShapeError>(dims_agree(boxes[1], 4), "Boxes has shape ", boxes.str(), ", it must be [boxes, 4]");
  int64_t kept = -1;
  if (const Variable* given = c.value("Boxes")) {
    for_float_type(c.input("Boxes").dtype, [&](auto zero) {
      const auto* data = given->tensor.as<decltype(zero)>();
      kept = static_cast<int64_t>(boxes_apart(data, boxes[0], c.attr<float>("iou_threshold")).size());
    });
  }
  c.set_output("KeepBoxesIdxs", DType::Int64, Shape{kept});
}

}  // namespace

void define_nms(OpTable& ops) {
  ops.add(
      OpSchema("nms")
          .doc("Takes the boxes in their order, without those whose overlap with a box that was taken, intersection "
               "over union, is above iou_threshold. Boxes of the largest scores come first, if they are sorted so.")
          .attr("iou_threshold", 1.0f, "the largest overlap with a kept box")
          .input("Boxes", "[boxes, 4]: left, top, right, bottom")
          .output("KeepBoxesIdxs", "int64 [kept]: the rows of Boxes")
          .infer(infer_nms)
          .custom_lod()
          .no_gradient("its output is rows, which are integers")
          .cpu_only("the size of its result depends on data")
          .kernels<NmsKernel, float, double>());
}

}  // namespace paddle_mini
