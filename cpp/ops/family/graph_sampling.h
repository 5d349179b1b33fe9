// Samples of the neighbors of nodes: graph_sample_neighbors, weighted_sample_neighbors.
#pragma once

#include <algorithm>
#include <numeric>
#include <vector>

#include "core/op_table.h"
#include "math/random.h"

namespace paddle_mini {

// The names of ports that PaddlePaddle writes in two ways.
struct SamplingPorts {
  const char *row, *colptr, *nodes, *ids, *out, *count, *out_ids;
};

// The edges to node n of a graph are colptr[n], ..., colptr[n + 1] - 1; row has their sources.
template <class Index>
struct SampledGraph {
  const Index& colptr;
  int64_t edges, nodes, most;  // most: edges that are kept of one node; negative: all

  // Throws unless `node` is a node with edges of the graph.
  void check(int64_t node, int64_t at, const SamplingPorts& ports) const {
    require<OpError>(node >= 0 && node < nodes, ports.nodes, " has ", node, " at element ", at, ", there are ", nodes,
                     " nodes");
    require<OpError>(colptr[node] >= 0 && colptr[node] <= colptr[node + 1] && colptr[node + 1] <= edges, ports.colptr,
                     " has ", colptr[node], " and ", colptr[node + 1], " for node ", node, ": edges ascend from 0 to ",
                     edges);
  }
  int64_t degree(int64_t node) const { return colptr[node + 1] - colptr[node]; }
  int64_t kept(int64_t node) const { return most < 0 ? degree(node) : std::min(most, degree(node)); }
};

// Rule(init).choose(generator, first edge, degree, chosen): `chosen` has as many numbers below `degree` as it has
// elements, and degree is greater.
template <class Rule, const SamplingPorts& ports>
struct SampleNeighborsKernel {
  template <class T>
  struct For : Kernel {
    In<T> row, colptr, nodes, ids;
    Out<T> out, out_ids;
    Out<int32_t> count;
    Rule rule;
    SampledGraph<In<T>> graph;
    bool returns_ids;

    explicit For(KernelInit& init)
        : row(init, ports.row), colptr(init, ports.colptr), nodes(init, ports.nodes),
          ids(init, ports.ids, optional_port), out(init, ports.out), out_ids(init, ports.out_ids, optional_port),
          count(init, ports.count), rule(init),
          graph{colptr, row.numel(), colptr.numel() - 1, init.attr<int32_t>("sample_size")},
          returns_ids(out_ids && init.attr<bool>("return_eids")) {}

    void run(KernelContext& context) override {
      rule.check();
      for (int64_t i = 0; i < nodes.numel(); ++i) graph.check(nodes[i], i, ports);
      int64_t at = 0;
      std::vector<int64_t> chosen;
      for (int64_t i = 0; i < nodes.numel(); ++i) {
        int64_t first = colptr[nodes[i]], degree = graph.degree(nodes[i]);
        chosen.resize(static_cast<size_t>(graph.kept(nodes[i])));
        std::iota(chosen.begin(), chosen.end(), int64_t{0});
        if (static_cast<int64_t>(chosen.size()) < degree) rule.choose(context.generator, first, degree, chosen);
        count[i] = static_cast<int32_t>(chosen.size());
        for (int64_t k : chosen) {
          if (returns_ids) out_ids[at] = ids[first + k];
          out[at++] = row[first + k];
        }
      }
    }
  };
};

// A column, [n] or [n, 1]; its length.
inline int64_t column_length(const InferContext& c, const char* port) {
  const Shape& shape = c.shape(port);
  bool fits = shape.rank() == 1 || (shape.rank() == 2 && dims_agree(shape[1], 1));
  require<ShapeError>(fits, port, " has shape ", shape.str(), ", it must be [n] or [n, 1]");
  return shape[0];
}

// How many edges are kept of all nodes; -1 before the data is known.
inline int64_t infer_sample_size(const InferContext& c, const SamplingPorts& ports, int64_t edges) {
  auto colptr = c.integers(ports.colptr), nodes = c.integers(ports.nodes);
  if (!colptr || !nodes) return -1;
  struct Offsets {
    const std::vector<int64_t>& values;
    int64_t operator[](int64_t i) const { return values[static_cast<size_t>(i)]; }
  } offsets{*colptr};
  SampledGraph<Offsets> graph{offsets, edges, static_cast<int64_t>(colptr->size()) - 1, c.attr<int32_t>("sample_size")};
  int64_t total = 0;
  for (size_t i = 0; i < nodes->size(); ++i) {
    graph.check((*nodes)[i], static_cast<int64_t>(i), ports);
    total += graph.kept((*nodes)[i]);
  }
  return total;
}

inline void infer_sample(InferContext& c, const SamplingPorts& ports) {
  require_tensors(c);
  require_index(c, ports.row);
  int64_t edges = column_length(c, ports.row), offsets = column_length(c, ports.colptr);
  require<ShapeError>(offsets != 0, ports.colptr, " is empty, it must have one element more than there are nodes");
  for (const char* port : {ports.colptr, ports.nodes}) require_same_dtype(c, ports.row, port);
  bool returns_ids = c.attr<bool>("return_eids");
  require<ProgramError>(!returns_ids || c.has_input(ports.ids), "return_eids is true, so ", ports.ids, " is needed");
  if (c.has_input(ports.ids)) {
    require_same_dtype(c, ports.row, ports.ids);
    int64_t ids = column_length(c, ports.ids);
    require<ShapeError>(!returns_ids || dims_agree(ids, edges), ports.ids, " has ", ids, " elements, there are ", edges,
                        " edges");
  }
  DType dtype = c.input(ports.row).dtype;
  int64_t kept = infer_sample_size(c, ports, edges);
  c.set_output(ports.out, dtype, Shape{kept});
  c.set_output(ports.out_ids, dtype, Shape{returns_ids ? kept : 0});
  c.set_output(ports.count, DType::Int32, Shape{column_length(c, ports.nodes)});
}

// A schema without doc, the rule's inputs, infer and kernels.
inline OpSchema sample_neighbors_schema(const char* type, const SamplingPorts& ports) {
  return OpSchema(type)
      .input(ports.row, "int32 or int64 [edges] or [edges, 1]: the sources of the edges, those to node 0 first")
      .input(ports.colptr,
             "element type of the sources, [nodes + 1]: the first edge to each node, and the number of edges")
      .input(ports.nodes, "element type of the sources, [n]: the nodes")
      .optional_input(ports.ids, "element type of the sources, [edges]: the ids of the edges")
      .output(ports.out, "the sources of the chosen edges, node by node")
      .output(ports.count, "int32 [n]: how many edges were chosen of each node")
      .optional_output(ports.out_ids, "the ids of the chosen edges; without return_eids empty")
      .attr("sample_size", 0, "at most so many edges of each node; negative: all")
      .attr("return_eids", false, "whether the ids are wanted")
      .custom_lod()
      .no_gradient("its inputs are ids, which are integers")
      .checks_data()
      .cpu_only("the size of its result depends on data");
}

}  // namespace paddle_mini
