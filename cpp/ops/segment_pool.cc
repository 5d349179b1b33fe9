// segment_pool: Out = the sum, mean, minimum or maximum of the rows of each segment of X
#include <algorithm>

#include "core/op_table.h"
#include "math/cpu/each_item.h"

namespace paddle_mini {
namespace {

enum class SegmentPooling { Sum, Mean, Min, Max };

SegmentPooling segment_pooling_of(const std::string& type) {
  return type == "SUM"    ? SegmentPooling::Sum
         : type == "MEAN" ? SegmentPooling::Mean
         : type == "MIN"  ? SegmentPooling::Min
                          : SegmentPooling::Max;
}

// The rows of one segment, which follow one another.
struct Segment {
  int64_t id, begin, end;
};

// Throws unless the ids ascend from 0 or above, and with `most` stay below it.
template <class Ids>
std::vector<Segment> segments_of(const Ids& ids, int64_t n, int64_t most = INT64_MAX) {
  std::vector<Segment> segments;
  for (int64_t i = 0; i < n; ++i) {
    int64_t id = ids[static_cast<size_t>(i)], before = segments.empty() ? 0 : segments.back().id;
    require<OpError>(id >= before, "SegmentIds has ", id, " at position ", i, ", it must be at least ", before,
                     ": ids ascend from 0");
    require<OpError>(id < most, "SegmentIds has ", id, " at position ", i, ", Out has ", most, " rows");
    if (segments.empty() || segments.back().id != id) segments.push_back({id, i, i});
    segments.back().end = i + 1;
  }
  return segments;
}

template <class T>
struct SegmentPoolKernel : Kernel {
  In<T> x;
  IndexIn ids;
  Out<T> out, counts;
  SegmentPooling pooling;
  int64_t width;

  explicit SegmentPoolKernel(KernelInit& init)
      : x(init, "X"), ids(init, "SegmentIds"), out(init, "Out"), counts(init, "SummedIds", optional_port),
        pooling(segment_pooling_of(init.attr<std::string>("pooltype"))), width(x.shape().numel(1, x.shape().rank())) {}

  void run(KernelContext& context) override {
    std::vector<Segment> segments = segments_of(ids, ids.numel());
    std::fill_n(out.data(), out.numel(), T(0));
    if (counts) std::fill_n(counts.data(), counts.numel(), T(0));
    const int64_t count = static_cast<int64_t>(segments.size()), rows = ids.numel() / std::max<int64_t>(count, 1);
    each_item(context, {count, 20 + bytes_cost(8.0 * static_cast<double>(rows * width))},
              [&](int64_t i) { pool(segments[static_cast<size_t>(i)]); });
  }

  void pool(const Segment& segment) const {
    T* to = out.data() + segment.id * width;
    std::copy_n(x.data() + segment.begin * width, width, to);
    for (int64_t row = segment.begin + 1; row < segment.end; ++row) {
      const T* from = x.data() + row * width;
      for (int64_t i = 0; i < width; ++i) {
        if (pooling == SegmentPooling::Min) to[i] = std::min(to[i], from[i]);
        else if (pooling == SegmentPooling::Max) to[i] = std::max(to[i], from[i]);
        else to[i] += from[i];
      }
    }
    T length = static_cast<T>(segment.end - segment.begin);
    if (counts) counts[segment.id] = length;
    if (pooling != SegmentPooling::Mean) return;
    for (int64_t i = 0; i < width; ++i) to[i] /= length;
  }
};

template <class T>
struct SegmentPoolGradKernel : Kernel {
  In<T> x, out, out_gradient;
  IndexIn ids;
  Out<T> x_gradient;
  SegmentPooling pooling;
  int64_t width;

  explicit SegmentPoolGradKernel(KernelInit& init)
      : x(init, "X"), out(init, "Out"), out_gradient(init, "Out@GRAD"), ids(init, "SegmentIds"),
        x_gradient(init, "X@GRAD"), pooling(segment_pooling_of(init.attr<std::string>("pooltype"))),
        width(x.shape().numel(1, x.shape().rank())) {}

  void run(KernelContext& context) override {
    std::vector<Segment> segments = segments_of(ids, ids.numel(), out_gradient.shape()[0]);
    const int64_t count = static_cast<int64_t>(segments.size()), rows = ids.numel() / std::max<int64_t>(count, 1);
    each_item(context, {count, 20 + bytes_cost(12.0 * static_cast<double>(rows * width))}, [&](int64_t i) {
      const Segment& segment = segments[static_cast<size_t>(i)];
      for (int64_t row = segment.begin; row < segment.end; ++row) give_back(segment, row);
    });
  }

  void give_back(const Segment& segment, int64_t row) const {
    const T length = static_cast<T>(segment.end - segment.begin), *from = out_gradient.data() + segment.id * width;
    for (int64_t i = 0; i < width; ++i) {
      bool has_share = pooling == SegmentPooling::Sum || pooling == SegmentPooling::Mean ||
                       x[row * width + i] == out[segment.id * width + i];
      T share = pooling == SegmentPooling::Mean ? from[i] / length : from[i];
      x_gradient[row * width + i] = has_share ? share : T(0);
    }
  }
};

void check_segment_ids(const InferContext& c) {
  require_tensors(c);
  require_index(c, "SegmentIds");
  require_rank(c, "SegmentIds", 1);
  const Shape &x = c.shape("X"), &ids = c.shape("SegmentIds");
  require<ShapeError>(x.rank() > 0 && dims_agree(x[0], ids[0]), "X has shape ", x.str(), ", SegmentIds has ", ids.str(),
                      ": each row needs an id");
}

void infer_segment_pool(InferContext& c) {
  check_segment_ids(c);
  Shape out = c.shape("X");
  out[0] = -1;
  if (auto ids = c.integers("SegmentIds")) {
    std::vector<Segment> segments = segments_of(*ids, static_cast<int64_t>(ids->size()));
    out[0] = segments.empty() ? 0 : segments.back().id + 1;
  }
  c.set_output("Out", c.input("X").dtype, out);
  c.set_output("SummedIds", c.input("X").dtype, Shape{out[0], 1});
}

void infer_segment_pool_gradient(InferContext& c) {
  check_segment_ids(c);
  require_same_dtype(c, "X", "Out@GRAD");
  require_same_dtype(c, "X", "Out");
  require_same_shape(c, "Out", "Out@GRAD");
  Shape wanted = c.shape("X");
  wanted[0] = -1;
  require<ShapeError>(shapes_agree(wanted, c.shape("Out@GRAD")), "Out@GRAD has shape ", c.shape("Out@GRAD").str(),
                      ", X has rows of ", wanted.str());
  c.set_output("X@GRAD", c.input("X"));
}

}  // namespace

void define_segment_pool(OpTable& ops) {
  ops.add(OpSchema("segment_pool")
              .doc("Row s of Out = the sum, mean, minimum or maximum of the rows of X whose id is s; 0 where no row "
                   "has this id. The number of rows depends on data.")
              .input("X", "at least one dimension")
              .input("SegmentIds", "[rows of X], int32 or int64: ascending, at least 0")
              .output("Out", "X's shape, with one row more than the largest id")
              .optional_output("SummedIds", "[rows of Out, 1], X's element type: the number of rows with each id")
              .attr("pooltype", "SUM", "SUM, MEAN, MIN or MAX", one_of({"SUM", "MEAN", "MIN", "MAX"}))
              .infer(infer_segment_pool)
              .custom_lod()
              .gradient("segment_pool_grad", {"X", "SegmentIds", "Out", "SummedIds", "Out@GRAD"}, {"X@GRAD"})
              .cpu_only("the size of its result depends on data")
              .kernels<SegmentPoolKernel, float, double, int32_t, int64_t>());
  ops.add(ops.gradient_of("segment_pool")
              .doc("X@GRAD = the row of Out@GRAD with the row's id; divided by the number of rows with this id for "
                   "MEAN; for MIN and MAX where X is equal to Out, else 0.")
              .shape_only("SummedIds")
              .infer(infer_segment_pool_gradient)
              .checks_data()
              .kernels<SegmentPoolGradKernel, float, double, int32_t, int64_t>());
}

}  // namespace paddle_mini
