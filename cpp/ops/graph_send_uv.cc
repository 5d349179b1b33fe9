// graph_send_uv: out = for each edge, the sum or product of a row of x, for its source, and one of y, for its target
#include "ops/family/graph_edges.h"

namespace paddle_mini {
namespace {

Shape uv_message(const Shape& x, const Shape& y) { return broadcast_shape(row_shape(x), row_shape(y), -1); }

template <class T>
struct GraphSendUvKernel : Kernel {
  In<T> x, y;
  IndexIn source, target;
  Out<T> out;
  RowPlaces xs, ys;
  bool adds;

  explicit GraphSendUvKernel(KernelInit& init)
      : x(init, "x"), y(init, "y"), source(init, "src_index"), target(init, "dst_index"), out(init, "out"),
        xs(row_shape(x.shape()), row_shape(out.shape())), ys(row_shape(y.shape()), row_shape(out.shape())),
        adds(init.attr<std::string>("message_op") == "ADD") {}

  void run(KernelContext& context) override {
    check_nodes(source, "src_index", x.shape()[0]);
    check_nodes(target, "dst_index", y.shape()[0]);
    const auto width = static_cast<int64_t>(xs.places.size());
    parallel_for(context, {source.numel(), 2 * static_cast<double>(width)}, [&](int64_t begin, int64_t end) {
      for (int64_t e = begin; e < end; ++e) {
        for (int64_t i = 0; i < width; ++i) {
          T a = x[xs.at(source[e], i)], b = y[ys.at(target[e], i)];
          out[e * width + i] = adds ? a + b : a * b;
        }
      }
    });
  }
};

template <class T>
struct GraphSendUvGradKernel : Kernel {
  In<T> x, y, out_gradient;
  IndexIn source, target;
  Out<T> x_gradient, y_gradient;
  RowPlaces xs, ys;
  bool adds;

  explicit GraphSendUvGradKernel(KernelInit& init)
      : x(init, "x"), y(init, "y"), out_gradient(init, "out@GRAD"), source(init, "src_index"),
        target(init, "dst_index"), x_gradient(init, "x@GRAD", optional_port), y_gradient(init, "y@GRAD", optional_port),
        xs(row_shape(x.shape()), row_shape(out_gradient.shape())),
        ys(row_shape(y.shape()), row_shape(out_gradient.shape())), adds(init.attr<std::string>("message_op") == "ADD") {
  }

  void run(KernelContext&) override {
    check_nodes(source, "src_index", x.shape()[0]);
    check_nodes(target, "dst_index", y.shape()[0]);
    if (x_gradient) std::fill_n(x_gradient.data(), x_gradient.numel(), T(0));
    if (y_gradient) std::fill_n(y_gradient.data(), y_gradient.numel(), T(0));
    const auto width = static_cast<int64_t>(xs.places.size());
    for (int64_t e = 0, edges = source.numel(); e < edges; ++e) {
      for (int64_t i = 0; i < width; ++i) {
        int64_t from = xs.at(source[e], i), to = ys.at(target[e], i);
        T gradient = out_gradient[e * width + i];
        if (x_gradient) x_gradient[from] += adds ? gradient : gradient * y[to];
        if (y_gradient) y_gradient[to] += adds ? gradient : gradient * x[from];
      }
    }
  }
};

// The shape of out.
Shape checked_uv(const InferContext& c) {
  require_tensors(c);
  require_same_dtype(c, "x", "y");
  for (const char* port : {"x", "y"}) require_node_rows(c, port);
  return rows_of(checked_edges(c, "src_index", "dst_index"), uv_message(c.shape("x"), c.shape("y")));
}

}  // namespace

void define_graph_send_uv(OpTable& ops) {
  ops.add(OpSchema("graph_send_uv")
              .doc("out[e] = x[src_index[e]] + y[dst_index[e]], or their product, for each edge e of a graph; the "
                   "dimensions after the first are broadcast. A node out of range is an error.")
              .input("x", "[nodes, ...]")
              .input("y", "[nodes, ...]")
              .input("src_index", "[edges], int32 or int64: the source of each edge")
              .input("dst_index", "[edges], int32 or int64: the target of each edge")
              .output("out", "[edges, ...]")
              .attr("message_op", "ADD", "ADD or MUL", one_of({"ADD", "MUL"}))
              .infer([](InferContext& c) { c.set_output("out", c.input("x").dtype, checked_uv(c)); })
              .custom_lod()
              .gradient("graph_send_uv_grad", {"x", "y", "src_index", "dst_index", "out@GRAD"}, {"x@GRAD", "y@GRAD"})
              .checks_data()
              .cpu_only("its gradient adds up the edges of each node in order")
              .kernels<GraphSendUvKernel, float, double, int32_t, int64_t>());
  ops.add(ops.gradient_of("graph_send_uv")
              .doc("x@GRAD of a node = the sum of out@GRAD, for MUL times y, over the edges from it; y@GRAD likewise, "
                   "over the edges to it; each summed over the axes it was broadcast along.")
              .infer([](InferContext& c) {
                Shape out = checked_uv(c);
                require_same_dtype(c, "x", "out@GRAD");
                require<ShapeError>(shapes_agree(out, c.shape("out@GRAD")), "out@GRAD has shape ",
                                    c.shape("out@GRAD").str(), ", out ", out.str());
                gradients_like_inputs(c);
              })
              .checks_data()
              .kernels<GraphSendUvGradKernel, float, double, int32_t, int64_t>());
}

}  // namespace paddle_mini
