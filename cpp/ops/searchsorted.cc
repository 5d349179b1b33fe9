// searchsorted: Out = the insertion positions of Values in a sorted sequence
#include "core/op_table.h"

#include <algorithm>
#include <cmath>

namespace paddle_mini {
namespace {

template <class T>
struct SearchsortedKernel : Kernel {
  In<T> sequences, values;
  Variable& out;
  int64_t length, width;  // elements per sequence; values per sequence
  bool right;

  explicit SearchsortedKernel(KernelInit& init)
      : sequences(init, "SortedSequence"), values(init, "Values"), out(*init.output("Out")),
        right(init.attr<bool>("right")) {
    const Shape &sequence = sequences.shape(), &value = values.shape();
    length = sequence[sequence.rank() - 1];
    width = sequence.rank() == 1 ? value.numel() : value[value.rank() - 1];
  }

  void run(KernelContext& context) override;
  // CPU only:
  int64_t place(const T* sequence, T value) const;
};

void infer_searchsorted(InferContext& c) {
  require_tensors(c);
  require_same_dtype(c, "SortedSequence", "Values");
  const Shape &sequence = c.shape("SortedSequence"), &values = c.shape("Values");
  require<ShapeError>(sequence.rank() > 0, "SortedSequence has no dimensions, so it is not a sequence");
  bool fits = sequence.rank() == 1 || sequence.rank() == values.rank();
  for (int i = 0; fits && i + 1 < sequence.rank(); ++i) fits = dims_agree(sequence[i], values[i]);
  require<ShapeError>(fits, "SortedSequence has shape ", sequence.str(), ", Values has ", values.str(),
                      ": all dimensions except the last must be equal");
  bool narrow = c.attr<bool>("out_int32");
  int64_t length = sequence[sequence.rank() - 1];
  require<ShapeError>(!narrow || length <= INT32_MAX, "SortedSequence has ", length, " elements, too many for int32");
  c.set_output("Out", narrow ? DType::Int32 : DType::Int64, values);
}

}  // namespace
}  // namespace paddle_mini

#include PM_KERNELS(searchsorted)

namespace paddle_mini {

void define_searchsorted(OpTable& ops) {
  ops.add(OpSchema("searchsorted")
              .doc("Out = for each of Values, the number of elements of the sorted sequence that are less or, with "
                   "`right`, not greater. NaN and infinity are sorted to the end.")
              .input("SortedSequence", "[n], or [..., n]: a sorted sequence for each row of Values")
              .input("Values", "any shape, or [..., m]")
              .output("Out", "shape of Values, int64 or int32")
              .attr("out_int32", false, "whether Out is int32")
              .attr("right", false, "whether equal elements are counted too")
              .infer(infer_searchsorted)
              .no_gradient("positions are integers, which have no gradient")
              .on_gpu()
              .kernels<SearchsortedKernel, float, double, int32_t, int64_t>());
}

}  // namespace paddle_mini
