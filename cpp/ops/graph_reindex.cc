// graph_reindex: nodes of a sampled graph, and its edges, as numbers from 0
#include <unordered_map>
#include <vector>

#include "core/op_table.h"

namespace paddle_mini {
namespace {

// The nodes of X, then those of Neighbors that are not among them, in the order of their first occurrence.
template <class T>
struct NumberedNodes {
  std::vector<T> nodes;
  std::unordered_map<T, T> numbers;

  NumberedNodes(const T* x, int64_t x_count, const T* neighbors, int64_t neighbor_count) {
    for (int64_t i = 0; i < x_count; ++i) {
      require<OpError>(add(x[i]), "X has node ", x[i], " twice, at element ", i, " again: its nodes must differ");
    }
    for (int64_t i = 0; i < neighbor_count; ++i) add(neighbors[i]);
  }
  bool add(T node) {
    bool is_new = numbers.emplace(node, static_cast<T>(nodes.size())).second;
    if (is_new) nodes.push_back(node);
    return is_new;
  }
};

template <class T>
struct GraphReindexKernel : Kernel {
  In<T> x, neighbors;
  IndexIn count;
  Out<T> source, target, nodes;

  explicit GraphReindexKernel(KernelInit& init)
      : x(init, "X"), neighbors(init, "Neighbors"), count(init, "Count"), source(init, "Reindex_Src"),
        target(init, "Reindex_Dst"), nodes(init, "Out_Nodes") {}

  void run(KernelContext&) override {
    check_counts();
    NumberedNodes<T> numbered(x.data(), x.numel(), neighbors.data(), neighbors.numel());
    for (int64_t i = 0; i < neighbors.numel(); ++i) source[i] = numbered.numbers.at(neighbors[i]);
    int64_t at = 0;
    for (int64_t i = 0; i < count.numel(); ++i) {
      for (int64_t k = 0; k < count[i]; ++k) target[at++] = static_cast<T>(i % x.numel());
    }
    std::copy(numbered.nodes.begin(), numbered.nodes.end(), nodes.data());
  }

  void check_counts() const {
    int64_t total = 0;
    for (int64_t i = 0; i < count.numel(); ++i) {
      require<OpError>(count[i] >= 0, "Count has ", count[i], " at element ", i, ", it must be at least 0");
      // A sum that wraps around might be that number.
      require<OpError>(count[i] <= INT64_MAX - total, "Count adds up to more than ", INT64_MAX, " at element ", i);
      total += count[i];
    }
    require<OpError>(total == neighbors.numel(), "Count adds up to ", total, ", Neighbors has ", neighbors.numel(),
                     " elements");
  }
};

template <class T>
int64_t count_nodes(const Variable& x, const Variable& neighbors) {
  const Tensor &a = x.tensor, &b = neighbors.tensor;
  return static_cast<int64_t>(NumberedNodes<T>(a.as<T>(), a.shape.numel(), b.as<T>(), b.shape.numel()).nodes.size());
}

void infer_graph_reindex(InferContext& c) {
  require_tensors(c);
  require_same_dtype(c, "X", "Neighbors");
  require_index(c, "X");
  require_index(c, "Count");
  const Shape &x = c.shape("X"), &neighbors = c.shape("Neighbors"), &count = c.shape("Count");
  int64_t nodes = x.numel(0, x.rank()), counts = count.numel(0, count.rank());
  require<ShapeError>(nodes < 0 || counts < 0 || (nodes == 0 ? counts == 0 : counts % nodes == 0), "Count has shape ",
                      count.str(), ", X ", x.str(), ": each graph needs one number for each node of X");
  DType dtype = c.input("X").dtype;
  int64_t edges = neighbors.numel(0, neighbors.rank()), found = -1;
  const Variable *x_value = c.value("X"), *neighbors_value = c.value("Neighbors");
  if (x_value && neighbors_value) {
    found = dtype == DType::Int64 ? count_nodes<int64_t>(*x_value, *neighbors_value)
                                  : count_nodes<int32_t>(*x_value, *neighbors_value);
  }
  c.set_output("Reindex_Src", dtype, Shape{edges});
  c.set_output("Reindex_Dst", dtype, Shape{edges});
  c.set_output("Out_Nodes", dtype, Shape{found});
}

}  // namespace

void define_graph_reindex(OpTable& ops) {
  ops.add(OpSchema("graph_reindex")
              .doc("Numbers the nodes of a sampled graph from 0: those of X, then those of Neighbors that are not in "
                   "X, in the order of their first occurrence. Edge k leads from the k-th neighbor to the node of X "
                   "that it was sampled for.")
              .input("X", "int32 or int64: different nodes")
              .input("Neighbors", "element type of X: the neighbors of the first node, then of the second, ...")
              .input("Count",
                     "int32 or int64: how many neighbors each node of X has; of several graphs one after another")
              .optional_input("HashTable_Value", "not read: work memory of PaddlePaddle's GPU")
              .optional_input("HashTable_Index", "not read")
              .output("Reindex_Src", "[neighbors]: the numbers of the sources of the edges")
              .output("Reindex_Dst", "[neighbors]: the numbers of their targets")
              .output("Out_Nodes", "[nodes]: the node of each number")
              .infer(infer_graph_reindex)
              .custom_lod()
              .no_gradient("its inputs are ids, which are integers")
              .checks_data()
              .cpu_only("the size of its result depends on data")
              .kernels<GraphReindexKernel, int32_t, int64_t>());
}

}  // namespace paddle_mini
