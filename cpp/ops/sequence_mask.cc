// sequence_mask: Y[i..., j] = whether j < X[i...]
#include <algorithm>
#include <cmath>

#include "core/target.h"
#include "math/sequences.h"

namespace paddle_mini {
namespace {

// The number of integers in [0, longest) that are less than `length`.
template <class T>
PM_HD int64_t count_below(T length, int64_t longest) {
  if (!(length > T(0))) return 0;  // also for NaN
  if (static_cast<double>(length) >= static_cast<double>(longest)) return longest;
  return static_cast<int64_t>(std::ceil(static_cast<double>(length)));
}

template <class T>
struct SequenceMaskKernel : Kernel {
  In<T> x;
  Variable* mask;
  int64_t longest;

  explicit SequenceMaskKernel(KernelInit& init) : x(init, "X"), mask(init.output("Y")) {
    longest = mask->tensor.shape[mask->tensor.shape.rank() - 1];
  }

  void run(KernelContext& context) override {
    switch (mask->tensor.dtype) {
      case DType::Bool: return fill<bool>(context);
      case DType::UInt8: return fill<uint8_t>(context);
      case DType::Int8: return fill<int8_t>(context);
      case DType::Int16: return fill<int16_t>(context);
      case DType::Int32: return fill<int32_t>(context);
      case DType::Int64: return fill<int64_t>(context);
      case DType::Float32: return fill<float>(context);
      default: return fill<double>(context);  // infer accepts no other type
    }
  }

  template <class M>
  void fill(KernelContext& context);
};

// The largest element of X, truncated to an integer.
template <class T>
int64_t largest(const Tensor& x) {
  const T* data = x.as<T>();
  double longest = 0;
  for (int64_t i = 0, n = x.shape.numel(); i < n; ++i) {
    double length = static_cast<double>(data[i]);
    require<OpError>(length == length && length < 9e15, "X has ", length, " at position ", i,
                     ", which is too large for a mask");
    longest = std::max(longest, length);
  }
  return static_cast<int64_t>(longest);
}

int64_t largest(const Tensor& x) {
  switch (x.dtype) {
    case DType::Int32: return largest<int32_t>(x);
    case DType::Int64: return largest<int64_t>(x);
    case DType::Float32: return largest<float>(x);
    case DType::Float64: return largest<double>(x);
    default: fail<ShapeError>("X is ", name_of(x.dtype), ", which is not a length");
  }
}

// -1 if not known yet.
int64_t mask_length(const InferContext& c) {
  if (c.has_input("MaxLenTensor")) {
    require_scalar(c, "MaxLenTensor");
    std::optional<std::vector<int64_t>> given = c.integers("MaxLenTensor");
    if (!given) return -1;
    require<OpError>((*given)[0] > 0, "MaxLenTensor is ", (*given)[0], ", it must be positive");
    return (*given)[0];
  }
  int64_t length = c.attr<int32_t>("maxlen");
  require<ProgramError>(length != 0, "attribute 'maxlen' is 0, it must be positive, or -1 for the largest of X");
  if (length > 0) return length;
  const Variable* x = c.value("X");
  return x ? largest(x->tensor) : -1;
}

void infer_mask(InferContext& c) {
  Shape out = c.shape("X");
  require<ShapeError>(out.rank() < Shape::kMaxRank, "X has ", out.rank(), " dimensions already");
  out.push_back(mask_length(c));
  DType dtype = c.dtype_attr("out_dtype");
  require<ProgramError>(dtype != DType::Float16 && dtype != DType::BFloat16, "attribute 'out_dtype' is ",
                        name_of(dtype), ", for which there are no kernels");
  set_plain(c, "Y", dtype, out);
}

}  // namespace
}  // namespace paddle_mini

#include PM_KERNELS(sequence_mask)

namespace paddle_mini {

void define_sequence_mask(OpTable& ops) {
  ops.add(OpSchema("sequence_mask")
              .doc("Y[i..., j] = 1 where j < X[i...], else 0. The size of Y's last axis may depend on data.")
              .input("X", "lengths, any shape")
              .optional_input("MaxLenTensor", "one integer: the size of Y's last axis; replaces maxlen")
              .output("Y", "shape of X with the largest length appended")
              .attr("maxlen", -1, "the size of Y's last axis; -1: the largest of X")
              .required_attr("out_dtype", AttrType::Int, "element type of Y")
              .infer(infer_mask)
              .custom_lod()
              .no_gradient("a mask of lengths has no gradient")
              .on_gpu()
              .kernels<SequenceMaskKernel, float, double, int32_t, int64_t>());
}

}  // namespace paddle_mini
