// generate_proposals: RpnRois = the boxes that a region proposal network predicts, the best ones that do not overlap
#include "ops/family/box_suppression.h"

namespace paddle_mini {
namespace {

// Version 1 has sizes with a scale, and ends of boxes that are pixels inside.
struct ProposalRules {
  int64_t candidates, most;
  double threshold, least_size, eta;
  bool pixels, scaled;

  template <class Source>
  explicit ProposalRules(const Source& s)
      : candidates(s.template attr<int32_t>("pre_nms_topN")), most(s.template attr<int32_t>("post_nms_topN")),
        threshold(s.template attr<float>("nms_thresh")), least_size(std::max(s.template attr<float>("min_size"), 1.0f)),
        eta(s.template attr<float>("eta")), scaled(s.op().type == "generate_proposals") {
    pixels = scaled || s.template attr<bool>("pixel_offset");
    if (candidates <= 0) candidates = -1;
  }
};

// The inputs of one image; anchor a of cell p has the score scores[a, p] and the offsets deltas[4 a, p].
template <class T>
struct ProposalImage {
  const T *scores, *deltas, *size, *anchors, *variances;
  int64_t per_cell, cells;

  int64_t count() const { return per_cell * cells; }
  // Boxes are counted cell by cell, as the anchors are.
  T score(int64_t i) const { return scores[i % per_cell * cells + i / per_cell]; }
  T delta(int64_t i, int64_t k) const {
    return variances[i * 4 + k] * deltas[(i % per_cell * 4 + k) * cells + i / per_cell];
  }
};

template <class T>
struct Proposal {
  T box[4], score;
};

// Decodes a box and clips it to the image. A box grows by at most 1000 / 16, so that exp does not overflow.
template <class T>
Proposal<T> decode_proposal(const ProposalImage<T>& image, int64_t i, const ProposalRules& rules) {
  const T *anchor = image.anchors + i * 4, border = rules.pixels ? T(1) : T(0);
  const T limit = static_cast<T>(std::log(1000.0 / 16.0));
  Proposal<T> found{};
  found.score = image.score(i);
  for (int64_t k = 0; k < 2; ++k) {
    T length = anchor[k + 2] - anchor[k] + border;
    T center = image.delta(i, k) * length + (anchor[k] + T(0.5) * length);
    T half = std::exp(std::min(image.delta(i, k + 2), limit)) * length / T(2);
    T last = image.size[1 - k] - border;
    found.box[k] = std::max(std::min(center - half, last), T(0));
    found.box[k + 2] = std::max(std::min(center + half - border, last), T(0));
  }
  return found;
}

template <class T>
bool is_large_enough(const Proposal<T>& found, const T* size, const ProposalRules& rules) {
  T border = rules.pixels ? T(1) : T(0), least = static_cast<T>(rules.least_size);
  for (int64_t k = 0; k < 2; ++k) {
    T length = found.box[k + 2] - found.box[k] + border;
    bool inside = !rules.pixels || found.box[k] + length / T(2) <= size[1 - k];
    if (rules.scaled) length = (found.box[k + 2] - found.box[k]) / size[2] + T(1);
    if (!(length >= least && inside)) return false;
  }
  return true;
}

// One proposal of zeros stands for an image without any.
template <class T>
std::vector<Proposal<T>> propose(const ProposalImage<T>& image, const ProposalRules& rules) {
  auto all = [](int64_t) { return true; };
  std::vector<Proposal<T>> found, chosen;
  for (int64_t i : by_score(image.count(), rules.candidates, [&](int64_t k) { return image.score(k); }, all)) {
    Proposal<T> one = decode_proposal(image, i, rules);
    if (is_large_enough(one, image.size, rules)) found.push_back(one);
  }
  if (found.empty()) return {Proposal<T>{}};
  if (rules.threshold <= 0) return found;
  std::vector<int64_t> order(found.size());
  std::iota(order.begin(), order.end(), int64_t{0});
  for (int64_t i : suppressed(
           order, [&](int64_t k) { return found[static_cast<size_t>(k)].box; }, static_cast<T>(rules.threshold),
           static_cast<T>(rules.eta), !rules.pixels)) {
    chosen.push_back(found[static_cast<size_t>(i)]);
  }
  if (rules.most > 0 && rules.most < static_cast<int64_t>(chosen.size()))
    chosen.resize(static_cast<size_t>(rules.most));
  return chosen;
}

// Calls f(image) for each image; `of(port)` is a tensor.
template <class T, class Of, class F>
void each_proposal_image(Of of, const char* sizes, F f) {
  const Tensor &scores = of("Scores"), &size = of(sizes);
  int64_t per_cell = scores.shape[1], cells = scores.shape[2] * scores.shape[3];
  for (int64_t n = 0; n < scores.shape[0]; ++n) {
    f(ProposalImage<T>{scores.as<T>() + n * per_cell * cells,
                       of("BboxDeltas").template as<T>() + n * 4 * per_cell * cells, size.as<T>() + n * size.shape[1],
                       of("Anchors").template as<T>(), of("Variances").template as<T>(), per_cell, cells});
  }
}

template <class T>
struct GenerateProposalsKernel : Kernel {
  ProposalRules rules;
  const char* sizes;
  std::map<std::string, const Variable*> inputs;
  Out<T> boxes, scores;
  Out<int32_t> counts;

  explicit GenerateProposalsKernel(KernelInit& init)
      : rules(init), sizes(rules.scaled ? "ImInfo" : "ImShape"), boxes(init, "RpnRois", optional_port),
        scores(init, "RpnRoiProbs", optional_port), counts(init, "RpnRoisNum", optional_port) {
    for (const char* port : {"Scores", "BboxDeltas", sizes, "Anchors", "Variances"}) inputs[port] = init.input(port);
  }

  void run(KernelContext&) override {
    int64_t row = 0, image = 0;
    auto of = [this](const char* port) -> const Tensor& { return inputs.at(port)->tensor; };
    each_proposal_image<T>(of, sizes, [&](const ProposalImage<T>& one) {
      std::vector<Proposal<T>> found = propose(one, rules);
      if (counts) counts[image] = static_cast<int32_t>(found.size());
      ++image;
      for (const Proposal<T>& proposal : found) {
        if (boxes) std::copy_n(proposal.box, 4, boxes.data() + row * 4);
        if (scores) scores[row] = proposal.score;
        ++row;
      }
    });
  }
};

void check_proposals(const InferContext& c, const char* sizes, int64_t numbers) {
  require_tensors(c);
  for (const char* port : {"Scores", "BboxDeltas", "Anchors", "Variances"}) {
    require_same_dtype(c, "Scores", port);
    require_rank(c, port, 4);
  }
  require_same_dtype(c, "Scores", sizes);
  require_rank(c, sizes, 2);
  const Shape &scores = c.shape("Scores"), &deltas = c.shape("BboxDeltas"), &anchors = c.shape("Anchors");
  int64_t wanted = scores[1] < 0 ? -1 : scores[1] * 4;
  require<ShapeError>(shapes_agree(deltas, Shape{scores[0], wanted, scores[2], scores[3]}), "BboxDeltas has shape ",
                      deltas.str(), ", Scores ", scores.str(), ": there are 4 offsets for each score");
  require<ShapeError>(shapes_agree(anchors, Shape{scores[2], scores[3], scores[1], 4}), "Anchors has shape ",
                      anchors.str(), ", it must be [", scores[2], ", ", scores[3], ", ", scores[1], ", 4]");
  require_same_shape(c, "Anchors", "Variances");
  const Shape& size = c.shape(sizes);
  require<ShapeError>(dims_agree(size[0], scores[0]) && dims_agree(size[1], numbers), sizes, " has shape ", size.str(),
                      ", it must be [", scores[0], ", ", numbers, "]");
}

void infer_proposals(InferContext& c) {
  bool scaled = c.op().type == "generate_proposals";
  const char* sizes = scaled ? "ImInfo" : "ImShape";
  check_proposals(c, sizes, scaled ? 3 : 2);
  DType dtype = c.input("Scores").dtype;
  std::vector<int64_t> offsets;
  int64_t count = -1;
  if (c.value("Scores")) {
    offsets = {0};
    for_float_type(dtype, [&](auto zero) {
      using T = decltype(zero);
      each_proposal_image<T>([&](const char* port) -> const Tensor& { return c.value(port)->tensor; }, sizes,
                             [&](const ProposalImage<T>& one) {
                               int64_t more = static_cast<int64_t>(propose(one, ProposalRules(c)).size());
                               offsets.push_back(offsets.back() + more);
                             });
    });
    count = offsets.back();
  }
  set_rows_of_images(c, "RpnRois", dtype, Shape{count, 4}, offsets);
  set_rows_of_images(c, "RpnRoiProbs", dtype, Shape{count, 1}, offsets);
  c.set_output("RpnRoisNum", DType::Int32, Shape{c.shape("Scores")[0]});
}

OpSchema proposals_schema(const char* type, const char* sizes, const char* sizes_doc) {
  return OpSchema(type)
      .required_attr("pre_nms_topN", AttrType::Int, "candidates of an image, the largest scores; 0: all")
      .required_attr("post_nms_topN", AttrType::Int, "boxes of an image; 0: all")
      .required_attr("nms_thresh", AttrType::Float,
                     "the largest overlap with a better box, intersection over union; 0: boxes may overlap, and "
                     "post_nms_topN does not count")
      .required_attr("min_size", AttrType::Float, "the least width and height, at least 1")
      .required_attr("eta", AttrType::Float,
                     "below 1: the threshold is multiplied by it for each kept box, while above 0.5")
      .input("Scores", "[images, anchors, rows, columns]")
      .input("BboxDeltas", "[images, 4 anchors, rows, columns]: offsets from the anchors")
      .input(sizes, sizes_doc)
      .input("Anchors", "[rows, columns, anchors, 4]: left, top, right, bottom")
      .input("Variances", "shape of Anchors: what the offsets are multiplied by")
      .output("RpnRois", "[boxes, 4], a sequence for each image")
      .output("RpnRoiProbs", "[boxes, 1]: their scores")
      .optional_output("RpnRoisNum", "int32 [images]: how many boxes each image has")
      .infer(infer_proposals)
      .custom_lod()
      .no_gradient("its boxes are results, not terms of a loss")
      .cpu_only("the size of its result depends on data");
}

const char kProposalsDoc[] =
    "Decodes the boxes of the largest scores as box_coder does, clips them to the image, leaves out those that are "
    "small, "
    "and suppresses those that overlap a better one by more than nms_thresh. An image without any gets one box of "
    "zeros. "
    "Scores of NaN come last. Ren et al. 2015, Faster R-CNN. ";

}  // namespace

void define_generate_proposals(OpTable& ops) {
  ops.add(proposals_schema("generate_proposals", "ImInfo", "[images, 3]: height, width and scale of each image")
              .doc(std::string(kProposalsDoc) + "min_size counts before the scale.")
              .kernels<GenerateProposalsKernel, float, double>());
  ops.add(proposals_schema("generate_proposals_v2", "ImShape", "[images, 2]: height and width of each image")
              .doc(kProposalsDoc)
              .attr("pixel_offset", true, "whether the ends of boxes are pixels inside, so that sizes are 1 larger")
              .kernels<GenerateProposalsKernel, float, double>());
}

}  // namespace paddle_mini
