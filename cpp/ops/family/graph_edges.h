// Edges of a graph, and messages that broadcast rows of nodes and edges: graph_send_recv, graph_send_ue_recv,
// graph_send_uv.
#pragma once

#include <algorithm>

#include "core/op_table.h"
#include "core/parallel.h"
#include "math/broadcast.h"
#include "math/strided_places.h"

namespace paddle_mini {

// The dimensions of a row.
inline Shape row_shape(const Shape& x) {
  Shape row;
  for (int i = 1; i < x.rank(); ++i) row.push_back(x[i]);
  return row;
}

// `rows` rows of this shape.
inline Shape rows_of(int64_t rows, const Shape& row) {
  Shape shape{rows};
  for (int64_t size : row) shape.push_back(size);
  return shape;
}

// The place of each element of a message in a row that is broadcast to it.
struct RowPlaces {
  int64_t width;
  std::vector<int64_t> places;

  RowPlaces(const Shape& row, const Shape& message) : width(row.numel()) {
    StridedPlaces broadcast = broadcast_places(row, message);
    for (int64_t i = 0, n = message.numel(); i < n; ++i) places.push_back(broadcast(i));
  }
  int64_t at(int64_t row, int64_t i) const { return row * width + places[static_cast<size_t>(i)]; }
};

// Throws unless each node of a list is a row.
inline void check_nodes(const IndexIn& nodes, const char* port, int64_t rows) {
  for (int64_t i = 0, n = nodes.numel(); i < n; ++i) {
    require<OpError>(nodes[i] >= 0 && nodes[i] < rows, port, " has ", nodes[i], " at position ", i, ", there are ",
                     rows, " nodes");
  }
}

// Throws unless both ports have one node for each edge; returns the number of edges.
inline int64_t checked_edges(const InferContext& c, const char* source, const char* target) {
  auto edges = [&c](const char* port) {
    require_index(c, port);
    const Shape& shape = c.shape(port);
    bool fits = shape.rank() == 1 || (shape.rank() == 2 && dims_agree(shape[1], 1));
    require<ShapeError>(fits, port, " has shape ", shape.str(), ", it must be [edges] or [edges, 1]");
    return shape[0];
  };
  int64_t sources = edges(source), targets = edges(target);
  require<ShapeError>(dims_agree(sources, targets), source, " has ", sources, " edges, ", target, " has ", targets);
  return sources < 0 ? targets : sources;
}

// Throws if the input has no rows.
inline void require_node_rows(const InferContext& c, const char* port) {
  require<ShapeError>(c.shape(port).rank() >= 1, port, " has shape ", c.shape(port).str(),
                      ", it must have at least 1 dimension");
}

}  // namespace paddle_mini
