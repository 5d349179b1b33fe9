// lookup_table_v2: Out[i...] = W[Ids[i...]]
#include "core/op_table.h"
#include "math/map.h"

namespace paddle_mini {
namespace {

void check_ids(const IndexIn& ids, int64_t height) {
  for (int64_t i = 0, n = ids.numel(); i < n; ++i) {
    int64_t id = ids[i];
    if (id >= 0 && id < height) continue;
    fail<OpError>("id ", id, " at position ", i, " of Ids is out of range: the table W has ", height,
                  " rows, so ids run from 0 to ", height - 1);
  }
}

int64_t row_width(const Shape& table) { return table.numel(1, table.rank()); }

template <class T>
struct LookupTableKernel : Kernel {
  In<T> table;
  IndexIn ids;
  Out<T> out;
  int64_t padding, width;

  explicit LookupTableKernel(KernelInit& init)
      : table(init, "W"), ids(init, "Ids"), out(init, "Out"), padding(init.attr<int64_t>("padding_idx")),
        width(row_width(table.shape())) {}

  void run(Device&) override {
    check_ids(ids, table.shape()[0]);
    T* to = out.data();
    for (int64_t i = 0, n = ids.numel(); i < n; ++i, to += width) {
      int64_t id = ids[i];
      if (id == padding) std::fill_n(to, width, T(0));
      else std::copy_n(table.data() + id * width, width, to);
    }
  }
};

// The gradient of a row is the sum of Out@GRAD over the positions that looked it up. Sparse: these
// positions' gradients as they are, one row each, in the order of Ids; a padding row's too, as in
// PaddlePaddle, so that it is trained.
template <class T>
struct LookupTableGradKernel : Kernel {
  IndexIn ids;
  In<T> out_gradient;
  Out<T> table_gradient;
  int64_t padding, height, width;
  bool sparse;

  explicit LookupTableGradKernel(KernelInit& init)
      : ids(init, "Ids"), out_gradient(init, "Out@GRAD"), table_gradient(init, "W@GRAD"),
        padding(init.attr<int64_t>("padding_idx")), height(init.input("W")->tensor.shape[0]),
        width(row_width(init.input("W")->tensor.shape)), sparse(init.attr<bool>("is_sparse")) {
    if (sparse) table_gradient.variable().rows.reserve(static_cast<size_t>(ids.numel()));
  }

  void run(Device& device) override {
    check_ids(ids, height);
    int64_t count = ids.numel();
    if (sparse) {
      Variable& rows = table_gradient.variable();
      rows.rows.resize(static_cast<size_t>(count));
      for (int64_t i = 0; i < count; ++i) rows.rows[static_cast<size_t>(i)] = ids[i];
      rows.set_rows(rows.rows);
      rows.height = height;
      std::copy_n(out_gradient.data(), count * width, table_gradient.data());
      return;
    }
    std::fill_n(table_gradient.data(), height * width, T(0));
    for (int64_t i = 0; i < count; ++i) {
      if (ids[i] == padding) continue;
      T* row = table_gradient.data() + ids[i] * width;
      map(
          device, width, [](auto sum, auto g) { return sum + g; }, row, static_cast<const T*>(row),
          out_gradient.data() + i * width);
    }
  }
};

Shape looked_up_shape(const InferContext& c) {
  require_index(c, "Ids");
  const Shape& table = c.shape("W");
  require<ShapeError>(table.rank() >= 2, "W has shape ", table.str(), ", a table has at least 2 dimensions");
  Shape out = c.shape("Ids");
  for (int i = 1; i < table.rank(); ++i) out.push_back(table[i]);
  return out;
}

void infer_lookup_table_grad(InferContext& c) {
  Shape out = looked_up_shape(c);
  require_same_dtype(c, "W", "Out@GRAD");
  require<ShapeError>(shapes_agree(c.shape("Out@GRAD"), out), "Out@GRAD has shape ", c.shape("Out@GRAD").str(),
                      ", W looked up by Ids has ", out.str());
  VarInfo info = c.input("W");
  if (c.attr<bool>("is_sparse")) {
    info.kind = VarKind::SelectedRows;
    info.row_count = c.shape("Ids").numel(0, c.shape("Ids").rank());
  }
  c.set_output("W@GRAD", info);
}

}  // namespace

void define_lookup_table_v2(OpTable& ops) {
  ops.add(OpSpec("lookup_table_v2")
              .doc("Out[i...] = W[Ids[i...]]; zeros where the id is padding_idx. An id outside of the table is "
                   "refused.")
              .input("W", "[height, ...]: the table")
              .input("Ids", "any shape, int32 or int64")
              .output("Out", "shape of Ids, then W's axes after the first")
              .attr("padding_idx", int64_t{-1}, "the id that gives zeros; -1: none", at_least(-1))
              .attr("is_sparse", false, "whether the gradient of W is selected rows")
              .infer([](InferContext& c) { c.set_output("Out", c.input("W").dtype, looked_up_shape(c)); })
              .gradient("lookup_table_v2_grad", {"W", "Ids", "Out@GRAD"}, {"W@GRAD"})
              .checks_data()
              .kernels<LookupTableKernel, float, double>());
  ops.add(OpSpec("lookup_table_v2_grad")
              .doc("W@GRAD[r] = sum of Out@GRAD where Ids is r; 0 for padding_idx. With is_sparse, selected rows: "
                   "Out@GRAD as it is for the rows Ids, unmerged, padding_idx too.")
              .input("W", "as in lookup_table_v2; its values are not read")
              .input("Ids", "as in lookup_table_v2")
              .input("Out@GRAD", "shape of Out")
              .output("W@GRAD", "shape of W; a tensor, or selected rows of as many rows as Ids has elements")
              .attr("padding_idx", int64_t{-1}, "as in lookup_table_v2", at_least(-1))
              .attr("is_sparse", false, "whether W@GRAD is selected rows")
              .infer(infer_lookup_table_grad)
              .checks_data()
              .kernels<LookupTableGradKernel, float, double>());
}

}  // namespace paddle_mini
