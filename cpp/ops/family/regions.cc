// The checks and the schema that operators on regions share.
#include "ops/family/regions.h"

namespace paddle_mini {

Offsets rows_of_images(const Tensor& rows, const Variable* counts, const char* port) {
  if (!counts) return rows.lod.back();
  const Tensor& given = counts->tensor;
  Offsets offsets{0};
  int64_t rest = rows.shape[0];
  for (int64_t i = 0; i < given.shape.numel(); ++i) {
    int64_t count = given.dtype == DType::Int64 ? given.as<int64_t>()[i] : given.as<int32_t>()[i];
    require<OpError>(count >= 0 && count <= rest, port, " has ", count, " for image ", i, ", from 0 to ", rest,
                     " rows are left of ", rows.shape[0]);
    offsets.push_back(offsets.back() + count);
    rest -= count;
  }
  require<OpError>(rest == 0, port, " adds up to ", offsets.back(), ", there are ", rows.shape[0], " rows");
  return offsets;
}

int64_t infer_groups(const InferContext& c, const char* port, const char* counts) {
  if (!c.has_input(counts)) return count_of(plain_sequences(c, port));
  require_index(c, counts);
  const Shape& shape = c.shape(counts);
  return shape.numel(0, shape.rank());
}

int64_t infer_regions(const InferContext& c) {
  require_tensors(c);
  require_rank(c, "X", 4);
  require_rank(c, "ROIs", 2);
  require_same_dtype(c, "X", "ROIs");
  const Shape &x = c.shape("X"), &boxes = c.shape("ROIs");
  require<ShapeError>(dims_agree(boxes[1], 4), "ROIs has shape ", boxes.str(), ", it must be [regions, 4]");
  int64_t groups = infer_groups(c, "ROIs", "RoisNum");
  require<ShapeError>(dims_agree(groups, x[0]), c.has_input("RoisNum") ? "RoisNum has " : "the lod of ROIs has ",
                      groups, " images, X has ", x[0]);
  require<ProgramError>(c.attr<float>("spatial_scale") > 0, "attribute 'spatial_scale' is ",
                        c.attr<float>("spatial_scale"), ", it must be positive");
  return boxes[0];
}

OpSchema regions_schema(const char* type) {
  return OpSchema(type)
      .attr("pooled_height", 1, "rows of the result", at_least(1))
      .attr("pooled_width", 1, "columns of the result", at_least(1))
      .attr("spatial_scale", 1.0f, "pixels of X for each unit of ROIs")
      .input("X", "[images, channels, height, width]")
      .input("ROIs", "[regions, 4]: left, top, right, bottom; without RoisNum, a sequence (lod) for each image")
      .optional_input("RoisNum", "int32 or int64 [images]: how many of the regions are in each image, in order")
      .custom_lod()
      .cpu_only("the host reads which image a region is in");
}

}  // namespace paddle_mini
