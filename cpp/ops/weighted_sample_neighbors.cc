// weighted_sample_neighbors: neighbors of nodes, drawn with the probabilities of weights
#include <cmath>
#include <utility>

#include "ops/family/graph_sampling.h"

namespace paddle_mini {
namespace {

constexpr SamplingPorts kWeightedPorts{"row",           "colptr",    "input_nodes", "eids",
                                       "out_neighbors", "out_count", "out_eids"};

// The edges with the largest log(u) / weight, where u is uniform: as if one after another were drawn with probabilities
// proportional to the weights (Efraimidis and Spirakis, Weighted random sampling with a reservoir, 2006).
struct WeightedEdges {
  In<float> weights;

  explicit WeightedEdges(const KernelInit& init) : weights(init, "edge_weight") {}

  void check() const {
    for (int64_t i = 0; i < weights.numel(); ++i) {
      require<OpError>(weights[i] >= 0 && std::isfinite(weights[i]), "edge_weight has ", weights[i], " at element ", i,
                       ", a weight must be at least 0 and finite");
    }
  }

  void choose(std::mt19937_64& generator, int64_t first, int64_t degree, std::vector<int64_t>& chosen) const {
    std::uniform_real_distribution<double> uniform(0, 1);
    std::vector<std::pair<double, int64_t>> keys;
    for (int64_t k = 0; k < degree; ++k) {
      auto weight = static_cast<double>(weights[first + k]);
      double drawn = std::log(1 - uniform(generator));
      keys.emplace_back(weight > 0 ? drawn / weight : -INFINITY, -k);
    }
    auto end = keys.begin() + static_cast<std::ptrdiff_t>(chosen.size());
    std::partial_sort(keys.begin(), end, keys.end(), std::greater<>());
    std::transform(keys.begin(), end, chosen.begin(), [](const auto& key) { return -key.second; });
  }
};

}  // namespace

void define_weighted_sample_neighbors(OpTable& ops) {
  ops.add(sample_neighbors_schema("weighted_sample_neighbors", kWeightedPorts)
              .doc("out_neighbors = for each of the nodes the sources of at most sample_size of the edges to it, drawn "
                   "one after another without replacement, with probabilities proportional to the weights; of a node "
                   "with no more edges, all in their order.")
              .input("edge_weight", "float32 [edges] or [edges, 1]: weights of at least 0")
              .infer([](InferContext& c) {
                infer_sample(c, kWeightedPorts);
                DType dtype = c.input("edge_weight").dtype;
                require<ShapeError>(dtype == DType::Float32, "edge_weight is ", name_of(dtype), ", it must be float32");
                int64_t weights = column_length(c, "edge_weight"), edges = column_length(c, "row");
                require<ShapeError>(dims_agree(weights, edges), "edge_weight has ", weights, " elements, row has ",
                                    edges);
              })
              .kernels<SampleNeighborsKernel<WeightedEdges, kWeightedPorts>::For, int32_t, int64_t>());
}

}  // namespace paddle_mini
