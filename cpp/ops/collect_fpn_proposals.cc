// collect_fpn_proposals: FpnRois = the boxes of the largest scores of all levels of a feature pyramid
#include "ops/family/box_suppression.h"
#include "ops/family/regions.h"

namespace paddle_mini {
namespace {

struct CollectedBox {
  size_t level;
  int64_t row, image;
};

// The boxes that are taken, image by image, and in each image the largest score first.
template <class T>
std::vector<CollectedBox> collect(const std::vector<const Variable*>& boxes, const std::vector<const Variable*>& scores,
                                  const std::vector<const Variable*>& counts, int64_t most) {
  std::vector<CollectedBox> all, best;
  std::vector<T> with;
  for (size_t level = 0; level < boxes.size(); ++level) {
    const Tensor& rows = boxes[level]->tensor;
    Offsets groups = rows_of_images(rows, counts.empty() ? nullptr : counts[level], "MultiLevelRoIsNum");
    for (size_t image = 0; image + 1 < groups.size(); ++image) {
      for (int64_t row = groups[image]; row < groups[image + 1]; ++row) {
        all.push_back({level, row, static_cast<int64_t>(image)});
        with.push_back(scores[level]->tensor.as<T>()[row]);
      }
    }
  }
  auto score = [&](int64_t i) { return with[static_cast<size_t>(i)]; };
  for (int64_t i : by_score(static_cast<int64_t>(all.size()), most, score, [](int64_t) { return true; })) {
    best.push_back(all[static_cast<size_t>(i)]);
  }
  std::stable_sort(best.begin(), best.end(),
                   [](const CollectedBox& a, const CollectedBox& b) { return a.image < b.image; });
  return best;
}

template <class T>
struct CollectFpnProposalsKernel : Kernel {
  std::vector<const Variable*> boxes, scores, counts;
  Out<T> out;
  Out<int32_t> collected;
  int64_t most;

  explicit CollectFpnProposalsKernel(KernelInit& init)
      : out(init, "FpnRois"), collected(init, "RoisNum", optional_port), most(init.attr<int32_t>("post_nms_topN")) {
    for (size_t i = 0; i < init.input_count("MultiLevelRois"); ++i) {
      boxes.push_back(init.input("MultiLevelRois", i));
      scores.push_back(init.input("MultiLevelScores", i));
      if (init.input_count("MultiLevelRoIsNum") > 0) counts.push_back(init.input("MultiLevelRoIsNum", i));
    }
  }

  void run(KernelContext&) override {
    std::vector<CollectedBox> best = collect<T>(boxes, scores, counts, most);
    if (collected) std::fill_n(collected.data(), collected.numel(), 0);
    int64_t to = 0;
    for (const CollectedBox& one : best) {
      std::copy_n(boxes[one.level]->tensor.as<T>() + one.row * 4, 4, out.data() + 4 * to++);
      if (collected) ++collected[one.image];
    }
  }
};

// Returns the number of images.
int64_t check_collected(const InferContext& c) {
  require_tensors(c);
  size_t levels = c.input_count("MultiLevelRois");
  bool counted = c.has_input("MultiLevelRoIsNum");
  for (const char* port : {"MultiLevelScores", counted ? "MultiLevelRoIsNum" : "MultiLevelRois"}) {
    require<ProgramError>(c.input_count(port) == levels, port, " has ", c.input_count(port),
                          " variables, MultiLevelRois has ", levels);
  }
  int64_t images = -1;
  for (size_t i = 0; i < levels; ++i) {
    const VarInfo &boxes = c.input("MultiLevelRois", i), &scores = c.input("MultiLevelScores", i);
    require<ShapeError>(boxes.shape.rank() == 2 && dims_agree(boxes.shape[1], 4), "MultiLevelRois has shape ",
                        boxes.shape.str(), ", it must be [boxes, 4]");
    bool alike = boxes.dtype == c.input("MultiLevelRois").dtype && boxes.dtype == scores.dtype;
    require<ShapeError>(alike, "MultiLevelRois are ", name_of(c.input("MultiLevelRois").dtype), ", level ", i, " has ",
                        name_of(boxes.dtype), " with scores of ", name_of(scores.dtype));
    int64_t given = scores.shape.numel(0, scores.shape.rank());
    require<ShapeError>(dims_agree(given, boxes.shape[0]), "MultiLevelScores has shape ", scores.shape.str(),
                        ", level ", i, " has ", boxes.shape[0], " boxes");
    int64_t groups = -1;
    if (counted) {
      const VarInfo& counts = c.input("MultiLevelRoIsNum", i);
      bool whole = counts.dtype == DType::Int32 || counts.dtype == DType::Int64;
      require<ShapeError>(whole, "MultiLevelRoIsNum is ", name_of(counts.dtype), ", it must be int32 or int64");
      groups = counts.shape.numel(0, counts.shape.rank());
    } else {
      groups = count_of(plain_sequences(c, "MultiLevelRois", i));
    }
    require<ShapeError>(dims_agree(groups, images), "level ", i, " has ", groups, " images, the others have ", images);
    images = std::max(images, groups);
  }
  return images;
}

void infer_collect_fpn_proposals(InferContext& c) {
  int64_t images = check_collected(c), count = -1;
  DType dtype = c.input("MultiLevelRois").dtype;
  std::vector<int64_t> offsets;
  if (c.has_values()) {
    auto all = [&](const char* port) {
      std::vector<const Variable*> list;
      for (size_t i = 0; i < c.input_count(port); ++i) list.push_back(c.value(port, i));
      return list;
    };
    offsets.assign(static_cast<size_t>(images) + 1, 0);
    for_float_type(dtype, [&](auto zero) {
      auto best = collect<decltype(zero)>(all("MultiLevelRois"), all("MultiLevelScores"), all("MultiLevelRoIsNum"),
                                          c.attr<int32_t>("post_nms_topN"));
      for (const CollectedBox& one : best) ++offsets[static_cast<size_t>(one.image) + 1];
    });
    std::partial_sum(offsets.begin(), offsets.end(), offsets.begin());
    count = offsets.back();
  }
  set_rows_of_images(c, "FpnRois", dtype, Shape{count, 4}, offsets);
  c.set_output("RoisNum", DType::Int32, Shape{images});
}

}  // namespace

void define_collect_fpn_proposals(OpTable& ops) {
  ops.add(
      OpSchema("collect_fpn_proposals")
          .doc("Takes the post_nms_topN boxes of the largest scores of all levels and images together; NaN comes last. "
               "Where an image has no boxes, PaddlePaddle counts those of the next one for it, which is wrong. Lin et "
               "al. 2017, Feature Pyramid Networks.")
          .required_attr("post_nms_topN", AttrType::Int, "how many boxes are taken", at_least(0))
          .input_list("MultiLevelRois", "for each level boxes [n, 4], a sequence (lod) for each image")
          .input_list("MultiLevelScores", "for each level scores [n, 1]")
          .optional_input_list(
              "MultiLevelRoIsNum",
              "for each level int32 or int64 [images]: how many boxes of each image, if no lod says so")
          .output("FpnRois", "[boxes, 4], a sequence for each image")
          .optional_output("RoisNum", "int32 [images]: how many boxes of each image are taken")
          .infer(infer_collect_fpn_proposals)
          .custom_lod()
          .no_gradient("it chooses boxes, which are not terms of a loss")
          .cpu_only("the size of its result depends on data")
          .kernels<CollectFpnProposalsKernel, float, double>());
}

}  // namespace paddle_mini
