// conv3d: Output[n, o, z, y, x] = sum over c, k, i, j of Filter[o, c, k, i, j] Input[n, c, z + k, y + i, x + j], with
// strides and paddings
#include "core/op_table.h"
#include "math/volume.h"

#ifdef PM_GPU
#include "math/convolution_gpu.h"
#else
#include "math/gemm.h"
#endif

namespace paddle_mini {
namespace {

template <class Context>
VolumeAxes conv3d_axes_of(const Context& c, const VolumeLayout& input, const Shape& filter) {
  VolumeWindow window;
  window.strides = c.template attr<std::vector<int32_t>>("strides");
  window.dilations = c.template attr<std::vector<int32_t>>("dilations");
  window.paddings = c.template attr<std::vector<int32_t>>("paddings");
  window.algorithm = c.template attr<std::string>("padding_algorithm");
  return window.axes(input.sizes, {filter[2], filter[3], filter[4]});
}

#ifdef PM_GPU
template <class T>
struct FilteredVolumes : VolumeConvolution<T> {
  explicit FilteredVolumes(const KernelInit& init) : VolumeConvolution<T>(volumes(init)) {}

  static ConvolvedVolumes volumes(const KernelInit& init) {
    const Shape& filter = init.input("Filter")->tensor.shape;
    VolumeLayout input(init.input("Input")->tensor.shape, init.attr<std::string>("data_format"));
    int64_t groups = init.attr<int32_t>("groups");
    return {input.images,       groups, filter[1], filter[0] / groups, conv3d_axes_of(init, input, filter),
            input.channels_last};
  }
};
#else
// Each image and group is a product of matrices: the group's filters [outs, taps], and the patches [taps, pixels] of
// the image. The result is [outs, pixels], or [pixels, outs] where channels are last.
template <class T>
struct FilteredVolumes {
  VolumeLayout input;
  int64_t groups, outs, image_size, out_size;  // outs: of one group
  VolumePatches patches;
  Scratch<T> columns;

  explicit FilteredVolumes(KernelInit& init)
      : input(init.input("Input")->tensor.shape, init.attr<std::string>("data_format")),
        groups(init.attr<int32_t>("groups")), outs(init.input("Filter")->tensor.shape[0] / groups),
        image_size(input.channels * pixels_in()), patches(patches_of(init)), columns(init, patches.elements()) {
    out_size = groups * outs * patches.outputs();
  }

  int64_t pixels_in() const { return input.sizes[0] * input.sizes[1] * input.sizes[2]; }

  VolumePatches patches_of(const KernelInit& init) const {
    VolumePatches p;
    p.axes = conv3d_axes_of(init, input, init.input("Filter")->tensor.shape);
    p.channels = init.input("Filter")->tensor.shape[1];
    p.channel_step = input.channels_last ? 1 : pixels_in();
    p.pixel_step = input.channels_last ? input.channels : 1;
    return p;
  }

  // f(offset of the group in Input, in Filter, in Output) for each group of each image
  template <class F>
  void each_group(F f) const {
    for (int64_t n = 0; n < input.images; ++n) {
      for (int64_t g = 0; g < groups; ++g) {
        f(n * image_size + g * patches.channels * patches.channel_step, g * outs * patches.rows(),
          n * out_size + g * outs * (input.channels_last ? 1 : patches.outputs()));
      }
    }
  }

  void run(Device& device, const T* image, const T* filter, T* out) {
    int64_t taps = patches.rows(), pixels = patches.outputs();
    Gemm<T> product{false, false, outs, pixels, taps};
    if (input.channels_last) product = {true, true, pixels, outs, taps, 0, 0, groups * outs};
    each_group([&](int64_t from, int64_t weights, int64_t to) {
      patches.gather(image + from, columns.data());
      if (input.channels_last) product.run(device, columns.data(), filter + weights, out + to);
      else product.run(device, filter + weights, columns.data(), out + to);
    });
  }

  void input_gradient(Device& device, const T* filter, const T* out_gradient, T* gradient) {
    Gemm<T> product{true, false, patches.rows(), patches.outputs(), outs};
    if (input.channels_last) product.transpose_b = true, product.ldb = groups * outs;
    std::fill_n(gradient, input.images * image_size, T(0));
    each_group([&](int64_t to, int64_t weights, int64_t from) {
      product.run(device, filter + weights, out_gradient + from, columns.data());
      patches.add_back(columns.data(), gradient + to);
    });
  }

  void filter_gradient(Device& device, const T* image, const T* out_gradient, T* gradient) {
    Gemm<T> product{false, true, outs, patches.rows(), patches.outputs()};
    if (input.channels_last) product.transpose_a = true, product.lda = groups * outs;
    product.beta = T(1);
    std::fill_n(gradient, groups * outs * patches.rows(), T(0));
    each_group([&](int64_t from, int64_t weights, int64_t at) {
      patches.gather(image + from, columns.data());
      product.run(device, out_gradient + at, columns.data(), gradient + weights);
    });
  }
};
#endif

template <class T>
struct Conv3dKernel : Kernel {
  In<T> input, filter;
  Out<T> output;
  FilteredVolumes<T> convolution;

  explicit Conv3dKernel(KernelInit& init)
      : input(init, "Input"), filter(init, "Filter"), output(init, "Output"), convolution(init) {}
  void run(Device& device) override { convolution.run(device, input.data(), filter.data(), output.data()); }
};

template <class T>
struct Conv3dGradKernel : Kernel {
  In<T> input, filter, gradient;
  Out<T> input_gradient, filter_gradient;
  FilteredVolumes<T> convolution;

  explicit Conv3dGradKernel(KernelInit& init)
      : input(init, "Input"), filter(init, "Filter"), gradient(init, "Output@GRAD"),
        input_gradient(init, "Input@GRAD", optional_port), filter_gradient(init, "Filter@GRAD", optional_port),
        convolution(init) {}
  void run(Device& device) override {
    if (filter_gradient) { convolution.filter_gradient(device, input.data(), gradient.data(), filter_gradient.data()); }
    if (input_gradient) convolution.input_gradient(device, filter.data(), gradient.data(), input_gradient.data());
  }
};

Shape conv3d_output_shape(const InferContext& c) {
  require_tensors(c);
  require_same_dtype(c, "Input", "Filter");
  require_rank(c, "Input", 5);
  require_rank(c, "Filter", 5);
  const Shape& filter = c.shape("Filter");
  VolumeLayout input(c.shape("Input"), c.attr<std::string>("data_format"));
  for (int axis : {2, 3, 4}) {
    require<ShapeError>(filter[axis] != 0, "Filter has shape ", filter.str(), ", a window has at least one element");
  }
  int64_t groups = c.attr<int32_t>("groups");
  require<ShapeError>(filter[1] < 0 || dims_agree(input.channels, filter[1] * groups), "Filter has ", filter[1],
                      " input channels", groups > 1 ? text(" for each of ", groups, " groups") : "", ", Input has ",
                      input.channels);
  require<ShapeError>(filter[0] < 0 || filter[0] % groups == 0, "Filter has ", filter[0],
                      " output channels, which do not divide into ", groups, " groups");
  auto [depth, height, width] = conv3d_axes_of(c, input, filter);
  return input.with(filter[0], {depth.out, height.out, width.out});
}

}  // namespace

void define_conv3d(OpTable& ops) {
  ops.add(OpSpec("conv3d")
              .doc("Cross-correlation of every volume with every filter, zeros outside of the volume, as conv2d of "
                   "images. With groups, output channels of a group see the input channels of that group.")
              .input("Input", "[images, channels, depth, height, width], or channels last")
              .input("Filter", "[output channels, channels / groups, window depth, height, width]")
              .output("Output", "[images, output channels, depth, height, width], or channels last")
              .attr("strides", std::vector<int32_t>{1, 1, 1}, "steps of the window: depth, height, width")
              .attr("paddings", std::vector<int32_t>{0, 0, 0},
                    "zeros around the volume: depth, height, width; or before and after each of them")
              .attr("padding_algorithm", "EXPLICIT",
                    "EXPLICIT: `paddings`; SAME: as many outputs as strides begin in the volume; VALID: none",
                    one_of({"EXPLICIT", "SAME", "VALID"}))
              .attr("groups", 1, "channels fall into so many groups that do not mix", at_least(1))
              .attr("dilations", std::vector<int32_t>{1, 1, 1},
                    "distance between taps of the window: depth, height, width")
              .attr("data_format", "NCDHW", "channels are axis 1 or the last, in Input and Output",
                    one_of({"NCDHW", "NDHWC", "AnyLayout"}))
              .infer([](InferContext& c) { c.set_output("Output", c.input("Input").dtype, conv3d_output_shape(c)); })
              .gradient("conv3d_grad", {"Input", "Filter", "Output@GRAD"}, {"Input@GRAD", "Filter@GRAD"})
              .on_gpu()
              .kernels<Conv3dKernel, float, double>());
  ops.add(ops.gradient_of("conv3d")
              .doc("Gradients of conv3d by its volume and its filter.")
              .kernels<Conv3dGradKernel, float, double>());
}

}  // namespace paddle_mini
