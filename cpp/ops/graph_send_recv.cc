// graph_send_recv: Out = for each node of a graph, the sum, mean, minimum or maximum of X over the sources of its edges
#include "ops/family/graph_reduce.h"

namespace paddle_mini {

void define_graph_send_recv(OpTable& ops) {
  ops.add(
      with_graph_ports(OpSchema("graph_send_recv").input("X", "[nodes, ...]"))
          .doc("Row v of Out = the sum, mean, minimum or maximum of the rows of X of the sources of all edges to v; "
               "0 without edges. A node out of range is an error.")
          .infer(infer_graph_reduce<false>)
          .gradient("graph_send_recv_grad", {"X", "Src_index", "Dst_index", "Out", "Dst_count", "Out@GRAD"}, {"X@GRAD"})
          .kernels<GraphReduceKernel<false>::For, float, double, int32_t, int64_t>());
  ops.add(
      ops.gradient_of("graph_send_recv")
          .doc("X@GRAD of a node = the sum of Out@GRAD over the targets of its edges; for MEAN divided by the number "
               "of edges to each target; for MIN and MAX only where X is equal to Out.")
          .shape_only("Dst_count")
          .infer(infer_graph_reduce_gradient<false>)
          .checks_data()
          .kernels<GraphReduceGradKernel<false>::For, float, double, int32_t, int64_t>());
}

}  // namespace paddle_mini
