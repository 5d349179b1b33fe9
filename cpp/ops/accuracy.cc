// accuracy: the part of the rows whose label is among their k best indices
#include "core/op_table.h"

#ifdef PM_GPU
#include "math/gpu/ids.h"
#include "math/gpu/lines.h"
#endif

namespace paddle_mini {
namespace {

#ifdef PM_GPU
struct Hit {
  Ids indices, label;
  int64_t best;
  PM_DEVICE int64_t operator()(const int64_t (&at)[1]) const {
    for (int64_t j = 0; j < best; ++j) {
      if (indices[at[0] * best + j] == label[at[0]]) return 1;
    }
    return 0;
  }
};
struct PutHits {
  int64_t rows;
  float* accuracy;
  int32_t *correct, *total;
  PM_DEVICE void operator()(int64_t, int64_t hits) const {
    *correct = static_cast<int32_t>(hits);
    *total = static_cast<int32_t>(rows);
    *accuracy = rows ? static_cast<float>(*correct) / static_cast<float>(rows) : 0.0f;
  }
};
#endif

struct AccuracyKernel : Kernel {
  IndexIn indices, label;
  Out<float> accuracy;
  Out<int32_t> correct, total;
  int64_t rows, best;

  explicit AccuracyKernel(KernelInit& init)
      : indices(init, "Indices"), label(init, "Label"), accuracy(init, "Accuracy"), correct(init, "Correct"),
        total(init, "Total"), rows(indices.shape()[0]), best(indices.shape()[1]) {}

#ifdef PM_GPU
  void run(Device& device) override {
    Walk<1> one, all;
    all.add(rows, {1});
    fold(device, one, all, int64_t{0}, Hit{indices, label, best}, Plus{},
         PutHits{rows, accuracy.data(), correct.data(), total.data()});
  }
#else
  void run(Device&) override {
    int32_t hits = 0;
    for (int64_t i = 0; i < rows; ++i) {
      bool found = false;
      for (int64_t j = 0; j < best; ++j) found |= indices[i * best + j] == label[i];
      hits += found;
    }
    correct[0] = hits;
    total[0] = static_cast<int32_t>(rows);
    accuracy[0] = rows ? static_cast<float>(hits) / static_cast<float>(rows) : 0.0f;
  }
#endif
};

void infer_accuracy(InferContext& c) {
  for (const char* port : {"Indices", "Label"}) require_index(c, port);
  require_rank(c, "Indices", 2);
  require_same_shape(c, "Indices", "Out");
  const Shape& label = c.shape("Label");
  bool column = label.rank() == 1 || (label.rank() == 2 && dims_agree(label[1], 1));
  require<ShapeError>(column && dims_agree(label[0], c.shape("Indices")[0]), "Label has shape ", label.str(),
                      ", Indices ", c.shape("Indices").str(), ": one label a row is needed");
  c.set_output("Accuracy", DType::Float32, Shape{});
  c.set_output("Correct", DType::Int32, Shape{});
  c.set_output("Total", DType::Int32, Shape{});
}

}  // namespace

void define_accuracy(OpTable& ops) {
  ops.add(OpSpec("accuracy")
              .doc("Accuracy = Correct / Total, where Correct counts the rows whose label is among their Indices; 0 "
                   "without rows.")
              .input("Out", "[rows, k]: the k best values, of top_k_v2; not read")
              .input("Indices", "[rows, k] int32 or int64: where they were, of top_k_v2")
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
