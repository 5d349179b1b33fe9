// multiplex: row i of Out is row i of X[Ids[i]]
#include "core/op_table.h"

#include <algorithm>
#include <cstring>

namespace paddle_mini {
namespace {

struct RowChoice {
  IndexIn ids;
  int64_t rows, count;

  explicit RowChoice(const KernelInit& init)
      : ids(init, "Ids"), rows(init.input("X")->tensor.shape[0]), count(static_cast<int64_t>(init.input_count("X"))) {}

  void check() const {
    for (int64_t i = 0; i < rows; ++i) {
      require<OpError>(ids[i] >= 0 && ids[i] < count, "Ids has ", ids[i], " for row ", i, ": there are ", count,
                       " X, so an id must be from 0 to ", count - 1);
    }
  }
};

struct MultiplexKernel : Kernel {
  RowChoice choice;
  std::vector<const Variable*> x;
  Variable& out;
  size_t bytes;  // size of a row

  explicit MultiplexKernel(KernelInit& init) : choice(init), out(*init.output("Out")) {
    for (int64_t i = 0; i < choice.count; ++i) x.push_back(init.input("X", static_cast<size_t>(i)));
    const Shape& shape = out.tensor.shape;
    bytes = static_cast<size_t>(shape.numel(1, shape.rank())) * size_of(out.tensor.dtype);
  }

  void run(KernelContext&) override {
    choice.check();
    for (int64_t i = 0; i < choice.rows && bytes; ++i) {
      size_t at = static_cast<size_t>(i) * bytes;
      const void* from = x[static_cast<size_t>(choice.ids[i])]->tensor.data;
      std::memcpy(static_cast<char*>(out.tensor.data) + at, static_cast<const char*>(from) + at, bytes);
    }
  }
};

template <class T>
struct MultiplexGradKernel : Kernel {
  RowChoice choice;
  In<T> out_gradient;
  std::vector<Variable*> x_gradients;  // nullptr: this gradient is not needed
  int64_t width;

  explicit MultiplexGradKernel(KernelInit& init) : choice(init), out_gradient(init, "Out@GRAD") {
    x_gradients.resize(static_cast<size_t>(choice.count));
    for (size_t i = 0; i < init.output_count("X@GRAD"); ++i) x_gradients[i] = init.output("X@GRAD", i);
    width = out_gradient.shape().numel(1, out_gradient.shape().rank());
  }

  void run(KernelContext&) override {
    choice.check();
    for (Variable* one : x_gradients) {
      if (one) std::fill_n(static_cast<T*>(one->tensor.data), choice.rows * width, T(0));
    }
    for (int64_t i = 0; i < choice.rows; ++i) {
      Variable* one = x_gradients[static_cast<size_t>(choice.ids[i])];
      if (one) std::copy_n(out_gradient.data() + i * width, width, static_cast<T*>(one->tensor.data) + i * width);
    }
  }
};

// All tensors in X have the same shape and dtype, and Ids has one number for each of their rows.
VarInfo checked_out(const InferContext& c) {
  require_tensors(c);
  require_index(c, "Ids");
  VarInfo out = c.input("X");
  require<ShapeError>(out.shape.rank() > 0, "X[0] has no dimensions, so it has no rows");
  for (size_t i = 1; i < c.input_count("X"); ++i) {
    const VarInfo& x = c.input("X", i);
    require<ShapeError>(shapes_agree(x.shape, out.shape) && x.dtype == out.dtype, "X[", i, "] is ", x.str(),
                        ", X[0] is ", out.str());
  }
  const Shape& ids = c.shape("Ids");
  bool list = ids.rank() == 1 || (ids.rank() == 2 && dims_agree(ids[1], 1));
  require<ShapeError>(list && dims_agree(ids[0], out.shape[0]), "Ids has shape ", ids.str(),
                      ", it must have one element for each of ", out.shape[0], " rows");
  return out;
}

}  // namespace

void define_multiplex(OpTable& ops) {
  ops.add(OpSchema("multiplex")
              .doc("Row i of Out is row i of X[Ids[i]]. An id out of range is an error.")
              .input("Ids", "[rows, 1] or [rows], int32 or int64")
              .input_list("X", "[rows, ...], all of one shape and element type")
              .output("Out", "shape of each X")
              .infer([](InferContext& c) { c.set_output("Out", checked_out(c)); })
              .gradient("multiplex_grad", {"Ids", "X", "Out@GRAD"}, {"X@GRAD"})
              .checks_data()
              .cpu_only("it selects rows from any number of tensors")
              .kernel_for_any<MultiplexKernel>());
  ops.add(ops.gradient_of("multiplex")
              .doc("Row i of X@GRAD[Ids[i]] is row i of Out@GRAD; all other rows are 0.")
              .shape_only("X")
              .infer([](InferContext& c) {
                VarInfo out = checked_out(c);
                require<ShapeError>(shapes_agree(out.shape, c.shape("Out@GRAD")), "Out@GRAD has shape ",
                                    c.shape("Out@GRAD").str(), ", Out has ", out.shape.str());
                require_same_dtype(c, "X", "Out@GRAD");
                require<ProgramError>(c.output_count("X@GRAD") <= c.input_count("X"), "there are ",
                                      c.output_count("X@GRAD"), " X@GRAD for ", c.input_count("X"), " X");
                gradients_like_inputs(c);
              })
              .checks_data()
              .dtype_from_input("Out@GRAD")
              .kernels<MultiplexGradKernel, float, double, int32_t, int64_t>());
}

}  // namespace paddle_mini
