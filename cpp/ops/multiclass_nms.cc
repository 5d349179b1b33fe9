// multiclass_nms: Out = the boxes of each class that have large scores and do not overlap
#include "ops/family/box_suppression.h"
#include "ops/family/regions.h"

namespace paddle_mini {
namespace {

struct NmsRules {
  int64_t background, candidates, most;
  double least_score, threshold, eta;
  bool normalized;

  template <class Source>
  explicit NmsRules(const Source& s)
      : background(s.template attr<int32_t>("background_label")), candidates(s.template attr<int32_t>("nms_top_k")),
        most(s.template attr<int32_t>("keep_top_k")), least_score(s.template attr<float>("score_threshold")),
        threshold(s.template attr<float>("nms_threshold")), eta(s.template attr<float>("nms_eta")),
        normalized(s.template attr<bool>("normalized")) {}
};

// The boxes of one image: `shared` by all classes, or [boxes, classes, 4] with scores [boxes, classes].
template <class T>
struct ScoredBoxes {
  const T *boxes, *scores;
  int64_t count, classes, first;  // first: index of its first box in the port
  bool shared;

  int64_t index(int64_t label, int64_t i) const { return shared ? i : i * classes + label; }
  const T* box(int64_t label, int64_t i) const { return boxes + index(label, i) * 4; }
  T score(int64_t label, int64_t i) const { return scores[shared ? label * count + i : i * classes + label]; }
};

struct KeptBox {
  int64_t label, box;
};

template <class T>
std::vector<KeptBox> select_boxes(const ScoredBoxes<T>& image, const NmsRules& rules) {
  std::vector<KeptBox> kept;
  for (int64_t label = 0; label < image.classes; ++label) {
    if (label == rules.background) continue;
    auto order = by_score(
        image.count, rules.candidates, [&](int64_t i) { return image.score(label, i); },
        [&](int64_t i) { return image.score(label, i) > static_cast<T>(rules.least_score); });
    auto chosen = suppressed(
        order, [&](int64_t i) { return image.box(label, i); }, static_cast<T>(rules.threshold),
        static_cast<T>(rules.eta), rules.normalized);
    if (!image.shared) std::sort(chosen.begin(), chosen.end());
    for (int64_t i : chosen) kept.push_back({label, i});
  }
  int64_t count = static_cast<int64_t>(kept.size());
  if (rules.most < 0 || count <= rules.most) return kept;
  auto score = [&](int64_t k) {
    const KeptBox& one = kept[static_cast<size_t>(k)];
    return image.score(one.label, one.box);
  };
  std::vector<KeptBox> best;
  for (int64_t k : by_score(count, rules.most, score, [](int64_t) { return true; })) {
    best.push_back(kept[static_cast<size_t>(k)]);
  }
  std::stable_sort(best.begin(), best.end(), [&](const KeptBox& a, const KeptBox& b) {
    return a.label != b.label ? a.label < b.label : !image.shared && a.box < b.box;
  });
  return best;
}

// Calls f(boxes of the image) for each image; `groups` are the rows of each if the classes have boxes of their own.
template <class T, class F>
void each_scored_image(const Tensor& boxes, const Tensor& scores, const Offsets* groups, F f) {
  const Shape& shape = scores.shape;
  int64_t images = groups ? count_of(groups) : shape[0];
  for (int64_t n = 0; n < images; ++n) {
    if (!groups) {
      int64_t count = shape[2], classes = shape[1];
      f(ScoredBoxes<T>{boxes.as<T>() + n * count * 4, scores.as<T>() + n * classes * count, count, classes, n * count,
                       true});
      continue;
    }
    int64_t begin = (*groups)[static_cast<size_t>(n)], end = (*groups)[static_cast<size_t>(n) + 1], classes = shape[1];
    f(ScoredBoxes<T>{boxes.as<T>() + begin * classes * 4, scores.as<T>() + begin * classes, end - begin, classes,
                     begin * classes, false});
  }
}

template <class T>
struct MulticlassNmsKernel : Kernel {
  In<T> boxes, scores;
  Out<T> out;
  Out<int32_t> index, counts;
  const Variable* rois_num;
  NmsRules rules;

  explicit MulticlassNmsKernel(KernelInit& init)
      : boxes(init, "BBoxes"), scores(init, "Scores"), out(init, "Out"), index(init, "Index", optional_port),
        counts(init, "NmsRoisNum", optional_port), rois_num(init.input("RoisNum")), rules(init) {}

  void run(KernelContext&) override {
    const Tensor &given = boxes.variable().tensor, &scored = scores.variable().tensor;
    Offsets groups;
    if (scores.shape().rank() == 2) groups = rows_of_images(given, rois_num, "RoisNum");
    if (out.shape()[0] > 0 && out.shape()[1] == 1) out[0] = T(-1);
    int64_t row = 0, image = 0;
    each_scored_image<T>(given, scored, groups.empty() ? nullptr : &groups, [&](const ScoredBoxes<T>& one) {
      std::vector<KeptBox> kept = select_boxes(one, rules);
      for (const KeptBox& box : kept) write(one, box, row++);
      if (counts) counts[image] = static_cast<int32_t>(kept.size());
      ++image;
    });
  }

  void write(const ScoredBoxes<T>& image, const KeptBox& kept, int64_t row) {
    T* to = out.data() + row * 6;
    to[0] = static_cast<T>(kept.label), to[1] = image.score(kept.label, kept.box);
    std::copy_n(image.box(kept.label, kept.box), 4, to + 2);
    if (index) index[row] = static_cast<int32_t>(image.first + image.index(kept.label, kept.box));
  }
};

// Returns the number of images.
int64_t check_scored_boxes(const InferContext& c) {
  require_tensors(c);
  require_same_dtype(c, "BBoxes", "Scores");
  require_rank(c, "BBoxes", 3);
  const Shape &boxes = c.shape("BBoxes"), &scores = c.shape("Scores");
  require<ShapeError>(scores.rank() == 2 || scores.rank() == 3, "Scores has ", scores.rank(),
                      " dimensions, it must have 2 or 3");
  require<ShapeError>(dims_agree(boxes[2], 4), "BBoxes has shape ", boxes.str(),
                      ", its last dimension must be 4: polygons are not supported");
  bool shared = scores.rank() == 3;
  bool fits = dims_agree(boxes[0], scores[0]) && dims_agree(boxes[1], scores[shared ? 2 : 1]);
  require<ShapeError>(fits, "Scores has shape ", scores.str(), ", BBoxes ", boxes.str(),
                      shared ? ": [images, classes, boxes] and [images, boxes, 4]"
                             : ": [boxes, classes] and [boxes, classes, 4]");
  int64_t most = boxes.numel(0, 2);
  require<ShapeError>(most <= INT32_MAX, "BBoxes has ", most, " boxes: Index is int32, which can't index them");
  return shared ? boxes[0] : infer_groups(c, "BBoxes", "RoisNum");
}

void infer_multiclass_nms(InferContext& c) {
  int64_t images = check_scored_boxes(c);
  DType dtype = c.input("BBoxes").dtype;
  bool with_index = c.has_output("Index");
  std::vector<int64_t> offsets;
  // Without Index, PaddlePaddle returns one row of one number for a result without boxes.
  Shape out{-1, with_index ? 6 : -1};
  if (const Variable* boxes = c.value("BBoxes")) {
    const Tensor &given = boxes->tensor, &scores = c.value("Scores")->tensor;
    Offsets groups;
    if (scores.shape.rank() == 2) {
      groups = rows_of_images(given, c.has_input("RoisNum") ? c.value("RoisNum") : nullptr, "RoisNum");
    }
    offsets = {0};
    for_float_type(dtype, [&](auto zero) {
      using T = decltype(zero);
      each_scored_image<T>(given, scores, groups.empty() ? nullptr : &groups, [&](const ScoredBoxes<T>& one) {
        offsets.push_back(offsets.back() + static_cast<int64_t>(select_boxes(one, NmsRules(c)).size()));
      });
    });
    out = {offsets.back(), 6};
    if (offsets.back() == 0 && !with_index) out = {1, 1}, offsets = {0, 1};
  }
  set_rows_of_images(c, "Out", dtype, out, offsets);
  set_rows_of_images(c, "Index", DType::Int32, Shape{out[0], 1}, offsets);
  c.set_output("NmsRoisNum", DType::Int32, Shape{images});
}

OpSchema nms_schema(const char* type) {
  return OpSchema(type)
      .attr("background_label", 0, "the class that is left out; -1: none")
      .required_attr("score_threshold", AttrType::Float, "boxes of a score up to this are left out")
      .required_attr("nms_top_k", AttrType::Int, "candidates of a class; -1: all")
      .attr("nms_threshold", 0.3f, "the largest overlap with a kept box, intersection over union")
      .attr("nms_eta", 1.0f, "below 1: the threshold is multiplied by it for each kept box, while above 0.5")
      .required_attr("keep_top_k", AttrType::Int, "boxes of an image; -1: all")
      .attr("normalized", true, "false: the ends of boxes are pixels inside of them, so that sizes are 1 larger")
      .input("BBoxes", "[images, boxes, 4]: left, top, right, bottom; or [boxes, classes, 4] in sequences (lod)")
      .input("Scores", "[images, classes, boxes]; or [boxes, classes]")
      .output("Out", "[kept, 6], a sequence for each image: class, score, box")
      .infer(infer_multiclass_nms)
      .custom_lod()
      .no_gradient("its boxes are results, not terms of a loss")
      .cpu_only("the size of its result depends on data");
}

const char kNmsDoc[] =
    "Takes the boxes of each class in the order of their scores, without those that overlap a box that was taken by "
    "more "
    "than nms_threshold; of each image, the keep_top_k of the largest scores, ordered by class. A score of NaN is left "
    "out. ";

}  // namespace

void define_multiclass_nms(OpTable& ops) {
  ops.add(nms_schema("multiclass_nms")
              .doc(std::string(kNmsDoc) + "If nothing is kept, Out is one row of -1.")
              .kernels<MulticlassNmsKernel, float, double>());
  ops.add(nms_schema("multiclass_nms2")
              .doc(kNmsDoc)
              .output("Index", "int32 [kept, 1]: the row of each box in BBoxes, as if it were [n, 4]")
              .kernels<MulticlassNmsKernel, float, double>());
  ops.add(nms_schema("multiclass_nms3")
              .doc(kNmsDoc)
              .optional_input("RoisNum",
                              "int32 or int64 [images]: how many of the rows are of each image, if no lod says so")
              .output("Index", "int32 [kept, 1]: the row of each box in BBoxes, as if it were [n, 4]")
              .optional_output("NmsRoisNum", "int32 [images]: how many boxes of each image are kept")
              .kernels<MulticlassNmsKernel, float, double>());
}

}  // namespace paddle_mini
