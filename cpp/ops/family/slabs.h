// Slabs of a tensor that an integer tensor selects, and kernels that pick them or add to them.
//
// A selection views X as [outer, length, width]; in each of `outer` it selects `picked` slabs of `width` elements.
// refuse(value, at) throws the error for element `at` of the integer tensor. On a CPU first_outside() returns the first
// element that is out of range, or -1, and each(begin, end, f) calls f(offset in the selected slabs, offset in X) for the
// slabs [begin, end) of the outer * picked ones; on a GPU positions_of(context, selection) returns the
// positions (math/gpu/positions.h).
#pragma once

#include "core/op_table.h"
#include "math/copy.h"
#include "math/segmented_scatter.h"

namespace paddle_mini {

// Slabs at the positions in a list along an axis.
struct AxisSlabs {
  IndexIn index;
  int64_t outer, picked, length, width;
  bool negatives_too;  // whether negative positions count from the end

  AxisSlabs(const KernelInit& init, const char* port, const Shape& x, int axis, bool negatives_too)
      : index(init, port), outer(x.numel(0, axis)), picked(index.numel()), length(x[axis]),
        width(x.numel(axis + 1, x.rank())), negatives_too(negatives_too) {}

  void refuse(int64_t value, int64_t at) const {
    fail<OpError>("Index has ", value, " at position ", at, ": X has ", length,
                  " along the axis, so a position must be from ", negatives_too ? -length : 0, " to ", length - 1);
  }
  // On a CPU:
  int64_t first_outside() const;
  template <class F>
  void each(int64_t begin, int64_t end, F f) const;
};

}  // namespace paddle_mini

#include PM_FAMILY(slabs)

namespace paddle_mini {

// Out = the selected slabs of X
template <class Selection>
struct PickKernel : Kernel {
  const Variable& x;
  Variable& out;
  Selection slabs;

  explicit PickKernel(KernelInit& init) : x(*init.input("X")), out(*init.output("Out")), slabs(init, x.tensor.shape) {}
  void refuse(const Fault& fault) const override { slabs.refuse(fault.value, fault.at); }
  void run(KernelContext& context) override {
    check_slabs(slabs);
    pick_slabs(context, slabs, size_of(x.tensor.dtype), x.tensor.data, out.tensor.data);
  }
};

// X@GRAD = 0, with Out@GRAD added to the selected slabs
template <class Selection>
struct PickGradKernel {
  template <class T>
  struct For : Kernel {
    In<T> out_gradient;
    Out<T> x_gradient;
    Selection slabs;
    SegmentedScatter by_slab;

    explicit For(KernelInit& init)
        : out_gradient(init, "Out@GRAD"), x_gradient(init, "X@GRAD"), slabs(init, x_gradient.shape()),
          by_slab(init, slabs.picked) {}
    void refuse(const Fault& fault) const override { slabs.refuse(fault.value, fault.at); }
    void run(KernelContext& context) override {
      check_slabs(slabs);
      add_to_slabs<T>(context, slabs, by_slab, nullptr, out_gradient.data(), x_gradient.data());
    }
  };
};

// Out = X, with the input Selection::kUpdates added to the selected slabs
template <class Selection>
struct AddToSlabsKernel {
  template <class T>
  struct For : Kernel {
    In<T> x, updates;
    Out<T> out;
    Selection slabs;
    SegmentedScatter by_slab;

    explicit For(KernelInit& init)
        : x(init, "X"), updates(init, Selection::kUpdates), out(init, "Out"), slabs(init, x.shape()),
          by_slab(init, slabs.picked) {}
    void refuse(const Fault& fault) const override { slabs.refuse(fault.value, fault.at); }
    void run(KernelContext& context) override {
      check_slabs(slabs);
      add_to_slabs<T>(context, slabs, by_slab, x.data(), updates.data(), out.data());
    }
  };
};

// X@GRAD = Out@GRAD, or with replaced 0 in the selected slabs; the gradient of the updates = the slabs of Out@GRAD.
template <class Selection, bool replaced = false>
struct SlabUpdatesGradKernel {
  template <class T>
  struct For : Kernel {
    In<T> out_gradient;
    Out<T> x_gradient, updates_gradient;
    Selection slabs;

    explicit For(KernelInit& init)
        : out_gradient(init, "Out@GRAD"), x_gradient(init, "X@GRAD", optional_port),
          updates_gradient(init, text(Selection::kUpdates, "@GRAD").c_str(), optional_port),
          slabs(init, out_gradient.shape()) {}
    void refuse(const Fault& fault) const override { slabs.refuse(fault.value, fault.at); }
    void run(KernelContext& context) override {
      check_slabs(slabs);
      if (x_gradient) {
        copy_n(context, out_gradient.data(), out_gradient.numel(), x_gradient.data());
        if (replaced) zero_slabs(context, slabs, x_gradient.data());
      }
      if (updates_gradient) pick_slabs(context, slabs, sizeof(T), out_gradient.data(), updates_gradient.data());
    }
  };
};

}  // namespace paddle_mini
