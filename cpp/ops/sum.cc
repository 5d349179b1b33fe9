// sum: Out = the sum of the tensors and selected rows X, or of tensor arrays
#include <algorithm>

#include "core/op_table.h"
#include "math/arithmetic.h"
#include "math/for_each_index.h"
#include "math/selected_rows.h"
#include "ops/family/of_complex.h"

namespace paddle_mini {
namespace {

// Adds the tensors tile by tile: the partial sums stay in cache, and Out may share memory with any of them, since a
// tile of Out is written after that tile of all inputs has been read.

}  // namespace
}  // namespace paddle_mini

#include PM_KERNELS(sum)

namespace paddle_mini {
namespace {

// An empty tensor among others that have elements is ignored, whatever its shape.
bool is_left_out(const VarInfo& x, const Shape& out) {
  return x.kind == VarKind::Tensor && x.shape.known() && x.shape.numel() == 0 && !(x.shape == out);
}

template <class T>
struct SumKernel : Kernel {
  std::vector<In<T>> tensors, rows;
  Out<T> out;
  int64_t width = 1;  // elements per row
  RowMerge merge;
  std::vector<RowValues<T>> lists;

  explicit SumKernel(KernelInit& init) : out(init, "Out") {
    for (const In<T>& x : in_list<T>(init, "X")) {
      if (!is_left_out(x.variable().info(), out.shape())) (x.is_rows() ? rows : tensors).push_back(x);
    }
    if (rows.empty()) return;
    width = out.shape().numel(1, out.shape().rank());
    lists.resize(rows.size());
    if (tensors.empty()) merge = RowMerge(out.shape()[0]);
  }

  void run(KernelContext& context) override {
    if (!tensors.empty()) add_tensors(context, out.numel(), tensors, out.data());
    if constexpr (has_vec<T>) {
      if (!rows.empty() && tensors.empty()) return merge_rows(context);
    }
    for (const In<T>& x : rows) add_rows(context, x);
  }

  void merge_rows(KernelContext& context) {
    for (size_t i = 0; i < rows.size(); ++i) lists[i] = {&rows[i].variable().rows, rows[i].data()};
    merge.run(context, lists, width, out.data());
    out.variable().set_rows(merge.rows());
  }

  void add_rows(KernelContext& context, const In<T>& x) {
    update_rows(context, out.data(), out.shape()[0], width, x.variable().rows, x.data(), Plus{});
  }
};

void infer_sum_of_arrays(InferContext& c) {
  const VarInfo& first = c.input("X");
  for (size_t i = 0; i < c.input_count("X"); ++i) {
    const VarInfo& x = c.input("X", i);
    require<ShapeError>(x.kind == first.kind && x.dtype == first.dtype, "X[", i, "] is ", name_of(x.kind), " of ",
                        name_of(x.dtype), ", X[0] is ", name_of(first.kind), " of ", name_of(first.dtype));
  }
  c.set_output("Out", first);
}

void infer_sum(InferContext& c) {
  for (size_t i = 0; i < c.input_count("X"); ++i)
    if (c.input("X", i).kind == VarKind::TensorArray) return infer_sum_of_arrays(c);
  VarInfo out = c.input("X");
  auto is_empty = [](const VarInfo& x) { return x.kind == VarKind::Tensor && x.shape.known() && x.shape.numel() == 0; };
  for (size_t i = 0; i < c.input_count("X") && is_empty(out); ++i) {
    if (!is_empty(c.input("X", i))) out = c.input("X", i);
  }
  const Shape shape = out.shape;
  int64_t row_count = 0;
  bool all_rows = true;
  for (size_t i = 0; i < c.input_count("X"); ++i) {
    const VarInfo& x = c.input("X", i);
    bool is_rows = x.kind == VarKind::SelectedRows;
    require<ShapeError>(is_rows || x.kind == VarKind::Tensor, "X[", i, "] is ", name_of(x.kind),
                        ", only tensors and selected rows can be added");
    require<ShapeError>(x.dtype == out.dtype, "X[", i, "] is ", name_of(x.dtype), ", X[0] is ", name_of(out.dtype));
    if (is_left_out(x, shape)) continue;
    require<ShapeError>(same_shape(x.shape, shape), "X[", i, "] has shape ", x.shape.str(), ", the others have ",
                        shape.str());
    require<ShapeError>(!is_rows || x.shape.rank() > 0, "X[", i, "] has rows of a table without dimensions");
    require<ShapeError>(!is_rows || is_floating(x.dtype), "X[", i, "] is ", name_of(x.dtype),
                        ", selected rows must be of a floating-point type");
    all_rows = all_rows && is_rows;
    row_count = row_count < 0 || (is_rows && x.row_count < 0) ? -1 : row_count + (is_rows ? x.row_count : 0);
    if (!is_rows && out.kind == VarKind::SelectedRows) out = x;
  }
  if (all_rows) out.row_count = out.shape[0] >= 0 ? std::min(row_count, out.shape[0]) : row_count;
  c.set_output("Out", out);
}

}  // namespace

void define_sum(OpTable& ops) {
  ops.add(with_complex<SumKernel>(
      OpSchema("sum")
          .doc(
              "Out = X[0] + X[1] + ... If all X are selected rows, Out is selected rows, sorted, without duplicates; "
              "otherwise they are added to the tensors and Out is a tensor. Of tensor arrays, Out[i] is the sum of the "
              "elements i that have a value.")
          .input_list("X",
                      "tensors or selected rows of one shape and element type; a tensor without elements may have any "
                      "shape; or "
                      "tensor arrays")
          .output("Out", "shape of each X")
          .accepts_selected_rows("X")
          .infer(infer_sum)
          .gradient([](const OpDesc& forward) {
            std::vector<OpDesc> result;
            for (const std::string& name : forward.input("X")) {
              result.push_back(make_op("scale", {{"X", gradient_names(forward.output("Out"))}},
                                       {{"Out", gradient_names({name})}}, {{"scale", 1.0f}}));
            }
            return result;
          })
          .in_place("X", "Out")
          .control(kAddArrays)
          .on_gpu()
          .kernels<SumKernel, float, double, int32_t, int64_t>()));
}

}  // namespace paddle_mini
