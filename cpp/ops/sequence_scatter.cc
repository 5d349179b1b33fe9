// sequence_scatter: Out = X, with the updates of sequence i added to row i
#include "math/sequences.h"

namespace paddle_mini {
namespace {

// Refuses an id outside the columns of X.
void check_ids(const IndexIn& ids, int64_t columns) {
  for (int64_t i = 0; i < ids.numel(); ++i) {
    require<OpError>(ids[i] >= 0 && ids[i] < columns, "Ids has ", ids[i], " at position ", i, ", X has ", columns,
                     " columns");
  }
}

template <class T>
struct SequenceScatterKernel : Kernel {
  In<T> x, updates;
  IndexIn ids;
  Out<T> out;
  Offsets offsets;

  explicit SequenceScatterKernel(KernelInit& init)
      : x(init, "X"), updates(init, "Updates"), ids(init, "Ids"), out(init, "Out"),
        offsets(offsets_of(init.input("Ids"))) {}

  void run(KernelContext&) override {
    int64_t columns = x.shape()[1];
    check_ids(ids, columns);
    if (x.data() != out.data()) std::copy_n(x.data(), x.numel(), out.data());
    for (size_t i = 0; i + 1 < offsets.size(); ++i) {
      T* row = out.data() + static_cast<int64_t>(i) * columns;
      for (int64_t j = offsets[i]; j < offsets[i + 1]; ++j) row[ids[j]] = static_cast<T>(row[ids[j]] + updates[j]);
    }
  }
};

template <class T>
struct SequenceScatterGradKernel : Kernel {
  In<T> out_gradient;
  IndexIn ids;
  Out<T> x_gradient, updates_gradient;
  Offsets offsets;

  explicit SequenceScatterGradKernel(KernelInit& init)
      : out_gradient(init, "Out@GRAD"), ids(init, "Ids"), x_gradient(init, "X@GRAD", optional_port),
        updates_gradient(init, "Updates@GRAD", optional_port), offsets(offsets_of(init.input("Ids"))) {}

  void run(KernelContext&) override {
    int64_t columns = out_gradient.shape()[1];
    check_ids(ids, columns);
    if (x_gradient) std::copy_n(out_gradient.data(), out_gradient.numel(), x_gradient.data());
    for (size_t i = 0; updates_gradient && i + 1 < offsets.size(); ++i) {
      const T* row = out_gradient.data() + static_cast<int64_t>(i) * columns;
      for (int64_t j = offsets[i]; j < offsets[i + 1]; ++j) updates_gradient[j] = row[ids[j]];
    }
  }
};

void require_updates(const InferContext& c, const char* rows) {
  int64_t count = count_of(plain_sequences(c, "Ids"));
  require_index(c, "Ids");
  require_rank(c, rows, 2);
  require_same_dtype(c, "Updates", rows);
  require<ShapeError>(dims_agree(count, c.shape(rows)[0]), rows, " has ", c.shape(rows)[0], " rows, Ids has ", count,
                      " sequences");
  int64_t width = row_numel(c.shape("Ids"));
  require<ShapeError>(width == 1 || width < 0, "Ids has shape ", c.shape("Ids").str(), ", a row must have one id");
  require<ShapeError>(shapes_agree(c.shape("Ids"), c.shape("Updates")), "Updates has shape ", c.shape("Updates").str(),
                      ", Ids has ", c.shape("Ids").str());
}

void infer_scatter_grad(InferContext& c) {
  require_updates(c, "Out@GRAD");
  c.set_output("X@GRAD", c.input("Out@GRAD"));
  c.set_output("Updates@GRAD", c.input("Updates"));
}

}  // namespace

void define_sequence_scatter(OpTable& ops) {
  ops.add(OpSchema("sequence_scatter")
              .doc("Out = X, and Out[i, Ids[j]] += Updates[j] for each j in sequence i of Ids.")
              .input("X", "[sequences, columns]")
              .input("Ids", "sequences of columns, [T, 1] or [T], int32 or int64")
              .input("Updates", "shape of Ids, type of X; its own sequences are not read")
              .output("Out", "shape of X")
              .infer([](InferContext& c) {
                require_updates(c, "X");
                c.set_output("Out", c.input("X"));
              })
              .custom_lod()
              .gradient("sequence_scatter_grad", {"Ids", "Updates", "Out@GRAD"}, {"X@GRAD", "Updates@GRAD"})
              .in_place("X", "Out")
              .checks_data()
              .cpu_only("processes sequences of different lengths one after the other")
              .kernels<SequenceScatterKernel, float, double, int32_t, int64_t>());
  ops.add(ops.gradient_of("sequence_scatter")
              .doc("X@GRAD = Out@GRAD; Updates@GRAD[j] = Out@GRAD[i, Ids[j]] for each j in sequence i of Ids.")
              .input("Updates", "as in sequence_scatter; its values are not read")
              .infer(infer_scatter_grad)
              .dtype_from_input("Out@GRAD")
              .checks_data()
              .kernels<SequenceScatterGradKernel, float, double, int32_t, int64_t>());
}

}  // namespace paddle_mini
