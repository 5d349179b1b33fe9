// as_strided: Out = a view of input's memory with another shape and other strides, copied
#include <algorithm>

#include "core/op_table.h"
#include "core/widening.h"
#include "math/strided_places.h"

namespace paddle_mini {
namespace {

// The places in input of all elements of Out; throws if one is outside.
template <class Context>
StridedPlaces strided_view(const Context& c, const Shape& input, DType dtype) {
  const auto &dims = c.template attr<std::vector<int64_t>>("dims"),
             &strides = c.template attr<std::vector<int64_t>>("stride");
  int64_t offset = c.template attr<int64_t>("offset"), bytes = static_cast<int64_t>(size_of(dtype));
  require<ProgramError>(dims.size() == strides.size() && dims.size() <= Shape::kMaxRank, "attribute 'dims' has ",
                        dims.size(), " numbers, 'stride' has ", strides.size(), ": both have one for each of at most ",
                        Shape::kMaxRank, " axes");
  require<ProgramError>(offset >= 0 && offset % bytes == 0, "attribute 'offset' is ", offset,
                        ", it must be a multiple of ", bytes, ", the bytes of an element");
  StridedPlaces places;
  places.first = offset / bytes;
  Shape out(dims);
  double low = static_cast<double>(places.first), high = low;
  for (int i = 0; i < out.rank(); ++i) {
    require<ProgramError>(out[i] >= 0, "attribute 'dims' has ", out[i], ", it must be at least 0");
    double reach = static_cast<double>(out[i] - 1) * static_cast<double>(strides[static_cast<size_t>(i)]);
    (reach < 0 ? low : high) += reach;
    places.add(out[i], strides[static_cast<size_t>(i)]);
  }
  if (!input.known() || out.numel() == 0) return places;
  require<ShapeError>(low >= 0 && high < static_cast<double>(input.numel()), "the view has elements from ", low, " to ",
                      high, ", input has ", input.numel(), " elements");
  return places;
}

struct AsStridedKernel : Kernel {
  const Variable& input;
  Variable& out;
  StridedPlaces places;

  explicit AsStridedKernel(KernelInit& init)
      : input(*init.input("input")), out(*init.output("out")),
        places(strided_view(init, input.tensor.shape, input.tensor.dtype)) {}
  void run(KernelContext& context) override {
    take_places(context, size_of(input.tensor.dtype), out.tensor.shape.numel(), places, input.tensor.data,
                out.tensor.data);
  }
};

template <class T>
struct AsStridedGradKernel : Kernel {
  In<T> out_gradient;
  Out<T> gradient;
  StridedPlaces places;

  explicit AsStridedGradKernel(KernelInit& init)
      : out_gradient(init, "out@GRAD"), gradient(init, "input@GRAD"),
        places(strided_view(init, gradient.shape(), dtype_of<T>::value)) {}
  void run(KernelContext&) override {
    std::fill_n(gradient.data(), gradient.numel(), T(0));
    for (int64_t i = 0, n = out_gradient.numel(); i < n; ++i) gradient[places(i)] += out_gradient[i];
  }
};

}  // namespace

void define_as_strided(OpTable& ops) {
  ops.add(
      OpSchema("as_strided")
          .doc("out[i, j, ...] = the element of the flattened input at offset / bytes of an element + i stride[0] + "
               "j stride[1] + ...; a view with elements outside of input is an error.")
          .input("input", "any shape")
          .output("out", "the attribute `dims` is its shape")
          .attr("dims", std::vector<int64_t>{}, "shape of out")
          .attr("stride", std::vector<int64_t>{}, "for each axis of out: the distance of neighbours, in elements")
          .attr("offset", int64_t{0}, "where the view begins, in bytes")
          .infer([](InferContext& c) {
            require_tensors(c);
            strided_view(c, c.shape("input"), c.input("input").dtype);
            c.set_output("out", c.input("input").dtype, Shape(c.attr<std::vector<int64_t>>("dims")));
          })
          .custom_lod()
          .gradient("as_strided_grad", {"input", "out@GRAD"}, {"input@GRAD"})
          .cpu_only("its view may overlap itself, so that its gradient adds up elements in order")
          .kernel_for_any<AsStridedKernel>());
  ops.add(also({DType::Bool}, ops.gradient_of("as_strided")
                                  .doc("input@GRAD of an element = the sum of out@GRAD over the places that show it. "
                                       "PaddlePaddle takes only the last of them.")
                                  .shape_only("input")
                                  .infer([](InferContext& c) {
                                    require_tensors(c);
                                    require_same_dtype(c, "input", "out@GRAD");
                                    strided_view(c, c.shape("input"), c.input("input").dtype);
                                    Shape wanted(c.attr<std::vector<int64_t>>("dims"));
                                    require<ShapeError>(shapes_agree(c.shape("out@GRAD"), wanted),
                                                        "out@GRAD has shape ", c.shape("out@GRAD").str(), ", out ",
                                                        wanted.str());
                                    c.set_output("input@GRAD", c.input("input"));
                                  })
                                  .dtype_from_input("out@GRAD")
                                  .kernels<AsStridedGradKernel, float, double, int32_t, int64_t>()));
}

}  // namespace paddle_mini
