// distribute_fpn_proposals: each box goes to the level of a feature pyramid that suits its size
#include "ops/family/box_suppression.h"
#include "ops/family/regions.h"

namespace paddle_mini {
namespace {

struct PyramidLevels {
  int64_t least, most, refer;
  double scale;
  bool pixels;

  template <class Source>
  explicit PyramidLevels(const Source& s)
      : least(s.template attr<int32_t>("min_level")), most(s.template attr<int32_t>("max_level")),
        refer(s.template attr<int32_t>("refer_level")), scale(s.template attr<int32_t>("refer_scale")),
        pixels(s.template attr<bool>("pixel_offset")) {}

  int64_t count() const { return most - least + 1; }
  // The index of a box's level, compared before it becomes an integer: the area may be NaN or infinite.
  template <class T>
  int64_t of(const T* box) const {
    T size = std::sqrt(box_area(box, !pixels)) / static_cast<T>(scale);
    T level = std::floor(std::log2(size + T(1e-6)) + static_cast<T>(refer)) - static_cast<T>(least);
    if (!(level > T(0))) return 0;
    return level < static_cast<T>(count()) ? static_cast<int64_t>(level) : count() - 1;
  }
};

template <class T>
struct DistributeFpnProposalsKernel : Kernel {
  In<T> boxes;
  const Variable* given;
  PyramidLevels levels;
  std::vector<Out<T>> parts;
  std::vector<Out<int32_t>> counts;
  Out<int32_t> restore;

  explicit DistributeFpnProposalsKernel(KernelInit& init)
      : boxes(init, "FpnRois"), given(init.input("RoisNum")), levels(init),
        restore(init, "RestoreIndex", optional_port) {
    for (size_t i = 0; i < init.output_count("MultiFpnRois"); ++i) parts.emplace_back(init, "MultiFpnRois", i);
    for (size_t i = 0; i < init.output_count("MultiLevelRoIsNum"); ++i) {
      counts.emplace_back(init, "MultiLevelRoIsNum", i);
    }
  }

  void run(KernelContext&) override {
    const Offsets offsets = rows_of_images(boxes.variable().tensor, given, "RoisNum");
    for (Out<int32_t>& count : counts) std::fill_n(count.data(), count.numel(), 0);
    std::vector<int64_t> next(parts.size()), first(parts.size(), 0);
    for (size_t i = 1; i < parts.size(); ++i) first[i] = first[i - 1] + parts[i - 1].shape()[0];
    for (size_t group = 0; group + 1 < offsets.size(); ++group) {
      for (int64_t row = offsets[group]; row < offsets[group + 1]; ++row) {
        const T* box = boxes.data() + row * 4;
        auto level = static_cast<size_t>(levels.of(box));
        if (restore) restore[row] = static_cast<int32_t>(first[level] + next[level]);
        std::copy_n(box, 4, parts[level].data() + next[level]++ * 4);
        if (!counts.empty()) ++counts[level][static_cast<int64_t>(group)];
      }
    }
  }
};

// The boundaries of the groups of each level.
template <class T>
std::vector<Offsets> level_offsets(const Tensor& boxes, const Variable* counts, const PyramidLevels& levels) {
  std::vector<Offsets> result(static_cast<size_t>(levels.count()), Offsets{0});
  const Offsets groups = rows_of_images(boxes, counts, "RoisNum");
  for (size_t i = 0; i + 1 < groups.size(); ++i) {
    for (Offsets& one : result) one.push_back(one.back());
    for (int64_t row = groups[i]; row < groups[i + 1]; ++row) {
      ++result[static_cast<size_t>(levels.of(boxes.as<T>() + row * 4))].back();
    }
  }
  return result;
}

void infer_distribute_fpn_proposals(InferContext& c) {
  require_tensors(c);
  require_rank(c, "FpnRois", 2);
  const Shape& boxes = c.shape("FpnRois");
  require<ShapeError>(dims_agree(boxes[1], 4), "FpnRois has shape ", boxes.str(), ", it must be [boxes, 4]");
  int64_t groups = infer_groups(c, "FpnRois", "RoisNum");
  PyramidLevels levels(c);
  require<ProgramError>(levels.most >= levels.least, "attribute 'max_level' is ", levels.most,
                        ", it must be at least min_level, ", levels.least);
  require<ProgramError>(levels.scale > 0, "attribute 'refer_scale' is ", levels.scale, ", it must be positive");
  auto count = static_cast<int64_t>(c.output_count("MultiFpnRois"));
  require<ProgramError>(count == levels.count(), "MultiFpnRois has ", count, " variables, there are ", levels.count(),
                        " levels");
  int64_t counted = static_cast<int64_t>(c.output_count("MultiLevelRoIsNum"));
  require<ProgramError>(counted == 0 || counted == count, "MultiLevelRoIsNum has ", counted, " variables, there are ",
                        count, " levels");
  require<ShapeError>(boxes[0] <= INT32_MAX, "FpnRois has ", boxes[0], " rows: RestoreIndex is int32");
  DType dtype = c.input("FpnRois").dtype;
  std::vector<Offsets> offsets(static_cast<size_t>(count));
  if (const Variable* given = c.value("FpnRois")) {
    const Variable* counts = c.has_input("RoisNum") ? c.value("RoisNum") : nullptr;
    for_float_type(dtype, [&](auto zero) { offsets = level_offsets<decltype(zero)>(given->tensor, counts, levels); });
  }
  for (size_t i = 0; i < offsets.size(); ++i) {
    VarInfo info{VarKind::Tensor, dtype, Shape{offsets[i].empty() ? -1 : offsets[i].back(), 4}, 1};
    if (!offsets[i].empty()) info.lod = {offsets[i]};
    c.output("MultiFpnRois", i) = info;
    if (counted > 0) c.output("MultiLevelRoIsNum", i) = VarInfo{VarKind::Tensor, DType::Int32, Shape{groups}};
  }
  c.set_output("RestoreIndex", DType::Int32, Shape{boxes[0], 1});
}

}  // namespace

void define_distribute_fpn_proposals(OpTable& ops) {
  ops.add(
      OpSchema("distribute_fpn_proposals")
          .doc("A box of area a goes to level floor(log2(sqrt(a) / refer_scale + 1e-6) + refer_level), from min_level "
               "to max_level; a box with NaN to min_level. Lin et al. 2017, Feature Pyramid Networks.")
          .required_attr("min_level", AttrType::Int, "the first level")
          .required_attr("max_level", AttrType::Int, "the last level")
          .required_attr("refer_level", AttrType::Int, "the level of a box of the size refer_scale")
          .required_attr("refer_scale", AttrType::Int, "the side of a square box of refer_level")
          .attr("pixel_offset", true, "whether the ends of boxes are pixels inside, so that sizes are 1 larger")
          .input("FpnRois", "[boxes, 4]: left, top, right, bottom; without RoisNum, a sequence (lod) for each image")
          .optional_input("RoisNum", "int32 or int64 [images]: how many of the boxes are of each image, in order")
          .output_list("MultiFpnRois", "for each level its boxes [n, 4], a sequence for each image")
          .optional_output_list("MultiLevelRoIsNum", "for each level int32 [images]: how many boxes of each image")
          .optional_output("RestoreIndex", "int32 [boxes, 1]: the row of each box among those of all levels together")
          .infer(infer_distribute_fpn_proposals)
          .custom_lod()
          .no_gradient("it distributes boxes, which are not terms of a loss")
          .cpu_only("the sizes of its results depend on data")
          .kernels<DistributeFpnProposalsKernel, float, double>());
}

}  // namespace paddle_mini
