// Messages along the edges of a graph that each target reduces: graph_send_recv, graph_send_ue_recv.
#pragma once

#include "ops/family/graph_edges.h"
#include "ops/family/tensor_attr.h"

namespace paddle_mini {

inline const TensorAttrs kGraphRows{{"out_size", "Out_size"}};

enum class GraphReduction { Sum, Mean, Min, Max };

inline GraphReduction graph_reduction_of(const std::string& name) {
  return name == "SUM"    ? GraphReduction::Sum
         : name == "MEAN" ? GraphReduction::Mean
         : name == "MIN"  ? GraphReduction::Min
                          : GraphReduction::Max;
}

// The message of an edge: the row of X of its source, and with Y the sum or product of this row and the edge's row of Y.
template <class T, bool has_y>
struct GraphMessage {
  enum class Kind { Plain, Sum, Product };

  In<T> x;
  In<T> y;
  IndexIn source, target;
  RowPlaces xs, ys;
  Kind kind = Kind::Plain;

  GraphMessage(const KernelInit& init, const Shape& out)
      : x(init, "X"), y(has_y ? In<T>(init, "Y") : x), source(init, "Src_index"), target(init, "Dst_index"),
        xs(row_shape(x.shape()), row_shape(out)), ys(row_shape(y.shape()), row_shape(out)) {
    if constexpr (has_y) kind = init.attr<std::string>("message_op") == "ADD" ? Kind::Sum : Kind::Product;
  }

  int64_t width() const { return static_cast<int64_t>(xs.places.size()); }
  int64_t edges() const { return source.numel(); }
  void check(int64_t targets) const {
    check_nodes(source, "Src_index", x.shape()[0]);
    check_nodes(target, "Dst_index", targets);
  }
  T operator()(int64_t edge, int64_t i) const {
    T from = x[xs.at(source[edge], i)];
    if (kind == Kind::Plain) return from;
    T own = y[ys.at(edge, i)];
    return kind == Kind::Sum ? from + own : from * own;
  }
  std::vector<int64_t> degrees(int64_t targets) const {
    std::vector<int64_t> degrees(static_cast<size_t>(targets));
    for (int64_t e = 0; e < edges(); ++e) ++degrees[static_cast<size_t>(target[e])];
    return degrees;
  }
};

template <bool has_y>
struct GraphReduceKernel {
  template <class T>
  struct For : Kernel {
    Out<T> out;
    Out<int32_t> counts;
    GraphMessage<T, has_y> message;
    GraphReduction reduction;

    explicit For(KernelInit& init)
        : out(init, "Out"), counts(init, "Dst_count", optional_port), message(init, out.shape()),
          reduction(graph_reduction_of(init.attr<std::string>("reduce_op"))) {}

    void run(KernelContext& context) override {
      const int64_t rows = out.shape()[0], edges = message.edges();
      message.check(rows);
      std::vector<int64_t> degrees = message.degrees(rows);
      if (counts) std::copy(degrees.begin(), degrees.end(), counts.data());
      std::fill_n(out.data(), out.numel(), T(0));
      // Columns are apart, and each element gets its messages in the order of the edges.
      const double cost = 3 * static_cast<double>(edges);
      parallel_for(context, {message.width(), cost, 64 / sizeof(T)},
                   [&](int64_t begin, int64_t end) { reduce(degrees, begin, end); });
    }

    void reduce(const std::vector<int64_t>& degrees, int64_t begin, int64_t end) const {
      std::vector<char> reached(degrees.size());
      for (int64_t e = 0, edges = message.edges(); e < edges; ++e) {
        const int64_t row = message.target[e];
        T* to = out.data() + row * message.width();
        char& is_reached = reached[static_cast<size_t>(row)];
        for (int64_t i = begin; i < end; ++i) {
          T value = message(e, i);
          if (!is_reached) to[i] = value;
          else if (reduction == GraphReduction::Min) to[i] = std::min(to[i], value);
          else if (reduction == GraphReduction::Max) to[i] = std::max(to[i], value);
          else to[i] += value;
        }
        is_reached = 1;
      }
      if (reduction != GraphReduction::Mean) return;
      for (size_t row = 0; row < degrees.size(); ++row) {
        T* to = out.data() + static_cast<int64_t>(row) * message.width();
        for (int64_t i = begin; degrees[row] > 0 && i < end; ++i) to[i] /= static_cast<T>(degrees[row]);
      }
    }
  };
};

template <bool has_y>
struct GraphReduceGradKernel {
  template <class T>
  struct For : Kernel {
    In<T> out, out_gradient;
    Out<T> x_gradient, y_gradient;
    GraphMessage<T, has_y> message;
    GraphReduction reduction;

    explicit For(KernelInit& init)
        : out(init, "Out"), out_gradient(init, "Out@GRAD"), x_gradient(init, "X@GRAD", optional_port),
          y_gradient(has_y ? Out<T>(init, "Y@GRAD", optional_port) : Out<T>(nullptr)), message(init, out.shape()),
          reduction(graph_reduction_of(init.attr<std::string>("reduce_op"))) {}

    void run(KernelContext&) override {
      const int64_t rows = out.shape()[0], width = message.width();
      message.check(rows);
      std::vector<int64_t> degrees = message.degrees(rows);
      if (x_gradient) std::fill_n(x_gradient.data(), x_gradient.numel(), T(0));
      if (y_gradient) std::fill_n(y_gradient.data(), y_gradient.numel(), T(0));
      for (int64_t e = 0, edges = message.edges(); e < edges; ++e) {
        const int64_t row = message.target[e];
        const T degree = static_cast<T>(degrees[static_cast<size_t>(row)]);
        for (int64_t i = 0; i < width; ++i) {
          const int64_t at = row * width + i;
          if (is_extreme() && message(e, i) != out[at]) continue;
          add(e, i, reduction == GraphReduction::Mean ? out_gradient[at] / degree : out_gradient[at]);
        }
      }
    }

    bool is_extreme() const { return reduction == GraphReduction::Min || reduction == GraphReduction::Max; }
    // Adds the gradient of one element of an edge's message.
    void add(int64_t e, int64_t i, T gradient) const {
      const int64_t from = message.xs.at(message.source[e], i), own = message.ys.at(has_y ? e : 0, i);
      const bool multiplies = message.kind == GraphMessage<T, has_y>::Kind::Product;
      if (x_gradient) x_gradient[from] += multiplies ? gradient * message.y[own] : gradient;
      if (y_gradient) y_gradient[own] += multiplies ? gradient * message.x[from] : gradient;
    }
  };
};

// The shape of Out without its first axis, of checked inputs.
template <bool has_y>
Shape checked_graph_row(const InferContext& c) {
  require_tensors(c);
  require_node_rows(c, "X");
  int64_t edges = checked_edges(c, "Src_index", "Dst_index");
  if (!has_y) return row_shape(c.shape("X"));
  require_same_dtype(c, "X", "Y");
  require_node_rows(c, "Y");
  require<ShapeError>(dims_agree(c.shape("Y")[0], edges), "Y has shape ", c.shape("Y").str(), ", there are ", edges,
                      " edges");
  return broadcast_shape(row_shape(c.shape("X")), row_shape(c.shape("Y")), -1);
}

template <bool has_y>
void infer_graph_reduce(InferContext& c) {
  Shape row = checked_graph_row<has_y>(c);
  int64_t rows = -1;
  if (std::optional<OpDesc> op = settled(c, kGraphRows)) {
    const auto& size = attr_of<std::vector<int64_t>>(*op, "out_size");
    require<ProgramError>(size.size() <= 1, "attribute 'out_size' has ", size.size(),
                          " numbers, at most 1 is possible");
    rows = size.empty() || size[0] <= 0 ? c.shape("X")[0] : size[0];
  }
  c.set_output("Out", c.input("X").dtype, rows_of(rows, row));
  c.set_output("Dst_count", DType::Int32, Shape{rows});
}

template <bool has_y>
void infer_graph_reduce_gradient(InferContext& c) {
  Shape wanted = rows_of(-1, checked_graph_row<has_y>(c));
  require_same_shape(c, "Out", "Out@GRAD");
  for (const char* port : {"Out", "Out@GRAD"}) {
    require_same_dtype(c, "X", port);
    require<ShapeError>(shapes_agree(c.shape(port), wanted), port, " has shape ", c.shape(port).str(), ", it must be ",
                        wanted.str());
  }
  gradients_like_inputs(c);
}

// The ports and attributes of both operators, without doc, `infer`, gradient and kernels.
inline OpSchema with_graph_ports(OpSchema schema) {
  return with_tensor_ports(schema, kGraphRows)
      .input("Src_index", "[edges], int32 or int64: the source of each edge")
      .input("Dst_index", "[edges], int32 or int64: the target of each edge")
      .output("Out", "[out_size, ...]")
      .optional_output("Dst_count", "int32, [out_size]: the number of edges to each node")
      .attr("reduce_op", "SUM", "SUM, MEAN, MIN or MAX", one_of({"SUM", "MEAN", "MIN", "MAX"}))
      .attr("out_size", std::vector<int64_t>{0}, "the number of rows of Out; 0 or less: as many as X has")
      .custom_lod()
      .checks_data()
      .cpu_only("it adds up the edges of each node in order");
}

}  // namespace paddle_mini
