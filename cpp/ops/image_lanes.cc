// images_to_lanes, images_from_lanes and conv2d_in_lanes: neighbouring images side by side, element by element
#include "math/cpu/image_lanes_order.h"
#include "math/convolution.h"
#include "ops/family/convolution.h"

namespace paddle_mini {
namespace {

template <class Context>
int64_t lanes_of(const Context& c) {
  return c.template attr<int32_t>("lanes");
}

// The size of an axis that has so many lanes for each element; -1: not known.
int64_t in_lanes(int64_t size, int64_t lanes) {
  require<ShapeError>(size <= INT64_MAX / lanes, "an axis of ", size, " elements is too large for ", lanes, " lanes");
  return size < 0 ? -1 : size * lanes;
}

template <class T, bool to_lanes>
struct ImageLanesKernel : Kernel {
  In<T> x;
  Out<T> out;
  int64_t lanes;

  explicit ImageLanesKernel(KernelInit& init) : x(init, "X"), out(init, "Out"), lanes(lanes_of(init)) {}

  void run(KernelContext& context) override {
    const Shape& images = to_lanes ? x.shape() : out.shape();
    if (x.numel() == 0) return;
    const ImageLanesOrder order{images[0], images.numel(1, 4), lanes};
    if constexpr (to_lanes) order.to_lanes(context, x.data(), out.data());
    else order.from_lanes(context, x.data(), out.data());
  }
};

template <class T>
using ToLanesKernel = ImageLanesKernel<T, true>;
template <class T>
using FromLanesKernel = ImageLanesKernel<T, false>;

template <bool to_lanes>
void infer_lanes(InferContext& c) {
  require_rank(c, "X", 4);
  Shape shape = c.shape("X");
  const int64_t lanes = lanes_of(c);
  const int from = to_lanes ? 0 : 3, to = to_lanes ? 3 : 0;
  require<ShapeError>(shape[from] < 0 || shape[from] % lanes == 0, "X has shape ", shape.str(), ", of which axis ",
                      from, " must be divisible by ", lanes, " lanes");
  shape[from] = shape[from] < 0 ? -1 : shape[from] / lanes;
  shape[to] = in_lanes(shape[to], lanes);
  c.set_output("Out", c.input("X").dtype, shape);
}

ConvolutionSizes sizes_in_lanes(const KernelInit& init) {
  const Shape &x = init.input("Input")->tensor.shape, &filter = init.input("Filter")->tensor.shape;
  const int64_t lanes = lanes_of(init), groups = init.attr<int32_t>("groups");
  auto [height, width] = convolution_window(init, 2).axes<2>({x[2], x[3] / lanes}, {filter[2], filter[3]});
  return {x[0] * lanes, groups, filter[1], filter[0] / groups, height, width};
}

// Registers hold the same element of so many images. With another number of lanes the images are copied to their usual order
// and back.
template <class T>
class FiltersInLanes {
 public:
  static constexpr bool kStoresParts = true;

  FiltersInLanes(KernelInit& init, bool with_gradients) : sizes_(sizes_in_lanes(init)), lanes_(lanes_of(init)) {
    const ConvolutionSizes& s = sizes_;
    const bool any = s.images * s.groups * s.in_channels * s.out_channels * s.plane() * s.pixels() > 0;
    if (any && lanes_ == Vec<T>::size && (!with_gradients || ImageLanesGradient<T>::fits(s))) {
      if (!with_gradients) forward_.emplace(init, s, false, true);
      else by_input_.emplace(init, s, true, true), by_filter_.emplace(init, s, true);
      return;
    }
    copies_.emplace(Copies{{init, s, {!with_gradients, with_gradients, with_gradients}},
                           {init, s.images * s.image_size()},
                           {init, s.images * s.out_size()},
                           {s.images, s.image_size(), lanes_},
                           {s.images, s.out_size(), lanes_}});
  }

  void run(KernelContext& context, const T* image, const T* filter, T* out) {
    if (forward_) return forward_->run(context, image, filter, out);
    Copies& c = *copies_;
    c.image_order.from_lanes(context, image, c.image.data());
    c.convolution.run(context, c.image.data(), filter, c.out.data());
    c.out_order.to_lanes(context, c.out.data(), out);
    StoredParts<T>(context).add(out, sizes_.images * sizes_.out_size());
  }

  void input_gradient(KernelContext& context, const T* filter, const T* out_gradient, T* image_gradient) {
    if (by_input_) return by_input_->run(context, out_gradient, filter, image_gradient);
    Copies& c = *copies_;
    c.out_order.from_lanes(context, out_gradient, c.out.data());
    c.convolution.input_gradient(context, filter, c.out.data(), c.image.data());
    c.image_order.to_lanes(context, c.image.data(), image_gradient);
  }

  void filter_gradient(KernelContext& context, const T* image, const T* out_gradient, T* filter_gradient) {
    if (by_filter_) return by_filter_->run(context, image, out_gradient, filter_gradient);
    Copies& c = *copies_;
    c.image_order.from_lanes(context, image, c.image.data());
    c.out_order.from_lanes(context, out_gradient, c.out.data());
    c.convolution.filter_gradient(context, c.image.data(), c.out.data(), filter_gradient);
  }

 private:
  struct Copies {
    Convolution<T> convolution;
    Scratch<T> image, out;
    ImageLanesOrder image_order, out_order;
  };

  ConvolutionSizes sizes_;
  int64_t lanes_;
  std::optional<ImageLanes<T>> forward_, by_input_;
  std::optional<ImageLanesGradient<T>> by_filter_;
  std::optional<Copies> copies_;
};

void infer_conv2d_in_lanes(InferContext& c) {
  const Shape &filter = filter_shape(c, 4), &x = c.shape("Input");
  const int64_t lanes = lanes_of(c);
  require_channels(filter, c.attr<int32_t>("groups"), x[1]);
  require<ShapeError>(x[3] < 0 || x[3] % lanes == 0, "Input has shape ", x.str(),
                      ", whose last axis must be divisible by ", lanes, " lanes");
  const int64_t columns = x[3] < 0 ? -1 : x[3] / lanes;
  auto [height, width] = convolution_window(c, 2).axes<2>({x[2], columns}, {filter[2], filter[3]});
  c.set_output("Output", c.input("Input").dtype, Shape{x[0], filter[0], height.out, in_lanes(width.out, lanes)});
}

constexpr const char kReason[] = "the executor inserts it only on the CPU";

OpSchema order_schema(const char* type, const char* doc) {
  return OpSchema(type)
      .doc(doc)
      .attr("lanes", 16, "how many images are side by side", between(1, 64))
      .cpu_only(kReason)
      .no_gradient("the executor inserts it where gradients are operators already");
}

}  // namespace

void define_image_lanes(OpTable& ops) {
  ops.set_float_lanes(static_cast<int>(Vec<float>::size));
  ops.add(order_schema(
              "images_to_lanes",
              "Out[i, c, y, x lanes + n] = X[i lanes + n, c, y, x]: neighbouring images side by side. The executor "
              "inserts it (docs/performance.md).")
              .input("X", "[images, channels, height, width], images divisible by `lanes`")
              .output("Out", "[images / lanes, channels, height, width lanes]")
              .infer(infer_lanes<true>)
              .kernels<ToLanesKernel, float, double>());
  ops.add(order_schema("images_from_lanes",
                       "The inverse of images_to_lanes. The executor inserts it (docs/performance.md).")
              .input("X", "[images / lanes, channels, height, width lanes]")
              .output("Out", "[images, channels, height, width]")
              .infer(infer_lanes<false>)
              .kernels<FromLanesKernel, float, double>());
  ops.add(OpSchema("conv2d_in_lanes")
              .doc("conv2d of images that are side by side as images_to_lanes has them. The executor inserts it "
                   "(docs/performance.md).")
              .stores_parts("Output")
              .input("Input", "[images / lanes, channels, height, width lanes]")
              .input("Filter", "[output channels, channels / groups, window height, window width]")
              .output("Output", "[images / lanes, output channels, output height, output width lanes]")
              .attr("lanes", 16, "how many images are side by side", between(1, 64))
              .attr("strides", std::vector<int32_t>{1, 1}, "stride of the window: height, width")
              .attr("paddings", std::vector<int32_t>{0, 0},
                    "zeros around each image: height, width; or above, below, left, right")
              .attr("padding_algorithm", "EXPLICIT", "as in conv2d", one_of({"EXPLICIT", "SAME", "VALID"}))
              .attr("dilations", std::vector<int32_t>{1, 1}, "distance between taps of the filter: height, width")
              .attr("groups", 1, "channels fall into so many groups that do not mix", at_least(1))
              .infer(infer_conv2d_in_lanes)
              .gradient("conv2d_in_lanes_grad", {"Input", "Filter", "Output@GRAD"}, {"Input@GRAD", "Filter@GRAD"})
              .cpu_only(kReason)
              .kernels<ConvolutionKernel<FiltersInLanes>::For, float, double>());
  ops.add(ops.gradient_of("conv2d_in_lanes")
              .doc("Gradients of conv2d_in_lanes with respect to its images and its filter.")
              .infer(gradients_like_inputs)
              .no_gradient("the executor inserts it where gradients are operators already")
              .cpu_only(kReason)
              .kernels<ConvolutionGradKernel<FiltersInLanes>::For, float, double>());
}

}  // namespace paddle_mini
