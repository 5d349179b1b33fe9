// accuracy: the fraction of rows whose label is among their k best indices
#include "core/op_table.h"

namespace paddle_mini {
namespace {

struct AccuracyKernel : Kernel {
  IndexIn indices, label;
  Out<float> accuracy;
  Out<int32_t> correct, total;
  int64_t rows, best;

  explicit AccuracyKernel(KernelInit& init)
      : indices(init, "Indices"), label(init, "Label"), accuracy(init, "Accuracy"), correct(init, "Correct"),
        total(init, "Total"), rows(indices.shape()[0]), best(indices.shape()[1]) {}

  void run(KernelContext& context) override;
};

void infer_accuracy(InferContext& c) {
  for (const char* port : {"Indices", "Label"}) require_index(c, port);
  require_rank(c, "Indices", 2);
  require_same_shape(c, "Indices", "Out");
  const Shape& label = c.shape("Label");
  bool column = label.rank() == 1 || (label.rank() == 2 && dims_agree(label[1], 1));
  require<ShapeError>(column && dims_agree(label[0], c.shape("Indices")[0]), "Label has shape ", label.str(),
                      ", Indices ", c.shape("Indices").str(), ": Label must have one element for each row");
  c.set_output("Accuracy", DType::Float32, Shape{});
  c.set_output("Correct", DType::Int32, Shape{});
  c.set_output("Total", DType::Int32, Shape{});
}

}  // namespace
}  // namespace paddle_mini

#include PM_KERNELS(accuracy)

namespace paddle_mini {

void define_accuracy(OpTable& ops) {
  ops.add(OpSchema("accuracy")
              .doc("Accuracy = Correct / Total, where Correct counts the rows whose label is among their Indices; 0 "
                   "without rows.")
              .input("Out", "[rows, k]: the k largest values, from top_k_v2; not read")
              .input("Indices", "[rows, k] int32 or int64: the indices of these values, from top_k_v2")
              .input("Label", "[rows, 1] or [rows], int32 or int64")
              .output("Accuracy", "[] float32")
              .output("Correct", "[] int32")
              .output("Total", "[] int32")
              .infer(infer_accuracy)
              .no_gradient("a count is constant almost everywhere")
              .on_gpu()
              .kernel_for_any<AccuracyKernel>());
}

}  // namespace paddle_mini
