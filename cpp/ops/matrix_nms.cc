// matrix_nms: Out = the boxes of each class whose scores are large after a decay by their overlaps with better ones
#include "ops/family/box_suppression.h"

namespace paddle_mini {
namespace {

struct DecayRules {
  int64_t background, candidates, most;
  double least_score, least_after, sigma;
  bool gaussian, normalized;

  template <class Source>
  explicit DecayRules(const Source& s)
      : background(s.template attr<int32_t>("background_label")), candidates(s.template attr<int32_t>("nms_top_k")),
        most(s.template attr<int32_t>("keep_top_k")), least_score(s.template attr<float>("score_threshold")),
        least_after(s.template attr<float>("post_threshold")), sigma(s.template attr<float>("gaussian_sigma")),
        gaussian(s.template attr<bool>("use_gaussian")), normalized(s.template attr<bool>("normalized")) {}
};

template <class T>
struct DecayedBox {
  int64_t label, box;
  T score;
};

template <class T>
T decay_of(T overlap, T largest, const DecayRules& rules) {
  if (rules.gaussian) return std::exp((largest * largest - overlap * overlap) * static_cast<T>(rules.sigma));
  return (T(1) - overlap) / (T(1) - largest);
}

// One class: a box's score is multiplied by its least decay by a better box, relative to how much that box overlaps the
// ones better than it. std::min and std::max pass over a decay that is NaN.
template <class T>
void decay_class(const T* boxes, const T* scores, int64_t count, int64_t label, const DecayRules& rules,
                 std::vector<DecayedBox<T>>& kept) {
  std::vector<int64_t> order = by_score(
      count, rules.candidates, [&](int64_t i) { return scores[i]; },
      [&](int64_t i) { return scores[i] > static_cast<T>(rules.least_score); });
  std::vector<T> overlaps(order.size()), largest(order.size(), T(0));
  for (size_t i = 0; i < order.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      overlaps[j] = box_overlap(boxes + order[i] * 4, boxes + order[j] * 4, rules.normalized);
      largest[i] = std::max(largest[i], overlaps[j]);
    }
    T least = T(1);
    for (size_t j = 0; j < i; ++j) least = std::min(least, decay_of(overlaps[j], largest[j], rules));
    T score = i == 0 ? scores[order[i]] : least * scores[order[i]];
    if (score > static_cast<T>(rules.least_after)) kept.push_back({label, order[i], score});
  }
}

template <class T>
std::vector<DecayedBox<T>> decay_image(const T* boxes, const T* scores, const Shape& shape, const DecayRules& rules) {
  std::vector<DecayedBox<T>> kept, best;
  for (int64_t label = 0; label < shape[1]; ++label) {
    if (label != rules.background) decay_class(boxes, scores + label * shape[2], shape[2], label, rules, kept);
  }
  auto score = [&](int64_t k) { return kept[static_cast<size_t>(k)].score; };
  for (int64_t k : by_score(static_cast<int64_t>(kept.size()), rules.most, score, [](int64_t) { return true; })) {
    best.push_back(kept[static_cast<size_t>(k)]);
  }
  return best;
}

template <class T>
struct MatrixNmsKernel : Kernel {
  In<T> boxes, scores;
  Out<T> out;
  Out<int32_t> index, counts;
  DecayRules rules;

  explicit MatrixNmsKernel(KernelInit& init)
      : boxes(init, "BBoxes"), scores(init, "Scores"), out(init, "Out"), index(init, "Index", optional_port),
        counts(init, "RoisNum", optional_port), rules(init) {}

  void run(KernelContext&) override {
    const Shape& shape = scores.shape();
    int64_t row = 0, size = shape[2];
    for (int64_t image = 0; image < shape[0]; ++image) {
      const T* from = boxes.data() + image * size * 4;
      auto kept = decay_image(from, scores.data() + image * shape[1] * size, shape, rules);
      for (const DecayedBox<T>& one : kept) {
        T* to = out.data() + row * 6;
        to[0] = static_cast<T>(one.label), to[1] = one.score;
        std::copy_n(from + one.box * 4, 4, to + 2);
        if (index) index[row] = static_cast<int32_t>(image * size + one.box);
        ++row;
      }
      if (counts) counts[image] = static_cast<int32_t>(kept.size());
    }
  }
};

void infer_matrix_nms(InferContext& c) {
  require_tensors(c);
  require_same_dtype(c, "BBoxes", "Scores");
  require_rank(c, "BBoxes", 3);
  require_rank(c, "Scores", 3);
  const Shape &boxes = c.shape("BBoxes"), &scores = c.shape("Scores");
  bool fits = dims_agree(boxes[0], scores[0]) && dims_agree(boxes[1], scores[2]) && dims_agree(boxes[2], 4);
  require<ShapeError>(fits, "Scores has shape ", scores.str(), ", BBoxes ", boxes.str(),
                      ": they must be [images, classes, boxes] and [images, boxes, 4]");
  int64_t most = boxes.numel(0, 2), kept = -1;
  require<ShapeError>(most <= INT32_MAX, "BBoxes has ", most, " boxes: Index is int32, which can't index them");
  DType dtype = c.input("BBoxes").dtype;
  std::vector<int64_t> offsets;
  if (const Variable* given = c.value("BBoxes")) {
    offsets = {0};
    for_float_type(dtype, [&](auto zero) {
      using T = decltype(zero);
      for (int64_t image = 0; image < scores[0]; ++image) {
        const T *from = given->tensor.as<T>() + image * scores[2] * 4,
                *with = c.value("Scores")->tensor.as<T>() + image * scores[1] * scores[2];
        offsets.push_back(offsets.back() + static_cast<int64_t>(decay_image(from, with, scores, DecayRules(c)).size()));
      }
    });
    kept = offsets.back();
  }
  set_rows_of_images(c, "Out", dtype, Shape{kept, 6}, offsets);
  set_rows_of_images(c, "Index", DType::Int32, Shape{kept, 1}, offsets);
  c.set_output("RoisNum", DType::Int32, Shape{scores[0]});
}

}  // namespace

void define_matrix_nms(OpTable& ops) {
  ops.add(
      OpSchema("matrix_nms")
          .doc("The score of a box is multiplied by the least decay f(overlap) / f(largest overlap of the better box "
               "with one better than it) over all better boxes of its class; f(o) = 1 - o, or exp(-gaussian_sigma "
               "o^2). Boxes are kept while their scores stay above post_threshold, at most keep_top_k of an image, the "
               "largest first. A score of NaN is left out. Wang et al. 2020, SOLOv2.")
          .required_attr("score_threshold", AttrType::Float, "boxes of a score up to this are left out")
          .required_attr("nms_top_k", AttrType::Int, "candidates of a class; -1: all")
          .required_attr("keep_top_k", AttrType::Int, "boxes of an image; -1: all")
          .attr("post_threshold", 0.0f, "boxes of a decayed score up to this are left out")
          .attr("use_gaussian", false, "whether the decay is Gaussian, not linear")
          .attr("gaussian_sigma", 2.0f, "of the Gaussian decay")
          .attr("background_label", 0, "the class that is left out; -1: none")
          .attr("normalized", true, "false: the ends of boxes are pixels inside of them, so that sizes are 1 larger")
          .input("BBoxes", "[images, boxes, 4]: left, top, right, bottom")
          .input("Scores", "[images, classes, boxes]")
          .output("Out", "[kept, 6], a sequence for each image: class, decayed score, box")
          .optional_output("Index", "int32 [kept, 1]: the row of each box in BBoxes, as if it were [n, 4]")
          .optional_output("RoisNum", "int32 [images]: how many boxes of each image are kept")
          .infer(infer_matrix_nms)
          .custom_lod()
          .no_gradient("its boxes are results, not terms of a loss")
          .cpu_only("the size of its result depends on data")
          .kernels<MatrixNmsKernel, float, double>());
}

}  // namespace paddle_mini
