// set_value: Out = Input with the slice between starts and ends set to a value
#include <memory>

#include "core/op_table.h"
#include "core/widening.h"
#include "math/fill.h"
#include "ops/family/of_complex.h"
#include "ops/family/slice.h"

namespace paddle_mini {
namespace {

using Ints = std::vector<int32_t>;
using Longs = std::vector<int64_t>;

const TensorAttrs kSetValuePorts{{"starts", nullptr, "StartsTensorList"},
                                 {"ends", nullptr, "EndsTensorList"},
                                 {"steps", nullptr, "StepsTensorList"}};

Ints ints_of(const OpDesc& op, const char* name) {
  Ints list;
  for (int64_t one : attr_of<Longs>(op, name)) {
    list.push_back(static_cast<int32_t>(std::clamp<int64_t>(one, INT32_MIN, INT32_MAX)));
  }
  return list;
}

// The slice that is set, as a strided_slice operator.
OpDesc slice_of(const OpDesc& op) {
  Ints axes = ints_of(op, "axes"), steps = ints_of(op, "steps");
  if (steps.empty()) steps.assign(axes.size(), 1);
  return make_op("strided_slice", {}, {},
                 {{"axes", axes},
                  {"starts", ints_of(op, "starts")},
                  {"ends", ints_of(op, "ends")},
                  {"strides", steps},
                  {"decrease_axis", ints_of(op, "decrease_axes")}});
}

// The shape of the slice without the axes of decrease_axes, and with a new axis of length 1 before each axis of Input
// that none_axes contains.
Shape part_shape(const OpDesc& op, const AxisIndexMaps& index_maps) {
  OpDesc slice = slice_of(op);
  Shape whole = shape_of(index_maps), part;
  sliced_shape(slice, index_maps);  // refuses decrease_axes of more than one element
  std::vector<bool> gone(static_cast<size_t>(whole.rank()) + 1);
  for (int32_t axis : attr_of<Ints>(slice, "decrease_axis")) {
    gone[static_cast<size_t>(normal_axis(axis, whole.rank(), "decrease_axes"))] = true;
  }
  const Longs& none_axes = attr_of<Longs>(op, "none_axes");
  for (int64_t axis : none_axes) {
    require<ProgramError>(axis >= 0 && axis <= whole.rank(), "attribute 'none_axes' has ", axis, ", but Input has ",
                          whole.rank(), " dimensions");
  }
  for (int i = 0; i <= whole.rank(); ++i) {
    for (int64_t axis : none_axes) {
      if (axis == i) part.push_back(1);
    }
    if (i < whole.rank() && !gone[static_cast<size_t>(i)]) part.push_back(whole[i]);
  }
  return part;
}

// Index maps from the slice to the value, which is broadcast over it; extra leading 1s of its shape are removed.
AxisIndexMaps value_index_maps(Shape value, const Shape& part) {
  while (value.rank() > part.rank() && dims_agree(value[0], 1)) {
    value = Shape(Longs(value.begin() + 1, value.end()));
  }
  require<ShapeError>(value.rank() <= part.rank(), "the value has shape ", value.str(), ", but the slice has ",
                      part.str());
  bool fits = true;
  for (int i = 1; i <= value.rank(); ++i) {
    int64_t from = value[value.rank() - i];
    fits = fits && (from == 1 || dims_agree(from, part[part.rank() - i]));
  }
  require<ShapeError>(fits, "the value has shape ", value.str(), ", which can't be broadcast to the slice, ",
                      part.str());
  return broadcast_maps(value, part, "the slice");
}

template <class T>
void add_values(const OpDesc& op, const char* attr, std::vector<ScalarValue>* values) {
  for (T value : attr_of<std::vector<T>>(op, attr)) {
    if constexpr (std::is_integral_v<T>) values->push_back(int64_t{value});
    else values->push_back(double{value});
  }
}

// The values: programs before PaddlePaddle 2.5 have a list for each element type instead of `values`.
std::vector<ScalarValue> listed_values(const OpDesc& op) {
  std::vector<ScalarValue> values = attr_of<std::vector<ScalarValue>>(op, "values");
  if (!values.empty()) return values;
  switch (static_cast<DType>(attr_of<int32_t>(op, "dtype"))) {
    case DType::Bool: add_values<int32_t>(op, "bool_values", &values); break;
    case DType::Int32: add_values<int32_t>(op, "int32_values", &values); break;
    case DType::Int64: add_values<int64_t>(op, "int64_values", &values); break;
    case DType::Float32: add_values<float>(op, "fp32_values", &values); break;
    case DType::Float64: add_values<double>(op, "fp64_values", &values); break;
    default: break;
  }
  return values;
}

Shape listed_shape(const OpDesc& op) {
  Shape shape(attr_of<Longs>(op, "shape"));
  int64_t count = static_cast<int64_t>(listed_values(op).size());
  for (int64_t dim : shape) require<ProgramError>(dim >= 0, "attribute 'shape' has the dimension ", dim);
  require<ProgramError>(shape.numel() == count, "there are ", count, " values, shape ", shape.str(), " needs ",
                        shape.numel());
  return shape;
}

template <class T>
T number_of_scalar(const ScalarValue& value) {
  if constexpr (is_complex_number<T>) {
    if (const auto* number = std::get_if<std::complex<double>>(&value)) {
      using Part = real_part_of<T>;
      return T(static_cast<Part>(number->real()), static_cast<Part>(number->imag()));
    }
    return T(number_of_scalar<real_part_of<T>>(value));
  } else {
    if (const bool* truth = std::get_if<bool>(&value)) return static_cast<T>(*truth);
    if (const int64_t* whole = std::get_if<int64_t>(&value)) {
      number_as<T>(static_cast<double>(*whole));  // refuses values that T cannot represent
      return static_cast<T>(*whole);
    }
    const double* number = std::get_if<double>(&value);
    require<ProgramError>(number != nullptr, "attribute 'values' holds a complex number");
    return number_as<T>(*number);
  }
}

template <class T>
struct SetValueKernel : Kernel {
  In<T> input, value;
  Out<T> out;
  OpDesc op;
  AxisIndexMaps index_maps;
  Shape part;
  AxisLoop part_loop, value_loop;
  std::unique_ptr<T[]> listed;
  int64_t listed_count;
  Scratch<T> broadcast_value;
  Scratch<T> uploaded;  // GPU only

  explicit SetValueKernel(KernelInit& init)
      : input(init, "Input"), value(init, "ValueTensor", optional_port), out(init, "Out"),
        op(settled(init, kSetValuePorts)), index_maps(slice_index_maps(slice_of(op), input.shape(), true)),
        part(part_shape(op, index_maps)), part_loop(index_maps),
        value_loop(value_index_maps(value ? value.shape() : listed_shape(init.op()), part)),
        listed_count(value ? 0 : listed_shape(init.op()).numel()), broadcast_value(init, part.numel()),
        uploaded(init, kOnGpu ? listed_count : 0) {
    if (value) return;
    std::vector<ScalarValue> scalars = listed_values(init.op());
    listed.reset(new T[scalars.size()]);
    std::transform(scalars.begin(), scalars.end(), listed.get(), number_of_scalar<T>);
  }

  const T* listed_on(KernelContext& context) const;

  void run(KernelContext& context) override {
    value_loop.copy(context, value ? value.data() : listed_on(context), broadcast_value.data(), T(0));
    if (out.data() != input.data()) copy_n(context, input.data(), input.numel(), out.data());
    part_loop.put(context, broadcast_value.data(), out.data());
  }
};

template <class T>
struct SetValueGradKernel : Kernel {
  In<T> out_gradient;
  Out<T> input_gradient, value_gradient;
  OpDesc op;
  AxisIndexMaps index_maps;
  Shape part;
  AxisLoop part_loop, value_loop;
  Scratch<T> cut;

  explicit SetValueGradKernel(KernelInit& init)
      : out_gradient(init, "Out@GRAD"), input_gradient(init, "Input@GRAD", optional_port),
        value_gradient(init, "ValueTensor@GRAD", optional_port), op(settled(init, kSetValuePorts)),
        index_maps(slice_index_maps(slice_of(op), out_gradient.shape(), true)), part(part_shape(op, index_maps)),
        part_loop(index_maps), value_loop(value_index_maps(value_gradient ? value_gradient.shape() : part, part)),
        cut(init, value_gradient ? part.numel() : 0) {}

  void run(KernelContext& context) override {
    if (value_gradient) {
      part_loop.copy(context, out_gradient.data(), cut.data(), T(0));
      value_loop.add_back(context, cut.data(), value_gradient.data());
    }
    if (!input_gradient) return;
    copy_n(context, out_gradient.data(), out_gradient.numel(), input_gradient.data());
    part_loop.put_value(context, T(0), input_gradient.data());
  }
};

OpSchema set_value_with_attributes(OpSchema schema) {
  return schema.required_attr("axes", AttrType::Longs, "the sliced axes")
      .attr("starts", Longs{}, "the first position along each of these axes; negative ones count from the end")
      .attr("ends", Longs{}, "the end along each of these axes, exclusive; negative ones count from the end")
      .attr("steps", Longs{}, "the step along each of these axes, which may be negative; empty: 1")
      .attr("decrease_axes", Longs{}, "axes of size 1 of the slice that the value lacks")
      .attr("none_axes", Longs{}, "additional axes of size 1 of the value")
      .attr("dtype", static_cast<int32_t>(DType::Float32),
            "selects the attribute that holds the value if `values` is empty")
      .attr("shape", Longs{}, "shape of `values`");
}

}  // namespace
}  // namespace paddle_mini

#include PM_KERNELS(set_value)

namespace paddle_mini {

void define_set_value(OpTable& ops) {
  OpSchema forward("set_value"), backward("set_value_grad");
  forward.input("Input", "any shape")
      .optional_input("ValueTensor", "the value, of Input's element type")
      .output("Out", "shape of Input; usually the variable of Input");
  backward.input("Out@GRAD", "shape of Out")
      .optional_input("ValueTensor", "as in set_value")
      .shape_only("ValueTensor")
      .optional_output("Input@GRAD", "shape of Input")
      .optional_output("ValueTensor@GRAD", "shape of ValueTensor");
  ops.add(with_complex<SetValueKernel>(
      set_value_with_attributes(with_tensor_ports(forward, kSetValuePorts))
          .doc("Out = Input with the slice between starts and ends along axes replaced by ValueTensor, or by "
               "`values`, broadcast to the slice.")
          .attr("values", std::vector<ScalarValue>{}, "the value if ValueTensor is omitted")
          .attr("bool_values", Ints{}, "the value, 0 or 1, if `values` is empty and dtype is bool")
          .attr("int32_values", Ints{}, "the value if `values` is empty and dtype is int32")
          .attr("int64_values", Longs{}, "the value if `values` is empty and dtype is int64")
          .attr("fp32_values", std::vector<float>{}, "the value if `values` is empty and dtype is float32")
          .attr("fp64_values", std::vector<double>{}, "the value if `values` is empty and dtype is float64")
          .infer([](InferContext& c) {
            require_tensors(c);
            const VarInfo& input = c.input("Input");
            if (c.has_input("ValueTensor")) require_same_dtype(c, "Input", "ValueTensor");
            c.set_output("Out", input);
            Shape value = c.has_input("ValueTensor") ? c.shape("ValueTensor") : listed_shape(c.op());
            auto op = settled(c, kSetValuePorts);
            if (!op) return;
            value_index_maps(value, part_shape(*op, slice_index_maps(slice_of(*op), input.shape, true)));
          })
          .gradient([](const OpDesc& forward) {
            OpDesc backward = make_op("set_value_grad", {{"Out@GRAD", gradient_names(forward.output("Out"))}},
                                      {{"Input@GRAD", gradient_names(forward.input("Input"))}});
            if (!forward.input("ValueTensor").empty()) {
              backward.inputs.push_back({"ValueTensor", forward.input("ValueTensor")});
              backward.outputs.push_back({"ValueTensor@GRAD", gradient_names(forward.input("ValueTensor"))});
            }
            for (const TensorAttr& attr : kSetValuePorts) {
              const std::vector<std::string>& names = forward.input(attr.list);
              if (!names.empty()) backward.inputs.push_back({attr.list, names});
            }
            for (const Attr& attr : forward.attrs) {
              bool value = attr.name.find("values") != std::string::npos;
              if (!value) backward.attrs.push_back(attr);
            }
            return std::vector<OpDesc>{backward};
          })
          .updates("Input", "Out")
          .on_gpu()
          .kernels<SetValueKernel, float, double, int32_t, int64_t, bool, int16_t, uint8_t>()));
  ops.add(also({DType::Bool}, with_complex<SetValueGradKernel>(
                                  set_value_with_attributes(with_tensor_ports(backward, kSetValuePorts))
                                      .doc("Input@GRAD = Out@GRAD with 0 in the slice; ValueTensor@GRAD = the slice of "
                                           "Out@GRAD, summed over the axes along which the value was broadcast.")
                                      .infer([](InferContext& c) {
                                        require_tensors(c);
                                        const VarInfo& out = c.input("Out@GRAD");
                                        c.set_output("Input@GRAD", out);
                                        if (c.has_output("ValueTensor@GRAD")) {
                                          require_same_dtype(c, "Out@GRAD", "ValueTensor");
                                          c.set_output("ValueTensor@GRAD", c.input("ValueTensor"));
                                        }
                                        auto op = settled(c, kSetValuePorts);
                                        if (!op) return;
                                        Shape part = part_shape(*op, slice_index_maps(slice_of(*op), out.shape, true));
                                        if (c.has_output("ValueTensor@GRAD"))
                                          value_index_maps(c.shape("ValueTensor"), part);
                                      })
                                      .on_gpu()
                                      .kernels<SetValueGradKernel, float, double, int32_t, int64_t>())));
}

}  // namespace paddle_mini
