// graph_sample_neighbors: neighbors of nodes, drawn with equal probabilities
#include "ops/family/graph_sampling.h"

namespace paddle_mini {
namespace {

constexpr SamplingPorts kSamplePorts{"Row", "Col_Ptr", "X", "Eids", "Out", "Out_Count", "Out_Eids"};

// Reservoir sampling (Vitter, Random sampling with a reservoir, 1985): `chosen` has the first edges, and each further edge
// takes a random place in it with the probability that leaves all equal.
struct EqualEdges {
  explicit EqualEdges(const KernelInit&) {}
  void check() const {}
  void choose(std::mt19937_64& generator, int64_t, int64_t degree, std::vector<int64_t>& chosen) const {
    auto size = static_cast<int64_t>(chosen.size());
    for (int64_t k = size; k < degree; ++k) {
      int64_t at = std::uniform_int_distribution<int64_t>(0, k)(generator);
      if (at < size) chosen[static_cast<size_t>(at)] = k;
    }
  }
};

}  // namespace

void define_graph_sample_neighbors(OpTable& ops) {
  ops.add(sample_neighbors_schema("graph_sample_neighbors", kSamplePorts)
              .doc("Out = for each of the nodes X the sources of at most sample_size of the edges to it, drawn without "
                   "replacement with equal probabilities; of a node with no more edges, all in their order.")
              .optional_input("Perm_Buffer", "not read: work memory of PaddlePaddle's GPU")
              .attr("flag_perm_buffer", false, "not read")
              .infer([](InferContext& c) { infer_sample(c, kSamplePorts); })
              .kernels<SampleNeighborsKernel<EqualEdges, kSamplePorts>::For, int32_t, int64_t>());
}

}  // namespace paddle_mini
