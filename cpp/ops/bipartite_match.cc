// bipartite_match: pairs of rows and columns, the largest element of a matrix first
#include <algorithm>

#include "math/sequences.h"

namespace paddle_mini {
namespace {

template <class T>
struct BipartiteMatchKernel : Kernel {
  static constexpr T kNothing = T(1e-6);  // PaddlePaddle takes a smaller distance for none

  In<T> distances;
  Out<int32_t> rows;
  Out<T> matched;
  Scratch<int64_t> order;   // elements, largest first
  Scratch<uint8_t> taken;   // 1 for a row that has a column
  int64_t columns;
  bool all_columns;
  T threshold;

  explicit BipartiteMatchKernel(KernelInit& init)
      : distances(init, "DistMat"), rows(init, "ColToRowMatchIndices"), matched(init, "ColToRowMatchDist"),
        order(init, distances.numel()), taken(init, distances.shape()[0]), columns(distances.shape()[1]),
        all_columns(init.attr<std::string>("match_type") == "per_prediction"),
        threshold(static_cast<T>(init.attr<float>("dist_threshold"))) {}

  void run(KernelContext&) override {
    std::fill_n(rows.data(), rows.numel(), -1);
    std::fill_n(matched.data(), matched.numel(), T(0));
    const Lod& lod = distances.variable().tensor.lod;
    if (lod.empty()) return match(0, distances.shape()[0], 0);
    for (size_t i = 0; i + 1 < lod.back().size(); ++i) match(lod.back()[i], lod.back()[i + 1], static_cast<int64_t>(i));
  }

  void match(int64_t begin, int64_t end, int64_t group) {
    const T* from = distances.data() + begin * columns;
    int32_t* row_of = rows.data() + group * columns;
    T* distance_of = matched.data() + group * columns;
    pair_up(from, end - begin, row_of, distance_of);
    if (!all_columns) return;
    for (int64_t j = 0; j < columns; ++j) {
      if (row_of[j] < 0) take_largest(from, end - begin, j, row_of, distance_of);
    }
  }

  // Among equal elements the first column comes first, and in it the first row. PaddlePaddle counts every positive
  // distance if there are 130 rows or more.
  void pair_up(const T* from, int64_t count, int32_t* row_of, T* distance_of) {
    T least = count >= 130 ? T(0) : kNothing;
    int64_t candidates = 0, left = count;
    for (int64_t i = 0; i < count * columns; ++i) {
      if (from[i] >= least && from[i] > T(0)) order[candidates++] = i;
    }
    std::fill_n(taken.data(), count, uint8_t{0});
    std::sort(order.data(), order.data() + candidates, [&](int64_t a, int64_t b) {
      if (from[a] != from[b]) return from[a] > from[b];
      return a % columns != b % columns ? a % columns < b % columns : a < b;
    });
    for (int64_t k = 0; k < candidates && left > 0; ++k) {
      int64_t row = order[k] / columns, column = order[k] % columns;
      if (row_of[column] >= 0 || taken[row]) continue;
      row_of[column] = static_cast<int32_t>(row), distance_of[column] = from[order[k]];
      taken[row] = 1;
      --left;
    }
  }

  void take_largest(const T* from, int64_t count, int64_t column, int32_t* row_of, T* distance_of) {
    for (int64_t row = 0; row < count; ++row) {
      T distance = from[row * columns + column];
      if (!(distance >= kNothing && distance >= threshold && distance > distance_of[column])) continue;
      row_of[column] = static_cast<int32_t>(row), distance_of[column] = distance;
    }
  }
};

void infer_bipartite_match(InferContext& c) {
  require_tensors(c);
  require_rank(c, "DistMat", 2);
  const VarInfo& distances = c.input("DistMat");
  bool in_sequences = !distances.lod.empty() || distances.lod_level > 0;
  int64_t groups = in_sequences ? count_of(plain_sequences(c, "DistMat")) : 1;
  require<ShapeError>(distances.shape[0] <= INT32_MAX, "DistMat has ", distances.shape[0],
                      " rows: ColToRowMatchIndices is int32, which can't index them");
  Shape out{groups, distances.shape[1]};
  c.set_output("ColToRowMatchIndices", DType::Int32, out);
  c.set_output("ColToRowMatchDist", distances.dtype, out);
}

}  // namespace

void define_bipartite_match(OpTable& ops) {
  ops.add(
      OpSchema("bipartite_match")
          .doc("Takes the largest element of DistMat, which pairs its row with its column, then the largest element "
               "of the other rows and columns, and so on, while it is at least 1e-6. NaN is passed over. Liu et al. "
               "2016, "
               "SSD.")
          .attr("match_type", "bipartite",
                "bipartite: pairs only; per_prediction: a column without a row then takes its largest element, if "
                "it is at least dist_threshold",
                one_of({"bipartite", "per_prediction"}))
          .attr("dist_threshold", 0.5f, "for per_prediction")
          .input("DistMat", "[n, m]: the larger, the better; with sequences (lod), a matrix for each")
          .output("ColToRowMatchIndices", "int32 [sequences, m]: the row of each column in its sequence, or -1")
          .output("ColToRowMatchDist", "[sequences, m]: the element of DistMat there, or 0")
          .infer(infer_bipartite_match)
          .custom_lod()
          .no_gradient("it chooses boxes, and is not a term of a loss")
          .cpu_only("it takes one pair after the other")
          .kernels<BipartiteMatchKernel, float, double>());
}

}  // namespace paddle_mini
