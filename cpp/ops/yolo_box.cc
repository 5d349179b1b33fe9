// yolo_box: boxes and scores of the predictions of a YOLO v3 head
#include <cmath>

#include "core/op_table.h"
#include "math/cpu/each_item.h"

namespace paddle_mini {
namespace {

// The attributes, and the channels of X: with iou_aware one for each anchor first, then 5 + class_num for each anchor.
struct YoloHead {
  std::vector<int32_t> anchors;
  int64_t classes, downsample;
  float threshold, scale, iou_factor;
  bool clips, iou_aware;

  template <class Source>
  explicit YoloHead(const Source& source)
      : anchors(source.template attr<std::vector<int32_t>>("anchors")),
        classes(source.template attr<int32_t>("class_num")),
        downsample(source.template attr<int32_t>("downsample_ratio")),
        threshold(source.template attr<float>("conf_thresh")), scale(source.template attr<float>("scale_x_y")),
        iou_factor(source.template attr<float>("iou_aware_factor")), clips(source.template attr<bool>("clip_bbox")),
        iou_aware(source.template attr<bool>("iou_aware")) {}

  int64_t anchor_count() const { return static_cast<int64_t>(anchors.size()) / 2; }
  int64_t channels() const { return anchor_count() * (classes + (iou_aware ? 6 : 5)); }
  int64_t first_channel(int64_t anchor) const { return (iou_aware ? anchor_count() : 0) + anchor * (classes + 5); }
};

template <class T>
T logistic(T x) {
  return T(1) / (T(1) + std::exp(-x));
}

template <class T>
struct YoloBoxKernel : Kernel {
  In<T> x;
  In<int32_t> sizes;
  Out<T> boxes, scores;
  YoloHead head;
  int64_t rows, columns;

  explicit YoloBoxKernel(KernelInit& init)
      : x(init, "X"), sizes(init, "ImgSize"), boxes(init, "Boxes"), scores(init, "Scores"), head(init),
        rows(x.shape()[2]), columns(x.shape()[3]) {}

  void run(KernelContext& context) override {
    int64_t lines = x.shape()[0] * head.anchor_count() * rows;
    double cost = static_cast<double>(columns) * (100 + 10 * static_cast<double>(head.classes));
    each_item(context, {lines, cost}, [&](int64_t line) {
      int64_t image = line / rows / head.anchor_count(), anchor = line / rows % head.anchor_count();
      for (int64_t column = 0; column < columns; ++column) predict(image, anchor, line % rows, column);
    });
  }

  // One cell and anchor: its box and scores; zeros if its confidence is below the threshold.
  void predict(int64_t image, int64_t anchor, int64_t row, int64_t column) const {
    int64_t area = rows * columns, cell = row * columns + column;
    const T* of_image = x.data() + image * head.channels() * area;
    const T* found = of_image + head.first_channel(anchor) * area + cell;
    int64_t place = (image * head.anchor_count() + anchor) * area + cell;
    T *box = boxes.data() + place * 4, *score = scores.data() + place * head.classes;
    std::fill_n(box, 4, T(0));
    std::fill_n(score, head.classes, T(0));
    T confidence = logistic(found[4 * area]);
    if (head.iou_aware) {
      T factor = static_cast<T>(head.iou_factor), iou = logistic(of_image[anchor * area + cell]);
      confidence = std::pow(confidence, T(1) - factor) * std::pow(iou, factor);
    }
    if (confidence < static_cast<T>(head.threshold)) return;
    T height = static_cast<T>(sizes[2 * image]), width = static_cast<T>(sizes[2 * image + 1]);
    T scale = static_cast<T>(head.scale), bias = T(-0.5) * (scale - T(1));
    T center_x = (static_cast<T>(column) + logistic(found[0]) * scale + bias) * width / static_cast<T>(columns);
    T center_y = (static_cast<T>(row) + logistic(found[area]) * scale + bias) * height / static_cast<T>(rows);
    auto at = static_cast<size_t>(2 * anchor);
    T half_width = std::exp(found[2 * area]) * static_cast<T>(head.anchors[at]) * width /
                   static_cast<T>(head.downsample * columns) / 2;
    T half_height = std::exp(found[3 * area]) * static_cast<T>(head.anchors[at + 1]) * height /
                    static_cast<T>(head.downsample * rows) / 2;
    box[0] = center_x - half_width, box[1] = center_y - half_height;
    box[2] = center_x + half_width, box[3] = center_y + half_height;
    if (head.clips) {
      box[0] = std::max(box[0], T(0)), box[1] = std::max(box[1], T(0));
      box[2] = std::min(box[2], width - T(1)), box[3] = std::min(box[3], height - T(1));
    }
    for (int64_t c = 0; c < head.classes; ++c) score[c] = confidence * logistic(found[(5 + c) * area]);
  }
};

void infer_yolo_box(InferContext& c) {
  require_tensors(c);
  require_rank(c, "X", 4);
  require_rank(c, "ImgSize", 2);
  const Shape &x = c.shape("X"), &sizes = c.shape("ImgSize");
  YoloHead head(c);
  require<ProgramError>(!head.anchors.empty() && head.anchors.size() % 2 == 0, "attribute 'anchors' has ",
                        head.anchors.size(), " numbers, it must have a width and a height for each anchor");
  require<ShapeError>(dims_agree(x[1], head.channels()), "X has shape ", x.str(), ", ", head.anchor_count(),
                      " anchors of ", head.classes, " classes have ", head.channels(), " channels");
  require<ShapeError>(c.input("ImgSize").dtype == DType::Int32, "ImgSize is ", name_of(c.input("ImgSize").dtype),
                      ", it must be int32");
  require<ShapeError>(dims_agree(sizes[0], x[0]) && dims_agree(sizes[1], 2), "ImgSize has shape ", sizes.str(),
                      ", it must be [", x[0], ", 2]");
  bool known = x[2] >= 0 && x[3] >= 0;
  int64_t count = known ? head.anchor_count() * x[2] * x[3] : -1;
  c.set_output("Boxes", c.input("X").dtype, Shape{x[0], count, 4});
  c.set_output("Scores", c.input("X").dtype, Shape{x[0], count, head.classes});
}

}  // namespace

void define_yolo_box(OpTable& ops) {
  ops.add(
      OpSchema("yolo_box")
          .doc(
              "The boxes and scores that a YOLO v3 head predicts, one for each anchor and cell. With s = sigmoid, t = "
              "the "
              "channels of an anchor and b = (1 - scale_x_y) / 2: center = (cell + s(t[0:2]) scale_x_y + b) / cells, "
              "size = exp(t[2:4]) anchor / (downsample_ratio cells), both times the size of the image; score = s(t[4]) "
              "s(t[5:]). Boxes whose confidence s(t[4]) is less than conf_thresh are zeros, as are their scores.")
          .attr("anchors", std::vector<int32_t>{}, "width and height of each anchor, in pixels")
          .attr("class_num", 1, "the number of classes", at_least(1))
          .attr("conf_thresh", 0.01f, "the least confidence of a box")
          .attr("downsample_ratio", 32, "pixels of the network's input for each cell", at_least(1))
          .attr("clip_bbox", true, "whether boxes are clipped to the image")
          .attr("scale_x_y", 1.0f, "the scale of the offsets of centers")
          .attr("iou_aware", false,
                "whether X has a channel for each anchor that predicts the overlap, before the others")
          .attr("iou_aware_factor", 0.5f,
                "with iou_aware: confidence = s(t[4])^(1 - iou_aware_factor) s(overlap)^iou_aware_factor",
                between(0, 1))
          .input("X", "[n, anchors (5 + class_num), rows, columns]; with iou_aware 6 in place of 5")
          .input("ImgSize", "int32 [n, 2]: height and width of each image")
          .output("Boxes", "[n, anchors rows columns, 4]: left, top, right, bottom, in pixels")
          .output("Scores", "[n, anchors rows columns, class_num]")
          .infer(infer_yolo_box)
          .no_gradient("its boxes are results, not terms of a loss")
          .cpu_only("its anchors are a list, which no launcher passes")
          .kernels<YoloBoxKernel, float, double>());
}

}  // namespace paddle_mini
