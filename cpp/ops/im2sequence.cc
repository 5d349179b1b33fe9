// im2sequence: Out = the patches of each image as a sequence of rows
#include <algorithm>
#include <cmath>

#include "math/copy.h"
#include "math/cpu/each_item.h"
#include "math/sequences.h"

namespace paddle_mini {
namespace {

template <class Context>
std::vector<int32_t> numbers_of(const Context& c, const char* name, size_t count, int32_t least) {
  std::vector<int32_t> numbers = c.template attr<std::vector<int32_t>>(name);
  require<ProgramError>(numbers.size() == count, "attribute '", name, "' has ", numbers.size(), " numbers, ", count,
                        " are needed");
  for (int32_t number : numbers) {
    require<ProgramError>(number >= least, "attribute '", name, "' holds ", number, ", it must be at least ", least);
  }
  return numbers;
}

double number_at(const Tensor& tensor, int64_t at) {
  return tensor.dtype == DType::Float64 ? tensor.as<double>()[at] : static_cast<double>(tensor.as<float>()[at]);
}

// The patches of images [images, channels, height, width]. Row t of Out has patch t in the order channel, row, column.
struct PatchSequences {
  int64_t channels, height, width;
  std::vector<int32_t> kernel, stride, padding;
  std::vector<int64_t> columns;  // patches side by side, of each image
  Offsets offsets{0};

  // real_sizes: height and width of the parts of the images before they were scaled; nullptr: all of them.
  template <class Context>
  PatchSequences(const Context& c, const Shape& x, const Variable* real_sizes)
      : channels(x[1]), height(x[2]), width(x[3]), kernel(numbers_of(c, "kernels", 2, 1)),
        stride(numbers_of(c, "strides", 2, 1)), padding(numbers_of(c, "paddings", 4, 0)) {
    std::vector<int32_t> scale = numbers_of(c, "out_stride", 2, 1);
    for (int64_t image = 0; image < x[0]; ++image) {
      int64_t sizes[2] = {height, width};
      for (int axis = 0; real_sizes && axis < 2; ++axis) {
        double real = number_at(real_sizes->tensor, image * 2 + axis);
        require<ShapeError>(real >= 1 && real < 1e9, "Y says that image ", image, " has ", real, " pixels");
        sizes[axis] =
            (static_cast<int64_t>(real) + scale[static_cast<size_t>(axis)] - 1) / scale[static_cast<size_t>(axis)];
      }
      int64_t down = count(sizes[0], 0), across = count(sizes[1], 1);
      columns.push_back(across);
      offsets.push_back(offsets.back() + Shape{down, across}.numel());
    }
  }

  int64_t count(int64_t pixels, size_t axis) const {
    int64_t room = pixels + padding[axis] + padding[axis + 2] - kernel[axis];
    require<ShapeError>(room >= 0, pixels, " pixels with padding are fewer than the ", kernel[axis], " of a patch");
    return room / stride[axis] + 1;
  }
  int64_t row_size() const { return channels * kernel[0] * kernel[1]; }

  // Calls f(pixel of X, element of Out) for the pixels of patches that are not padding; those of one channel in order.
  template <class F>
  void each_pixel(KernelContext& context, F f) const {
    int64_t images = static_cast<int64_t>(columns.size());
    double taps = static_cast<double>(kernel[0]) * kernel[1] * static_cast<double>(offsets.back()) /
                  static_cast<double>(std::max<int64_t>(images, 1));
    each_item(context, {images * channels, taps}, [&](int64_t plane) {
      int64_t channel = plane % channels;
      auto image = static_cast<size_t>(plane / channels);
      for (int64_t row = offsets[image]; row < offsets[image + 1]; ++row) {
        int64_t patch = row - offsets[image], top = patch / columns[image] * stride[0] - padding[0];
        int64_t left = patch % columns[image] * stride[1] - padding[1];
        int64_t to = row * row_size() + channel * kernel[0] * kernel[1];
        for (int64_t y = std::max<int64_t>(-top, 0); y < kernel[0] && top + y < height; ++y) {
          for (int64_t x = std::max<int64_t>(-left, 0); x < kernel[1] && left + x < width; ++x) {
            f((plane * height + top + y) * width + left + x, to + y * kernel[1] + x);
          }
        }
      }
    });
  }
};

template <class T>
struct Im2sequenceKernel : Kernel {
  In<T> x;
  Out<T> out;
  PatchSequences patches;

  explicit Im2sequenceKernel(KernelInit& init)
      : x(init, "X"), out(init, "Out"), patches(init, x.shape(), init.input("Y")) {}
  void run(KernelContext& context) override {
    fill_n(context, out.data(), out.numel(), T(0));
    patches.each_pixel(context, [&](int64_t pixel, int64_t element) { out[element] = x[pixel]; });
  }
};

template <class T>
struct Im2sequenceGradKernel : Kernel {
  In<T> out_gradient;
  Out<T> x_gradient;
  PatchSequences patches;

  explicit Im2sequenceGradKernel(KernelInit& init)
      : out_gradient(init, "Out@GRAD"), x_gradient(init, "X@GRAD"), patches(init, x_gradient.shape(), init.input("Y")) {
  }
  void run(KernelContext& context) override {
    fill_n(context, x_gradient.data(), x_gradient.numel(), T(0));
    patches.each_pixel(context, [&](int64_t pixel, int64_t element) { x_gradient[pixel] += out_gradient[element]; });
  }
};

// Empty while sizes are not known.
std::optional<PatchSequences> patches_of(const InferContext& c) {
  require_tensors(c);
  require_rank(c, "X", 4);
  const Shape& x = c.shape("X");
  const Variable* sizes = nullptr;
  if (c.has_input("Y")) {
    require_same_dtype(c, "X", "Y");
    require<ShapeError>(same_shape(c.shape("Y"), Shape{x[0], 2}), "Y has shape ", c.shape("Y").str(),
                        ", it must have [", x[0], ", 2]");
    sizes = c.value("Y");
    if (!sizes) return {};
  }
  if (!x.known()) return {};
  return PatchSequences(c, x, sizes);
}

void infer_im2sequence(InferContext& c) {
  std::optional<PatchSequences> patches = patches_of(c);
  std::vector<int32_t> kernel = numbers_of(c, "kernels", 2, 1);
  int64_t channels = c.shape("X")[1], rows = patches ? patches->offsets.back() : -1;
  set_sequences(c, "Out", c.input("X").dtype, {rows, channels < 0 ? -1 : channels * kernel[0] * kernel[1]},
                patches ? &patches->offsets : nullptr);
}

void infer_im2sequence_grad(InferContext& c) {
  std::optional<PatchSequences> patches = patches_of(c);
  if (!patches && c.has_input("Y")) c.await_values();
  if (patches) require_gradient_of(c, "Out@GRAD", "X", {patches->offsets.back(), patches->row_size()});
  c.set_output("X@GRAD", c.input("X").dtype, c.shape("X"));
}

}  // namespace

void define_im2sequence(OpTable& ops) {
  ops.add(OpSchema("im2sequence")
              .doc("Out = a sequence for each image, whose rows are its patches from left to right and from top to "
                   "bottom; a patch has the order channel, row, column, and zeros outside of the image.")
              .input("X", "[images, channels, height, width]")
              .optional_input("Y",
                              "[images, 2]: height and width of the part of each image that has patches, "
                              "before out_stride divides it; the quotient is rounded up")
              .output("Out", "[patches, channels patch height patch width], a sequence for each image")
              .required_attr("kernels", AttrType::Ints, "height and width of a patch")
              .attr("strides", std::vector<int32_t>{1, 1}, "stride of the patches: height, width")
              .attr("paddings", std::vector<int32_t>{0, 0, 0, 0}, "zeros around the image: above, left, below, right")
              .attr("out_stride", std::vector<int32_t>{1, 1}, "what sizes in Y are divided by: height, width")
              .infer(infer_im2sequence)
              .gradient("im2sequence_grad", {"X", "Y", "Out@GRAD"}, {"X@GRAD"})
              .cpu_only("processes sequences of different lengths one after the other")
              .kernels<Im2sequenceKernel, float, double>());
  ops.add(ops.gradient_of("im2sequence")
              .doc("X@GRAD = for every pixel, the sum of Out@GRAD over the patches that contain it. Without Y, which "
                   "PaddlePaddle's programs do not pass, all images have the same patches.")
              .shape_only("X")
              .infer(infer_im2sequence_grad)
              .kernels<Im2sequenceGradKernel, float, double>());
}

}  // namespace paddle_mini
