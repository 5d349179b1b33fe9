// Rows of a table looked up by ids, and the gradient of the table: both lookup_table operators.
#pragma once

#include "core/op_table.h"
#include "core/widening.h"
#include "math/map.h"

#ifdef PM_GPU
#include "math/table_lookup_gpu.h"
#endif

namespace paddle_mini {

[[noreturn]] inline void refuse_id(int64_t id, int64_t position, int64_t height) {
  fail<OpError>("id ", id, " at position ", position, " of Ids is out of range: the table W has ", height,
                " rows, so ids run from 0 to ", height - 1);
}

#ifndef PM_GPU
inline void check_ids(const IndexIn& ids, int64_t height) {
  for (int64_t i = 0, n = ids.numel(); i < n; ++i) {
    int64_t id = ids[i];
    if (id < 0 || id >= height) refuse_id(id, i, height);
  }
}
#endif

inline int64_t row_width(const Shape& table) { return table.numel(1, table.rank()); }

// Out = W's rows Ids one after another, zeros for padding_idx.
template <class T>
struct TableLookupKernel : Kernel {
  In<T> table;
  IndexIn ids;
  Out<T> out;
  int64_t padding, width;

  explicit TableLookupKernel(KernelInit& init)
      : table(init, "W"), ids(init, "Ids"), out(init, "Out"), padding(init.attr<int64_t>("padding_idx")),
        width(row_width(table.shape())) {}

  void refuse(const Fault& fault) const override { refuse_id(fault.value, fault.at, table.shape()[0]); }

#ifdef PM_GPU
  void run(Device& device) override {
    IdsBelow below(device, ids, table.shape()[0]);
    for_each_index(device, out.numel(), table_lookup_gpu::LookUp<T>{below, padding, width, table.data(), out.data()});
  }
#else
  void run(Device&) override {
    check_ids(ids, table.shape()[0]);
    T* to = out.data();
    for (int64_t i = 0, n = ids.numel(); i < n; ++i, to += width) {
      if (ids[i] == padding) std::fill_n(to, width, T(0));
      else std::copy_n(table.data() + ids[i] * width, width, to);
    }
  }
#endif
};

// The gradient of a row is the sum of Out@GRAD over the positions that looked it up. Sparse: these
// positions' gradients as they are, one row each, in the order of Ids; a padding row's too, as in
// PaddlePaddle, so that it is trained.
template <class T>
struct TableLookupGradKernel : Kernel {
  IndexIn ids;
  In<T> out_gradient;
  Out<T> table_gradient;
  int64_t padding, height, width;
  bool sparse;
  std::vector<int64_t> touched;
  Scratch<int64_t> order;  // of positions, on a GPU

  explicit TableLookupGradKernel(KernelInit& init)
      : ids(init, "Ids"), out_gradient(init, "Out@GRAD"), table_gradient(init, "W@GRAD"),
        padding(init.attr<int64_t>("padding_idx")), height(init.input("W")->tensor.shape[0]),
        width(row_width(init.input("W")->tensor.shape)), sparse(init.attr<bool>("is_sparse")),
        touched(sparse ? static_cast<size_t>(ids.numel()) : 0), order(init, kOnGpu ? 4 * ids.numel() : 0) {
    require<DeviceError>(!kOnGpu || !sparse, "W@GRAD is selected rows: these have no kernel on a GPU");
  }

  void refuse(const Fault& fault) const override { refuse_id(fault.value, fault.at, height); }

#ifdef PM_GPU
  void run(Device& device) override {
    static_assert(sizeof(KeyAt) == 2 * sizeof(int64_t));
    IdsBelow below(device, ids, height);
    table_lookup_gpu::sum_rows(device, below, ids.numel(), padding, width, out_gradient.data(),
                               reinterpret_cast<KeyAt*>(order.data()), table_gradient.data());
  }
#else
  void run(Device& device) override {
    check_ids(ids, height);
    if (sparse) keep_rows();
    else sum_rows(device);
  }

  void keep_rows() {
    for (size_t i = 0; i < touched.size(); ++i) touched[i] = ids[static_cast<int64_t>(i)];
    table_gradient.variable().set_rows(touched);
    table_gradient.variable().height = height;
    std::copy_n(out_gradient.data(), ids.numel() * width, table_gradient.data());
  }

  void sum_rows(Device& device) {
    std::fill_n(table_gradient.data(), height * width, T(0));
    auto add = [](auto sum, auto g) { return sum + g; };
    for (int64_t i = 0, n = ids.numel(); i < n; ++i) {
      if (ids[i] == padding) continue;
      T* row = table_gradient.data() + ids[i] * width;
      map(device, width, add, row, static_cast<const T*>(row), out_gradient.data() + i * width);
    }
  }
#endif
};

// What the two operators differ in.
struct TableLookup {
  std::string type;
  const char *formula, *table, *ids, *out;  // for the docs
  Shape (*shape)(const InferContext& c);    // of Out
};

inline void infer_table_gradient(InferContext& c, const TableLookup& lookup) {
  Shape out = lookup.shape(c);
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

inline void define_table_lookup(OpTable& ops, const TableLookup& lookup) {
  ops.add(also({DType::Int8, DType::Int16},
               OpSpec(lookup.type)
                   .doc(std::string(lookup.formula) +
                        "; zeros where the id is padding_idx. An id outside of the table is refused.")
                   .input("W", lookup.table)
                   .input("Ids", lookup.ids)
                   .output("Out", lookup.out)
                   .attr("padding_idx", int64_t{-1}, "the id that gives zeros; -1: none", at_least(-1))
                   .attr("is_sparse", false, "whether the gradient of W is selected rows")
                   .infer([lookup](InferContext& c) { c.set_output("Out", c.input("W").dtype, lookup.shape(c)); })
                   .gradient(lookup.type + "_grad", {"W", "Ids", "Out@GRAD"}, {"W@GRAD"})
                   .checks_data()
                   .on_gpu()
                   .kernels<TableLookupKernel, float, double>()));
  ops.add(ops.gradient_of(lookup.type)
              .doc("W@GRAD[r] = sum of Out@GRAD where Ids is r; 0 for padding_idx. With is_sparse, selected rows: "
                   "Out@GRAD as it is for the rows Ids, unmerged, padding_idx too.")
              .reads_shape("W")
              .output("W@GRAD", "shape of W; a tensor, or selected rows of as many rows as Ids has elements")
              .infer([lookup](InferContext& c) { infer_table_gradient(c, lookup); })
              .checks_data()
              .kernels<TableLookupGradKernel, float, double>());
}

}  // namespace paddle_mini
