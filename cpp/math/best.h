// Operators that put lines of elements in order and take the first ones of each: top_k, top_k_v2, argsort.
#pragma once

#include <algorithm>
#include <numeric>

#include "core/op_table.h"
#include "math/axis_lines.h"
#include "math/comes_before.h"
#include "math/tensor_attr.h"

#ifdef PM_GPU
#include "math/best_gpu.h"
#endif

namespace paddle_mini {

// What an operator's attributes say about an X of this shape; count -1: all elements of the line.
struct BestOf {
  int64_t axis = -1, count = -1;
  bool largest = true;
};
using BestRule = BestOf (*)(const OpDesc& op);

// K, where the operator has it.
inline const TensorAttrs& best_ports() {
  static const TensorAttrs ports{{"k", "K"}};
  return ports;
}
inline int64_t count_of_best(const OpDesc& op) {
  int64_t k = attr_of<int32_t>(op, "k");
  require<ProgramError>(k >= 1, "k is ", k, ", it must be at least 1");
  return k;
}

template <BestRule rule>
struct BestKernel {
  template <class T>
  struct For : Kernel {
    In<T> x;
    Out<T> out;
    Out<int64_t> indices;
    BestOf best_of;
    AxisLines lines;
    int64_t k;
    Scratch<int64_t> order;

    explicit For(KernelInit& init)
        : x(init, "X"), out(init, "Out"), indices(init, "Indices"), best_of(rule(settled(init, best_ports()))),
          lines(x.shape(), best_of.axis), k(best_of.count < 0 ? lines.length : best_of.count),
          order(init, kOnGpu ? 2 * x.numel() : lines.length) {}

#ifdef PM_GPU
    void run(Device& device) override {
      ComesBeforeIn<T> before{lines, x.data(), best_of.largest};
      const int64_t* sorted =
          sorted_lines(device, lines.count(), lines.length, before, order.data(), order.data() + x.numel());
      for_each_index(device, out.numel(), TakeBest<T>{lines, k, x.data(), sorted, out.data(), indices.data()});
    }
#else
    void run(Device&) override {
      if (k == 0) return;
      for (int64_t o = 0; o < lines.outer; ++o) {
        for (int64_t i = 0; i < lines.inner; ++i) {
          const T* line = x.data() + o * lines.length * lines.inner + i;
          ComesBefore<T> before{line, lines.inner, best_of.largest};
          const int64_t* best = k == 1 ? first(before) : sorted(before);
          for (int64_t j = 0; j < k; ++j) {
            int64_t at = (o * k + j) * lines.inner + i;
            out[at] = line[best[j] * lines.inner];
            indices[at] = best[j];
          }
        }
      }
    }

    const int64_t* first(const ComesBefore<T>& before) {
      int64_t best = 0;
      for (int64_t j = 1; j < lines.length; ++j) best = before(j, best) ? j : best;
      order[0] = best;
      return order.data();
    }

    const int64_t* sorted(const ComesBefore<T>& before) {
      int64_t* end = order.data() + lines.length;
      std::iota(order.data(), end, int64_t{0});
      if (k == lines.length) std::sort(order.data(), end, before);
      else std::partial_sort(order.data(), order.data() + k, end, before);
      return order.data();
    }
#endif
  };
};

template <BestRule rule>
struct BestGradKernel {
  template <class T>
  struct For : Kernel {
    In<int64_t> indices;
    In<T> out_gradient;
    Out<T> x_gradient;
    BestOf best_of;
    AxisLines lines;
    int64_t k;

    explicit For(KernelInit& init)
        : indices(init, "Indices"), out_gradient(init, "Out@GRAD"), x_gradient(init, "X@GRAD"),
          best_of(rule(init.op())), lines(x_gradient.shape(), best_of.axis),
          k(AxisLines(indices.shape(), best_of.axis).length) {}

    void refuse(const Fault& fault) const override { refuse_index(fault.value); }
    void refuse_index(int64_t index) const {
      fail<OpError>("Indices holds ", index, ", but X has ", lines.length, " elements along the axis");
    }

#ifdef PM_GPU
    void run(Device& device) override {
      int64_t n = indices.numel();
      for_each_index(device, n, RefuseIndex{indices.data(), lines.length, device.fault, device.step});
      if (k <= 1024) {
        GiveBackBest<T> give{lines, k, indices.data(), out_gradient.data(), x_gradient.data()};
        for_each_index(device, x_gradient.numel(), give);
      } else {
        fill_n(device, x_gradient.data(), x_gradient.numel(), T(0));
        GiveBackLine<T> give{lines, k, indices.data(), out_gradient.data(), x_gradient.data()};
        for_each_index(device, lines.count(), give);
      }
    }
#else
    void run(Device&) override {
      for (int64_t i = 0, n = indices.numel(); i < n; ++i) {
        if (indices[i] < 0 || indices[i] >= lines.length) refuse_index(indices[i]);
      }
      std::fill_n(x_gradient.data(), x_gradient.numel(), T(0));
      for (int64_t o = 0; o < lines.outer; ++o) {
        for (int64_t j = 0; j < k; ++j) {
          for (int64_t i = 0; i < lines.inner; ++i) {
            int64_t from = (o * k + j) * lines.inner + i;
            x_gradient[(o * lines.length + indices[from]) * lines.inner + i] += out_gradient[from];
          }
        }
      }
    }
#endif
  };
};

inline Shape best_shape(const InferContext& c, const BestOf& best_of) {
  Shape out = c.shape("X");
  check_axis(out, best_of.axis);
  if (best_of.count < 0) return out;
  if (out.rank() == 0) {
    require<ShapeError>(best_of.count == 1, "k is ", best_of.count, ", but X has one element");
    return out;
  }
  int at = normal_axis(best_of.axis, out.rank(), "axis");
  require<ShapeError>(out[at] < 0 || best_of.count <= out[at], "k is ", best_of.count, ", but X ", out.str(),
                      " has only ", out[at], " elements along axis ", at);
  out[at] = best_of.count;
  return out;
}

// X's shape where it is not known how many are taken along the axis.
inline Shape like_x(const InferContext& c, int64_t axis) {
  Shape out = c.shape("X");
  check_axis(out, axis);
  if (out.rank() > 0) out[normal_axis(axis, out.rank(), "axis")] = -1;
  return out;
}

template <BestRule rule>
void infer_best(InferContext& c) {
  require_tensors(c);
  auto op = settled(c, best_ports());
  Shape out = op ? best_shape(c, rule(*op)) : like_x(c, rule(c.op()).axis);
  c.set_output("Out", c.input("X").dtype, out);
  c.set_output("Indices", DType::Int64, out);
}

template <BestRule rule>
void infer_best_grad(InferContext& c) {
  require_tensors(c);
  Shape out = like_x(c, rule(c.op()).axis);
  require<ShapeError>(c.input("Indices").dtype == DType::Int64, "Indices is ", name_of(c.input("Indices").dtype),
                      ", it must be int64");
  require_same_dtype(c, "X", "Out@GRAD");
  for (const char* port : {"Indices", "Out@GRAD"}) {
    require<ShapeError>(shapes_agree(c.shape(port), out), port, " has shape ", c.shape(port).str(),
                        ", what is taken of X ", c.shape("X").str(), " can't have it");
  }
  require<ShapeError>(shapes_agree(c.shape("Indices"), c.shape("Out@GRAD")), "Indices has shape ",
                      c.shape("Indices").str(), ", Out@GRAD has ", c.shape("Out@GRAD").str());
  c.set_output("X@GRAD", c.input("X"));
}

// Records that lack what is the operator's own: doc, attributes, gradient, kernels.
template <BestRule rule>
OpSpec taking_best(const char* type) {
  return OpSpec(type)
      .input("X", "any shape with enough elements along the axis")
      .output("Out", "shape of X with as many elements along the axis as are taken")
      .output("Indices", "shape of Out, int64: where each was")
      .infer(infer_best<rule>);
}

template <BestRule rule>
OpSpec taking_best_gradient(const OpTable& ops, const char* forward) {
  return ops.gradient_of(forward)
      .doc("X@GRAD is Out@GRAD at Indices and 0 elsewhere.")
      .reads_shape("X")
      .infer(infer_best_grad<rule>)
      .checks_data();
}

}  // namespace paddle_mini
