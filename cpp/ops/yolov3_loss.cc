// yolov3_loss: Loss = the loss of the predictions of a YOLO v3 head against true boxes
#include <algorithm>
#include <cmath>

#include "core/op_table.h"
#include "math/copy.h"
#include "math/cpu/each_item.h"

namespace paddle_mini {
namespace {
// A box by its center and size, as parts of the image.
template <class T>
struct CenteredBox {
  T x, y, width, height;
};

template <class T>
T common_length(T a, T length, T b, T other) {
  return std::min(a + length / 2, b + other / 2) - std::max(a - length / 2, b - other / 2);
}

template <class T>
T centered_overlap(const CenteredBox<T>& a, const CenteredBox<T>& b) {
  T width = common_length(a.x, a.width, b.x, b.width), height = common_length(a.y, a.height, b.y, b.height);
  T both = width < 0 || height < 0 ? T(0) : width * height;
  return both / (a.width * a.height + b.width * b.height - both);
}

// Cross entropy of sigmoid(x), and its derivative.
template <class T>
T logit_loss(T x, T label) {
  return std::max(x, T(0)) - x * label + std::log(T(1) + std::exp(-std::abs(x)));
}
template <class T>
T logit_slope(T x, T label) {
  return T(1) / (T(1) + std::exp(-x)) - label;
}

// The attributes and the true boxes, for the operator and its gradient. X has for each anchor of anchor_mask the
// channels x, y, width, height, objectness, classes.
template <class T>
struct YoloTargets {
  In<T> x, boxes, scores;
  In<int32_t> labels;
  std::vector<int32_t> anchors, mask;
  int64_t classes, cells, rows, columns, count;  // cells: of a plane; count: true boxes of an image
  float ignored, scale;
  T size, positive = T(1), negative = T(0);  // size: pixels of the network's input along an axis

  explicit YoloTargets(KernelInit& init)
      : x(init, "X"), boxes(init, "GTBox"), scores(init, "GTScore", optional_port), labels(init, "GTLabel"),
        anchors(init.attr<std::vector<int32_t>>("anchors")), mask(init.attr<std::vector<int32_t>>("anchor_mask")),
        classes(init.attr<int32_t>("class_num")), cells(x.shape()[2] * x.shape()[3]), rows(x.shape()[2]),
        columns(x.shape()[3]), count(boxes.shape()[1]), ignored(init.attr<float>("ignore_thresh")),
        scale(init.attr<float>("scale_x_y")), size(static_cast<T>(init.attr<int32_t>("downsample_ratio") * rows)) {
    if (!init.attr<bool>("use_label_smooth")) return;
    negative = static_cast<T>(std::min(1.0 / static_cast<double>(classes), 1.0 / 40));
    positive = T(1) - negative;
  }

  int64_t anchor_count() const { return static_cast<int64_t>(mask.size()); }
  CenteredBox<T> box(int64_t i) const { return {boxes[i * 4], boxes[i * 4 + 1], boxes[i * 4 + 2], boxes[i * 4 + 3]}; }
  bool is_box(int64_t i) const { return !(boxes[i * 4 + 2] < T(1e-6) || boxes[i * 4 + 3] < T(1e-6)); }
  T score(int64_t i) const { return scores ? scores[i] : T(1); }
  T anchor(int64_t i, int64_t k) const { return static_cast<T>(anchors[static_cast<size_t>(2 * i + k)]); }
  int64_t cell(int64_t i) const {
    auto along = [](T part, int64_t size) {
      return std::min(static_cast<int64_t>(part * static_cast<T>(size)), size - 1);
    };
    return along(box(i).y, rows) * columns + along(box(i).x, columns);
  }
  int64_t place(int64_t image, int64_t anchor, int64_t cell) const {
    return (image * anchor_count() + anchor) * (5 + classes) * cells + cell;
  }

  // A true box must have its center in the image, because the center selects a cell.
  void check() const {
    for (int64_t i = 0; i < boxes.shape()[0] * count; ++i) {
      CenteredBox<T> one = box(i);
      bool inside = one.x >= 0 && one.x < 1 && one.y >= 0 && one.y < 1;
      bool finite = std::isfinite(one.width) && std::isfinite(one.height);
      require<OpError>(!is_box(i) || (inside && finite), "GTBox has ", one.x, ", ", one.y, ", ", one.width, ", ",
                       one.height, " for box ", i % count, " of image ", i / count,
                       ": its center must be at least 0 and below 1, and its size finite");
    }
  }

  // Calls term(channel's offset in X, label, weight, whether it is an L1 loss) for the terms of a box and its class.
  template <class F>
  void each_term(int64_t image, int64_t i, int64_t anchor_index, F term) const {
    CenteredBox<T> one = box(i);
    int64_t at = cell(i), from = place(image, anchor_index, at), own = mask[static_cast<size_t>(anchor_index)];
    T weight = (T(2) - one.width * one.height) * score(i);
    term(from, one.x * static_cast<T>(columns) - static_cast<T>(at % columns), weight, false);
    term(from + cells, one.y * static_cast<T>(rows) - static_cast<T>(at / columns), weight, false);
    term(from + 2 * cells, std::log(one.width * size / anchor(own, 0)), weight, true);
    term(from + 3 * cells, std::log(one.height * size / anchor(own, 1)), weight, true);
    for (int64_t c = 0; c < classes; ++c) {
      term(from + (5 + c) * cells, c == labels[i] ? positive : negative, score(i), false);
    }
  }
};

template <class T>
struct Yolov3LossKernel : Kernel {
  YoloTargets<T> targets;
  Out<T> loss, objectness;
  Out<int32_t> matches;

  explicit Yolov3LossKernel(KernelInit& init)
      : targets(init), loss(init, "Loss"), objectness(init, "ObjectnessMask"), matches(init, "GTMatchMask") {}

  void run(KernelContext& context) override {
    targets.check();
    double cost = static_cast<double>(targets.anchor_count() * targets.cells) * (30 + 10.0 * targets.count);
    each_item(context, {targets.x.shape()[0], cost}, [&](int64_t image) {
      set_ignored(image);
      double sum = 0;
      for (int64_t t = 0; t < targets.count; ++t) sum += add_box(image, image * targets.count + t);
      loss[image] = static_cast<T>(sum + objectness_loss(image));
    });
  }

  // -1 where a prediction overlaps a true box so much that its objectness does not count.
  void set_ignored(int64_t image) {
    for (int64_t i = 0; i < targets.anchor_count() * targets.cells; ++i) {
      CenteredBox<T> found = predicted(image, i / targets.cells, i % targets.cells);
      T best = T(0);
      for (int64_t t = image * targets.count; t < (image + 1) * targets.count; ++t) {
        if (targets.is_box(t)) best = std::max(best, centered_overlap(found, targets.box(t)));
      }
      objectness[image * targets.anchor_count() * targets.cells + i] = best > static_cast<T>(targets.ignored) ? -1 : 0;
    }
  }

  CenteredBox<T> predicted(int64_t image, int64_t anchor, int64_t cell) const {
    const T* x = targets.x.data() + targets.place(image, anchor, cell);
    int64_t own = targets.mask[static_cast<size_t>(anchor)], cells = targets.cells;
    T scale = static_cast<T>(targets.scale), bias = T(-0.5) * (scale - T(1));
    auto center = [&](T value, int64_t at, int64_t of) {
      return (static_cast<T>(at) + logit_slope(value, T(0)) * scale + bias) / static_cast<T>(of);
    };
    return {center(x[0], cell % targets.columns, targets.columns),
            center(x[cells], cell / targets.columns, targets.rows),
            std::exp(x[2 * cells]) * targets.anchor(own, 0) / targets.size,
            std::exp(x[3 * cells]) * targets.anchor(own, 1) / targets.size};
  }

  // The terms of a true box, which belongs to the anchor of the most similar size, if X predicts for it.
  double add_box(int64_t image, int64_t i) {
    matches[i] = -1;
    if (!targets.is_box(i)) return 0;
    int64_t best = 0;
    T most(0);
    CenteredBox<T> wanted{T(0), T(0), targets.box(i).width, targets.box(i).height};
    for (int64_t a = 0; a < static_cast<int64_t>(targets.anchors.size()) / 2; ++a) {
      CenteredBox<T> one{T(0), T(0), targets.anchor(a, 0) / targets.size, targets.anchor(a, 1) / targets.size};
      T overlap = centered_overlap(one, wanted);
      if (overlap > most) most = overlap, best = a;
    }
    auto found = std::find(targets.mask.begin(), targets.mask.end(), best);
    if (found == targets.mask.end()) return 0;
    int64_t anchor = found - targets.mask.begin();
    matches[i] = static_cast<int32_t>(anchor);
    double sum = 0;
    targets.each_term(image, i, anchor, [&](int64_t at, T label, T weight, bool absolute) {
      T x = targets.x[at];
      sum += (absolute ? std::abs(label - x) : logit_loss(x, label)) * weight;
    });
    objectness[(image * targets.anchor_count() + anchor) * targets.cells + targets.cell(i)] = targets.score(i);
    return sum;
  }

  double objectness_loss(int64_t image) const {
    double sum = 0;
    for (int64_t i = 0; i < targets.anchor_count() * targets.cells; ++i) {
      T mask = objectness[image * targets.anchor_count() * targets.cells + i];
      T x = targets.x[targets.place(image, i / targets.cells, i % targets.cells) + 4 * targets.cells];
      if (mask > T(1e-5)) sum += logit_loss(x, T(1)) * mask;
      else if (mask > T(-0.5)) sum += logit_loss(x, T(0));
    }
    return sum;
  }
};

template <class T>
struct Yolov3LossGradKernel : Kernel {
  YoloTargets<T> targets;
  In<T> objectness, gradient;
  In<int32_t> matches;
  Out<T> x_gradient;

  explicit Yolov3LossGradKernel(KernelInit& init)
      : targets(init), objectness(init, "ObjectnessMask"), gradient(init, "Loss@GRAD"), matches(init, "GTMatchMask"),
        x_gradient(init, "X@GRAD") {}

  void run(KernelContext& context) override {
    targets.check();
    for (int64_t i = 0; i < matches.numel(); ++i) {
      bool fits = matches[i] >= -1 && matches[i] < targets.anchor_count() && (matches[i] < 0 || targets.is_box(i));
      require<OpError>(fits, "GTMatchMask has ", matches[i], " for box ", i % targets.count, " of image ",
                       i / targets.count, ", it must be -1 or one of ", targets.anchor_count(), " anchors, for a box");
    }
    fill_n(context, x_gradient.data(), x_gradient.numel(), T(0));
    for (int64_t image = 0; image < targets.x.shape()[0]; ++image) add_image(image);
  }

  void add_image(int64_t image) {
    T g = gradient[image];
    for (int64_t i = image * targets.count; i < (image + 1) * targets.count; ++i) {
      if (matches[i] < 0) continue;
      targets.each_term(image, i, matches[i], [&](int64_t at, T label, T weight, bool absolute) {
        T x = targets.x[at], slope = absolute ? (x > label ? T(1) : T(-1)) : logit_slope(x, label);
        x_gradient[at] += slope * weight * g;
      });
    }
    for (int64_t i = 0; i < targets.anchor_count() * targets.cells; ++i) {
      T mask = objectness[image * targets.anchor_count() * targets.cells + i];
      int64_t at = targets.place(image, i / targets.cells, i % targets.cells) + 4 * targets.cells;
      if (mask > T(1e-5)) x_gradient[at] = logit_slope(targets.x[at], T(1)) * mask * g;
      else if (mask > T(-0.5)) x_gradient[at] = logit_slope(targets.x[at], T(0)) * g;
    }
  }
};

void infer_yolov3_loss(InferContext& c) {
  require_tensors(c);
  require_same_dtype(c, "X", "GTBox");
  require_rank(c, "X", 4);
  require_rank(c, "GTBox", 3);
  const auto &anchors = c.attr<std::vector<int32_t>>("anchors"), &mask = c.attr<std::vector<int32_t>>("anchor_mask");
  require<ProgramError>(!anchors.empty() && anchors.size() % 2 == 0, "attribute 'anchors' has ", anchors.size(),
                        " numbers, it must have a width and a height for each anchor");
  require<ProgramError>(!mask.empty(), "attribute 'anchor_mask' is empty");
  for (int32_t i : mask) {
    require<ProgramError>(i >= 0 && static_cast<size_t>(i) < anchors.size() / 2, "attribute 'anchor_mask' holds ", i,
                          ", there are ", anchors.size() / 2, " anchors");
  }
  const Shape &x = c.shape("X"), &boxes = c.shape("GTBox");
  int64_t count = static_cast<int64_t>(mask.size()), wanted = count * (5 + int64_t{c.attr<int32_t>("class_num")});
  require<ShapeError>(dims_agree(x[1], wanted) && dims_agree(x[2], x[3]) && x[2] != 0, "X has shape ", x.str(),
                      ", it must have ", wanted, " channels, and as many rows as columns, at least one");
  require<ShapeError>(dims_agree(boxes[0], x[0]) && dims_agree(boxes[2], 4), "GTBox has shape ", boxes.str(),
                      ", it must be [", x[0], ", boxes, 4]");
  require<ShapeError>(c.input("GTLabel").dtype == DType::Int32, "GTLabel is ", name_of(c.input("GTLabel").dtype),
                      ", it must be int32");
  if (c.has_input("GTScore")) require_same_dtype(c, "X", "GTScore");
  Shape each{boxes[0], boxes[1]};
  for (const char* port : {"GTLabel", "GTScore"}) {
    bool fits = !c.has_input(port) || shapes_agree(c.shape(port), each);
    require<ShapeError>(fits, port, " has shape ", c.has_input(port) ? c.shape(port).str() : "", ", it must be ",
                        each.str());
  }
  c.set_output("Loss", c.input("X").dtype, Shape{x[0]});
  c.set_output("ObjectnessMask", c.input("X").dtype, Shape{x[0], count, x[2], x[3]});
  c.set_output("GTMatchMask", DType::Int32, each);
}

}  // namespace

void define_yolov3_loss(OpTable& ops) {
  ops.add(
      OpSchema("yolov3_loss")
          .doc(
              "Each true box belongs to the cell of its center and the anchor of the most similar size. If that anchor "
              "is "
              "in anchor_mask, the prediction there has cross entropies of its center and its classes and L1 losses of "
              "its size, all times the score. The objectness of all predictions has a cross entropy too, without those "
              "that overlap a true box by more than ignore_thresh. Redmon and Farhadi 2018, YOLOv3.")
          .attr("anchors", std::vector<int32_t>{}, "width and height of each anchor, in pixels", at_least(1))
          .attr("anchor_mask", std::vector<int32_t>{}, "the anchors that X predicts for")
          .attr("class_num", 1, "the number of classes", at_least(1))
          .attr("ignore_thresh", 0.7f, "the overlap, intersection over union, above which objectness does not count")
          .attr("downsample_ratio", 32, "pixels of the network's input for each cell", at_least(1))
          .attr("use_label_smooth", true, "whether labels are min(1 / class_num, 1 / 40) away from 0 and 1")
          .attr("scale_x_y", 1.0f, "the scale of the offsets of centers")
          .input("X", "[images, anchors (5 + class_num), size, size], the anchors of anchor_mask")
          .input("GTBox", "[images, boxes, 4]: center x, center y, width, height as parts of the image; size 0: no box")
          .input("GTLabel", "int32 [images, boxes]: the classes")
          .optional_input("GTScore", "[images, boxes]: weights of the boxes; absent: 1")
          .output("Loss", "[images]")
          .output(
              "ObjectnessMask",
              "[images, anchors, size, size]: the score of the prediction's box, 0 without one, -1 where it is ignored")
          .output("GTMatchMask", "int32 [images, boxes]: the position in anchor_mask of a box's anchor, or -1")
          .infer(infer_yolov3_loss)
          .gradient("yolov3_loss_grad",
                    {"X", "GTBox", "GTLabel", "GTScore", "ObjectnessMask", "GTMatchMask", "Loss@GRAD"}, {"X@GRAD"})
          .checks_data()
          .cpu_only("its anchors are a list, which no launcher passes")
          .kernels<Yolov3LossKernel, float, double>());
  ops.add(
      ops.gradient_of("yolov3_loss")
          .doc("X@GRAD: of several boxes with one cell and anchor the slopes are added; PaddlePaddle's keeps only the "
               "last, which is wrong.")
          .checks_data()
          .kernels<Yolov3LossGradKernel, float, double>());
}

}  // namespace paddle_mini
