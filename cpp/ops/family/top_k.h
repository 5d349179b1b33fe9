// Operators that sort lines of elements and return the first ones of each: top_k, top_k_v2, argsort.
#pragma once

#include <algorithm>
#include <numeric>

#include "core/op_table.h"
#include "core/parallel.h"
#include "math/axis_lines.h"
#include "ops/family/sort_less.h"
#include "ops/family/tensor_attr.h"

namespace paddle_mini {

// The operator's attributes for an X of this shape; count -1: all elements of the line.
struct TopK {
  int64_t axis = -1, count = -1;
  bool largest = true;
};
using TopKRule = TopK (*)(const OpDesc& op);

// The port K, if the operator has it.
inline const TensorAttrs& top_k_ports() {
  static const TensorAttrs ports{{"k", "K"}};
  return ports;
}
inline int64_t top_k_count(const OpDesc& op) {
  int64_t k = attr_of<int32_t>(op, "k");
  require<ProgramError>(k >= 1, "k is ", k, ", it must be at least 1");
  return k;
}

template <TopKRule rule>
struct TopKKernel {
  template <class T>
  struct For : Kernel {
    In<T> x;
    Out<T> out;
    Out<int64_t> indices;
    TopK top_k;
    AxisLines lines;
    int64_t k;
    Scratch<int64_t> order;           // on a GPU
    LaneScratch<int64_t> line_order;  // on a CPU

    explicit For(KernelInit& init)
        : x(init, "X"), out(init, "Out"), indices(init, "Indices"), top_k(rule(settled(init, top_k_ports()))),
          lines(x.shape(), top_k.axis), k(top_k.count < 0 ? lines.length : top_k.count),
          order(init, kOnGpu ? 2 * x.numel() : 0), line_order(init, kOnGpu ? 0 : lines.length) {}

    void run(KernelContext& context) override;
    // On a CPU:
    const int64_t* first(const ComesBefore<T>& before, int64_t* order);
    const int64_t* sorted(const ComesBefore<T>& before, int64_t* order);
  };
};

template <TopKRule rule>
struct TopKGradKernel {
  template <class T>
  struct For : Kernel {
    In<int64_t> indices;
    In<T> out_gradient;
    Out<T> x_gradient;
    TopK top_k;
    AxisLines lines;
    int64_t k;

    explicit For(KernelInit& init)
        : indices(init, "Indices"), out_gradient(init, "Out@GRAD"), x_gradient(init, "X@GRAD"), top_k(rule(init.op())),
          lines(x_gradient.shape(), top_k.axis), k(AxisLines(indices.shape(), top_k.axis).length) {}

    void refuse(const Fault& fault) const override { refuse_index(fault.value); }
    void refuse_index(int64_t index) const {
      fail<OpError>("Indices holds ", index, ", but X has ", lines.length, " elements along the axis");
    }

    void run(KernelContext& context) override;
  };
};

inline Shape top_k_shape(const InferContext& c, const TopK& top_k) {
  Shape out = c.shape("X");
  check_axis(out, top_k.axis);
  if (top_k.count < 0) return out;
  if (out.rank() == 0) {
    require<ShapeError>(top_k.count == 1, "k is ", top_k.count, ", but X has one element");
    return out;
  }
  int at = normal_axis(top_k.axis, out.rank(), "axis");
  require<ShapeError>(out[at] < 0 || top_k.count <= out[at], "k is ", top_k.count, ", but X ", out.str(), " has only ",
                      out[at], " elements along axis ", at);
  out[at] = top_k.count;
  return out;
}

// X's shape with an unknown size along the axis.
inline Shape like_x(const InferContext& c, int64_t axis) {
  Shape out = c.shape("X");
  check_axis(out, axis);
  if (out.rank() > 0) out[normal_axis(axis, out.rank(), "axis")] = -1;
  return out;
}

template <TopKRule rule>
void infer_top_k(InferContext& c) {
  require_tensors(c);
  auto op = settled(c, top_k_ports());
  Shape out = op ? top_k_shape(c, rule(*op)) : like_x(c, rule(c.op()).axis);
  c.set_output("Out", c.input("X").dtype, out);
  c.set_output("Indices", DType::Int64, out);
}

template <TopKRule rule>
void infer_top_k_grad(InferContext& c) {
  require_tensors(c);
  Shape out = like_x(c, rule(c.op()).axis);
  require<ShapeError>(c.input("Indices").dtype == DType::Int64, "Indices is ", name_of(c.input("Indices").dtype),
                      ", it must be int64");
  require_same_dtype(c, "X", "Out@GRAD");
  for (const char* port : {"Indices", "Out@GRAD"}) {
    require<ShapeError>(shapes_agree(c.shape(port), out), port, " has shape ", c.shape(port).str(),
                        ", but the result for X ", c.shape("X").str(), " can't have this shape");
  }
  require<ShapeError>(shapes_agree(c.shape("Indices"), c.shape("Out@GRAD")), "Indices has shape ",
                      c.shape("Indices").str(), ", Out@GRAD has ", c.shape("Out@GRAD").str());
  c.set_output("X@GRAD", c.input("X"));
}

// Schemas without the operator's own items: doc, attributes, gradient, kernels.
template <TopKRule rule>
OpSchema top_k_schema(const char* type) {
  return OpSchema(type)
      .input("X", "any shape with enough elements along the axis")
      .output("Out", "shape of X with k elements along the axis")
      .output("Indices", "shape of Out, int64: the position of each element in X")
      .infer(infer_top_k<rule>);
}

template <TopKRule rule>
OpSchema top_k_gradient(const OpTable& ops, const char* forward) {
  return ops.gradient_of(forward)
      .doc("X@GRAD is Out@GRAD at Indices and 0 elsewhere.")
      .shape_only("X")
      .infer(infer_top_k_grad<rule>)
      .checks_data();
}

}  // namespace paddle_mini

#include PM_FAMILY(top_k)
