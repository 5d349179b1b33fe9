// spp: Out = the maxima, or means, of the parts of images that are cut into 1, 2 by 2, 4 by 4 and more parts
#include "core/op_table.h"
#include "math/for_each_index.h"
#include "math/unravel_last.h"

#include <algorithm>

namespace paddle_mini {
namespace {

// The windows along an axis of which `parts` cover it; the first and the last one may be cut.
struct PyramidAxis {
  int64_t size, window, padding;

  PM_HD PyramidAxis(int64_t pixels, int64_t parts)
      : size(pixels), window((pixels + parts - 1) / parts), padding((window * parts - pixels + 1) / 2) {}
  PM_HD int64_t begin(int64_t part) const { return std::max<int64_t>(part * window - padding, 0); }
  PM_HD int64_t end(int64_t part) const { return std::min((part + 1) * window - padding, size); }
  PM_HD int64_t part_of(int64_t pixel) const { return (pixel + padding) / window; }
};

// Out has [images, the levels one after the other: [channels, parts, parts]].
struct Pyramid {
  int64_t channels, height, width;
  int32_t levels;
  bool largest;

  Pyramid(const KernelInit& init, const Shape& x)
      : channels(x[1]), height(x[2]), width(x[3]), levels(init.attr<int32_t>("pyramid_height")),
        largest(init.attr<std::string>("pooling_type") == "max") {}
  PM_HD static int64_t parts_below(int32_t level) { return ((int64_t{1} << (2 * level)) - 1) / 3; }
};

template <class T>
struct PyramidPart {
  Pyramid pyramid;
  const T* x;
  T* out;

  PM_HD void operator()(int64_t o) const {
    int64_t image = o, at = unravel_last(image, pyramid.channels * Pyramid::parts_below(pyramid.levels)), parts = 1;
    for (; at >= pyramid.channels * parts * parts; parts *= 2) at -= pyramid.channels * parts * parts;
    const PyramidAxis rows(pyramid.height, parts), columns(pyramid.width, parts);
    int64_t channel = at, column = unravel_last(channel, parts), row = unravel_last(channel, parts);
    int64_t first = rows.begin(row), last = rows.end(row), left = columns.begin(column), right = columns.end(column);
    const T* plane = x + (image * pyramid.channels + channel) * pyramid.height * pyramid.width;
    T total = 0, most = plane[first * pyramid.width + left];
    for (int64_t i = first; i < last; ++i) {
      for (int64_t j = left; j < right; ++j) {
        T value = plane[i * pyramid.width + j];
        total += value;
        if (value > most || value != value) most = value;
      }
    }
    out[o] = pyramid.largest ? most : total / static_cast<T>((last - first) * (right - left));
  }
};

// The parts that contain a pixel of X, one of each level.
template <class T>
struct PyramidShares {
  Pyramid pyramid;
  const T *x, *out, *out_gradient;
  T* x_gradient;

  // Whether the pixel is the first one of its part with the maximum.
  PM_HD bool is_maximum(const T* plane, int64_t pixel, T most, int64_t first, int64_t left, int64_t right) const {
    auto same = [most](T value) { return value == most || (value != value && most != most); };
    if (!same(plane[pixel])) return false;
    for (int64_t i = first * pyramid.width; i <= pixel; i += pyramid.width) {
      for (int64_t j = i + left; j < i + right && j < pixel; ++j) {
        if (same(plane[j])) return false;
      }
    }
    return true;
  }

  PM_HD void operator()(int64_t at) const {
    int64_t image = at, column = unravel_last(image, pyramid.width), row = unravel_last(image, pyramid.height);
    int64_t channel = unravel_last(image, pyramid.channels), pixel = row * pyramid.width + column;
    const T* plane = x + (image * pyramid.channels + channel) * pyramid.height * pyramid.width;
    T total = 0;
    for (int32_t level = 0; level < pyramid.levels; ++level) {
      const int64_t parts = int64_t{1} << level;
      const PyramidAxis rows(pyramid.height, parts), columns(pyramid.width, parts);
      int64_t i = rows.part_of(row), j = columns.part_of(column);
      int64_t place = image * Pyramid::parts_below(pyramid.levels) + Pyramid::parts_below(level);
      int64_t o = place * pyramid.channels + (channel * parts + i) * parts + j;
      int64_t first = rows.begin(i), left = columns.begin(j), right = columns.end(j);
      if (!pyramid.largest) {
        total += out_gradient[o] / static_cast<T>((rows.end(i) - first) * (right - left));
      } else if (is_maximum(plane, pixel, out[o], first, left, right)) {
        total += out_gradient[o];
      }
    }
    x_gradient[at] = total;
  }
};

template <class T>
struct SppKernel : Kernel {
  In<T> x;
  Out<T> out;
  Pyramid pyramid;

  explicit SppKernel(KernelInit& init) : x(init, "X"), out(init, "Out"), pyramid(init, x.shape()) {}
  void run(KernelContext& context) override {
    for_each_index(context, out.numel(), PyramidPart<T>{pyramid, x.data(), out.data()});
  }
};

template <class T>
struct SppGradKernel : Kernel {
  In<T> x, out, out_gradient;
  Out<T> x_gradient;
  Pyramid pyramid;

  explicit SppGradKernel(KernelInit& init)
      : x(init, "X"), out(init, "Out"), out_gradient(init, "Out@GRAD"), x_gradient(init, "X@GRAD"),
        pyramid(init, x.shape()) {}
  void run(KernelContext& context) override {
    PyramidShares<T> shares{pyramid, x.data(), out.data(), out_gradient.data(), x_gradient.data()};
    for_each_index(context, x.numel(), shares);
  }
};

void infer_spp(InferContext& c) {
  require_tensors(c);
  require_rank(c, "X", 4);
  const Shape& x = c.shape("X");
  int32_t levels = c.attr<int32_t>("pyramid_height");
  for (int axis : {2, 3}) {
    for (int64_t parts = 1; x[axis] >= 0 && parts < (int64_t{1} << levels); parts *= 2) {
      const PyramidAxis cut(x[axis], parts);
      require<ShapeError>(x[axis] > 0 && cut.end(0) > 0 && cut.begin(parts - 1) < x[axis], "X has shape ", x.str(),
                          ": ", x[axis], " pixels can't be cut into ", parts, " parts of which none is empty");
    }
  }
  c.set_output("Out", c.input("X").dtype, Shape{x[0], x[1] < 0 ? -1 : x[1] * Pyramid::parts_below(levels)});
}

}  // namespace

void define_spp(OpTable& ops) {
  ops.add(
      OpSchema("spp")
          .doc("Out = for each level l, the maximum or the mean of each of 2^l by 2^l parts of an image: vectors of "
               "one length for images of any size (He et al. 2014). Parts of a level have one size, without "
               "the pixels that they have outside of the image. Shapes of which a part would be empty are refused; "
               "PaddlePaddle gives the least number, or NaN, there.")
          .input("X", "[images, channels, height, width]")
          .output("Out", "[images, channels times the number of parts]: the levels one after the other")
          .required_attr("pyramid_height", AttrType::Int, "the number of levels", between(1, 15))
          .required_attr("pooling_type", AttrType::String, "the maximum or the mean of a part", one_of({"max", "avg"}))
          .infer(infer_spp)
          .gradient("spp_grad", {"X", "Out", "Out@GRAD"}, {"X@GRAD"})
          .on_gpu()
          .kernels<SppKernel, float, double>());
  ops.add(ops.gradient_of("spp")
              .doc("X@GRAD = for each pixel, the sum over the levels: max: Out@GRAD of its part if it is its first "
                   "maximum; avg: its share of Out@GRAD.")
              .kernels<SppGradKernel, float, double>());
}

}  // namespace paddle_mini
