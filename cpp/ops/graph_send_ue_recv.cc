// graph_send_ue_recv: Out = for each node of a graph, the sum, mean, minimum or maximum of the messages of its edges
#include "ops/family/graph_reduce.h"

namespace paddle_mini {

void define_graph_send_ue_recv(OpTable& ops) {
  ops.add(with_graph_ports(OpSchema("graph_send_ue_recv").input("X", "[nodes, ...]").input("Y", "[edges, ...]"))
              .doc("The message of an edge = the sum or product of X of its source and of Y of the edge, whose "
                   "dimensions after the first are broadcast. Row v of Out = the sum, mean, minimum or maximum of the "
                   "messages of all edges to v; 0 without edges. A node out of range is an error.")
              .attr("message_op", "ADD", "ADD or MUL", one_of({"ADD", "MUL"}))
              .infer(infer_graph_reduce<true>)
              .gradient("graph_send_ue_recv_grad", {"X", "Y", "Src_index", "Dst_index", "Out", "Dst_count", "Out@GRAD"},
                        {"X@GRAD", "Y@GRAD"})
              .kernels<GraphReduceKernel<true>::For, float, double, int32_t, int64_t>());
  ops.add(
      ops.gradient_of("graph_send_ue_recv")
          .doc("The gradient of an edge's message = Out@GRAD of its target; for MEAN divided by the number of edges "
               "to it; for MIN and MAX only where the message is equal to Out. X@GRAD and Y@GRAD = the sums of "
               "these, for MUL times the other factor.")
          .shape_only("Dst_count")
          .infer(infer_graph_reduce_gradient<true>)
          .checks_data()
          .kernels<GraphReduceGradKernel<true>::For, float, double, int32_t, int64_t>());
}

}  // namespace paddle_mini
