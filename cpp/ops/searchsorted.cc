// searchsorted: Out = where each of Values belongs in a sorted sequence
#include "core/op_table.h"

#include <algorithm>
#include <cmath>

#ifdef PM_GPU
#include "math/for_each_index.h"
#endif

namespace paddle_mini {
namespace {

#ifdef PM_GPU
template <class T>
struct SortedPlace {
  const T *sequences, *values;
  void* out;
  int64_t length, width;
  bool right, wide;

  PM_DEVICE void operator()(int64_t i) const {
    int64_t at = place(sequences + i / width * length, values[i]);
    if (wide) static_cast<int64_t*>(out)[i] = at;
    else static_cast<int32_t*>(out)[i] = static_cast<int32_t>(at);
  }
  // NaN and infinity belong at the end, as PaddlePaddle has it.
  PM_DEVICE int64_t place(const T* sequence, T value) const {
    if (!(value - value == T(0))) return length;
    int64_t low = 0, high = length;
    while (low < high) {
      int64_t middle = low + (high - low) / 2;
      bool before = right ? !(value < sequence[middle]) : sequence[middle] < value;
      if (before) low = middle + 1;
      else high = middle;
    }
    return low;
  }
};
#endif

template <class T>
struct SearchsortedKernel : Kernel {
  In<T> sequences, values;
  Variable& out;
  int64_t length, width;  // of each sequence; values of each sequence
  bool right;

  explicit SearchsortedKernel(KernelInit& init)
      : sequences(init, "SortedSequence"), values(init, "Values"), out(*init.output("Out")),
        right(init.attr<bool>("right")) {
    const Shape &sequence = sequences.shape(), &value = values.shape();
    length = sequence[sequence.rank() - 1];
    width = sequence.rank() == 1 ? value.numel() : value[value.rank() - 1];
  }

#ifdef PM_GPU
  void run(Device& device) override {
    bool wide = out.tensor.dtype != DType::Int32;
    for_each_index(device, values.numel(),
                   SortedPlace<T>{sequences.data(), values.data(), out.tensor.data, length, width, right, wide});
  }
#else
  void run(Device&) override {
    for (int64_t i = 0, n = values.numel(); i < n; ++i) {
      const T* sequence = sequences.data() + i / width * length;
      int64_t at = place(sequence, values[i]);
      if (out.tensor.dtype == DType::Int32) static_cast<int32_t*>(out.tensor.data)[i] = static_cast<int32_t>(at);
      else static_cast<int64_t*>(out.tensor.data)[i] = at;
    }
  }

  // NaN and infinity belong at the end, as PaddlePaddle has it.
  int64_t place(const T* sequence, T value) const {
    if constexpr (std::is_floating_point_v<T>) {
      if (!std::isfinite(value)) return length;
    }
    const T* end = sequence + length;
    return (right ? std::upper_bound(sequence, end, value) : std::lower_bound(sequence, end, value)) - sequence;
  }
#endif
};

void infer_searchsorted(InferContext& c) {
  require_tensors(c);
  require_same_dtype(c, "SortedSequence", "Values");
  const Shape &sequence = c.shape("SortedSequence"), &values = c.shape("Values");
  require<ShapeError>(sequence.rank() > 0, "SortedSequence has no dimensions: it is no sequence");
  bool fits = sequence.rank() == 1 || sequence.rank() == values.rank();
  for (int i = 0; fits && i + 1 < sequence.rank(); ++i) fits = dims_agree(sequence[i], values[i]);
  require<ShapeError>(fits, "SortedSequence has shape ", sequence.str(), ", Values has ", values.str(),
                      ": all dimensions but the last must be the same");
  bool narrow = c.attr<bool>("out_int32");
  int64_t length = sequence[sequence.rank() - 1];
  require<ShapeError>(!narrow || length <= INT32_MAX, "SortedSequence has ", length, " elements, beyond int32");
  c.set_output("Out", narrow ? DType::Int32 : DType::Int64, values);
}

}  // namespace

void define_searchsorted(OpTable& ops) {
  ops.add(OpSpec("searchsorted")
              .doc("Out = how many elements of the sorted sequence are less than each of Values, or with `right` not "
                   "greater. NaN and infinity belong at the end.")
              .input("SortedSequence", "[n], or [..., n]: a sequence for each row of Values, each in order")
              .input("Values", "any shape, or [..., m]")
              .output("Out", "shape of Values, int64 or int32")
              .attr("out_int32", false, "whether Out is int32")
              .attr("right", false, "whether equal elements count too")
              .infer(infer_searchsorted)
              .no_gradient("positions have no slope")
              .on_gpu()
              .kernels<SearchsortedKernel, float, double, int32_t, int64_t>());
}

}  // namespace paddle_mini
