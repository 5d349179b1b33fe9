// c_allreduce_sum: Out = the sum of X over all replicas
#include "core/op_table.h"
#include "math/copy.h"
#include "math/replica_sum.h"

namespace paddle_mini {
namespace {

template <class T>
struct AllReduceSumKernel : Kernel {
  In<T> x;
  In<bool> condition;
  Out<T> out;
  ReplicaSum sum;

  explicit AllReduceSumKernel(KernelInit& init)
      : x(init, "X"), condition(init, "Cond", optional_port), out(init, "Out") {
    if (condition)
      require<ShapeError>(condition.numel() == 1, "Cond has shape ", condition.shape().str(),
                          ", it must have one element");
  }
  void run(KernelContext& context) override {
    if (out.data() != x.data()) copy_n(context, x.data(), x.numel(), out.data());
    if (!context.communicator || (condition && !ReplicaSum::wanted(context, condition.data()))) return;
    sum.run(context, out.variable().tensor);
  }
};

}  // namespace

// The operator checks data, because it fails when another replica fails: this replica's changes must then be rolled
// back too.
void define_c_allreduce_sum(OpTable& ops) {
  ops.add(OpSchema("c_allreduce_sum")
              .doc("Out = the sum of X over all replicas that run the program (DataParallel), added in the order of "
                   "the replicas, on GPUs in the order of NCCL. With one replica Out is X.")
              .input("X", "any shape, the same on all replicas")
              .optional_input("Cond", "bool, one element: false, on all replicas: Out = X")
              .output("Out", "shape of X")
              .attr("ring_id", 0, "the group of replicas; there is one group")
              .attr("use_calc_stream", false, "not used: the sum runs in the order of the program")
              .attr("use_model_parallel", false, "not used")
              .infer(same_as("X"))
              .gradient([](const OpDesc& forward) {
                return std::vector<OpDesc>{make_op("c_allreduce_sum", {{"X", gradient_names(forward.output("Out"))}},
                                                   {{"Out", gradient_names(forward.input("X"))}})};
              })
              .in_place("X", "Out")
              .checks_data()
              .on_gpu()
              .kernels<AllReduceSumKernel, float, double, int32_t, int64_t, Float16, BFloat16>());
}

}  // namespace paddle_mini
