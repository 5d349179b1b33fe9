// Kernels and schemas of slice and strided_slice.
#include "core/second_gradient.h"
#include "core/widening.h"
#include "ops/family/slice.h"
#include "ops/family/of_complex.h"

namespace paddle_mini {
namespace {

using Ints = std::vector<int32_t>;

bool slice_holds(const Ints& list, int axis, int rank) {
  for (int32_t one : list) {
    if (normal_axis(one, rank, "decrease_axis") == axis) return true;
  }
  return false;
}

// Like Python's slice(start, end, step).indices(size) if step > 0.
void cut(AxisIndexMap& index_map, int64_t start, int64_t end, int64_t step) {
  index_map.step = step;
  if (index_map.in < 0) {
    index_map.out = -1;
    return;
  }
  int64_t size = index_map.in, low = step > 0 ? 0 : -1, high = step > 0 ? size : size - 1;
  // PaddlePaddle encodes x[::-1] with end -1, meaning before the first element. Any other end is clamped to 0 or more.
  bool to_the_first = step < 0 && end == -1;
  start = std::max<int64_t>(start < 0 ? start + size : start, 0);
  end = to_the_first ? -1 : std::max<int64_t>(end < 0 ? end + size : end, 0);
  start = std::clamp(start, low, high);
  end = std::clamp(end, low, high);
  index_map.out = step > 0 ? std::max<int64_t>(0, (end - start + step - 1) / step)
                           : std::max<int64_t>(0, (start - end - step - 1) / -step);
  index_map.start = index_map.out ? start : 0;
}

const TensorAttrs& slice_ports_of(bool strided) {
  static const TensorAttrs plain{{"starts", "StartsTensor", "StartsTensorList", true},
                                 {"ends", "EndsTensor", "EndsTensorList", true}};
  static const TensorAttrs with_strides{plain[0], plain[1], {"strides", "StridesTensor", "StridesTensorList", true}};
  return strided ? with_strides : plain;
}

// Axes whose ends are not known yet have an unknown size.
Shape slice_out_shape(InferContext& c, bool strided) {
  const Shape& x = c.shape("Input");
  if (auto op = settled(c, slice_ports_of(strided))) return sliced_shape(*op, slice_index_maps(*op, x, strided));
  AxisIndexMaps index_maps = unchanged_axes(x);
  for (int32_t axis : c.attr<Ints>("axes")) index_maps[normal_axis(axis, x.rank(), "axes")].out = -1;
  return sliced_shape(c.op(), index_maps);
}

template <bool strided>
struct SliceKernel : AxisCopyKernel {
  explicit SliceKernel(KernelInit& init)
      : AxisCopyKernel(init.input("Input"), init.output("Out"),
                       slice_index_maps(settled(init, slice_ports_of(strided)), init.input("Input")->tensor.shape,
                                        strided)) {}
};

template <bool strided>
struct SliceGradKernel {
  template <class T>
  struct For : AxisCopyGradKernel<T> {
    explicit For(KernelInit& init)
        : AxisCopyGradKernel<T>(init, "Out@GRAD", "Input@GRAD",
                                slice_index_maps(settled(init, slice_ports_of(strided)),
                                                 init.output("Input@GRAD")->tensor.shape, strided)) {}
  };
};

}  // namespace

AxisIndexMaps slice_index_maps(const OpDesc& op, const Shape& x, bool strided) {
  const Ints &axes = attr_of<Ints>(op, "axes"), &starts = attr_of<Ints>(op, "starts"),
             &ends = attr_of<Ints>(op, "ends"), &decreased = attr_of<Ints>(op, "decrease_axis");
  const Ints flags = strided ? Ints{} : attr_of<Ints>(op, "infer_flags");
  const Ints strides = strided ? attr_of<Ints>(op, "strides") : Ints(axes.size(), 1);
  bool counts_agree = starts.size() == axes.size() && ends.size() == axes.size() && strides.size() == axes.size();
  require<ProgramError>(counts_agree, "axes are ", axes.size(), ", starts ", starts.size(), ", ends ", ends.size(),
                        ", strides ", strides.size(), ": their numbers must be equal");
  AxisIndexMaps index_maps = unchanged_axes(x);
  std::vector<bool> seen(index_maps.size());
  for (size_t i = 0; i < axes.size(); ++i) {
    int axis = normal_axis(axes[i], x.rank(), "axes");
    require<ProgramError>(!seen[axis], "axes names axis ", axis, " twice");
    seen[axis] = true;
    require<ProgramError>(strides[i] != 0, "strides has 0 for axis ", axis);
    int64_t end = ends[i];
    // The encoding of the last element alone, x[-1].
    bool written = strided || (i < flags.size() && flags[i] == -1);
    bool last = written && starts[i] == -1 && end == 0 && strides[i] > 0 && slice_holds(decreased, axis, x.rank());
    cut(index_maps[axis], starts[i], last ? INT32_MAX : end, strides[i]);
  }
  return index_maps;
}

Shape sliced_shape(const OpDesc& op, const AxisIndexMaps& index_maps) {
  const Ints& decreased = attr_of<Ints>(op, "decrease_axis");
  Shape whole = shape_of(index_maps), out;
  for (int32_t axis : decreased) {
    int64_t size = whole[normal_axis(axis, whole.rank(), "decrease_axis")];
    require<ShapeError>(size < 0 || size == 1, "decrease_axis has axis ", axis, ", but the slice ", whole.str(),
                        " has ", size, " elements there");
  }
  for (int i = 0; i < whole.rank(); ++i) {
    if (!slice_holds(decreased, i, whole.rank())) out.push_back(whole[i]);
  }
  return out;
}

void add_slice(OpTable& ops, const char* type, const char* gradient_type, bool strided) {
  const TensorAttrs& ports = slice_ports_of(strided);
  OpSchema forward =
      with_tensor_ports(OpSchema(type).input("Input", "any shape").output("Out", "the slice of Input"), ports)
          .doc("Out = the slice of Input between starts and ends along axes; bounds are clipped to Input.")
          .required_attr("axes", AttrType::Ints, "the sliced axes; negative ones count from the end")
          .attr("starts", Ints{}, "the first position along each of these axes; negative ones count from the end")
          .attr("ends", Ints{}, "the end along each of these axes, exclusive; negative ones count from the end")
          .attr("infer_flags", Ints{}, "-1: the bounds of this axis are known only when the program runs")
          .attr("decrease_axis", Ints{}, "axes of size 1 that are removed from Out")
          .infer([strided](InferContext& c) {
            require_tensors(c);
            c.set_output("Out", c.input("Input").dtype, slice_out_shape(c, strided));
          })
          .gradient(gradient_type, with_ports({"Input", "Out@GRAD"}, ports), {"Input@GRAD"})
          .on_gpu();
  if (strided) forward.attr("strides", Ints{}, "the step along each of the axes, which may be negative");
  ops.add(strided ? forward.kernel_for_any<SliceKernel<true>>() : forward.kernel_for_any<SliceKernel<false>>());
  OpSchema backward =
      linear_gradient_of(ops, type).doc("Input@GRAD is Out@GRAD in the slice, and 0 elsewhere.").shape_only("Input");
  if (strided)
    backward = with_complex<SliceGradKernel<true>::For>(
        backward.kernels<SliceGradKernel<true>::For, float, double, int32_t, int64_t>());
  else
    backward = with_complex<SliceGradKernel<false>::For>(
        backward.kernels<SliceGradKernel<false>::For, float, double, int32_t, int64_t>());
  ops.add(also({DType::Bool}, backward));
}

}  // namespace paddle_mini
