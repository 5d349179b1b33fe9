// roi_align: Out = the means of samples of X between its pixels, in the bins of regions
#include <algorithm>

#include "core/interruption.h"
#include "math/copy.h"
#include "math/cpu/each_item.h"
#include "ops/family/regions.h"

namespace paddle_mini {
namespace {

// One axis of a region: the weight of each pixel in each bin. The weight of a pixel in a bin of both axes is a product,
// because a sample outside along one axis counts as 0 whatever the other.
template <class T>
struct AlignedAxis {
  int64_t size, bins;
  T* weights;       // [bins, size]
  int64_t* ranges;  // [bins, 2]: the pixels with a weight

  // Pixels before and after the image by less than one take its edge, farther ones are 0. `ratio` samples a bin, or
  // about one for each pixel if it is not positive; none if the region ends before it begins.
  void place(T begin, T end, bool aligned, int64_t ratio) {
    T extent = aligned ? end - begin : std::max(end - begin, T(1)), bin = extent / static_cast<T>(bins);
    int64_t samples = ratio > 0 ? ratio : std::max<int64_t>(static_cast<int64_t>(std::ceil(bin)), 0);
    std::fill_n(weights, bins * size, T(0));
    for (int64_t b = 0; b < bins; ++b) {
      poll_interruption();  // `ratio` may be of any size
      ranges[2 * b] = size, ranges[2 * b + 1] = 0;
      auto [first, last] = inside(begin + bin * static_cast<T>(b), bin, samples);
      for (int64_t i = first; i < last; ++i) {
        T share = (static_cast<T>(i) + T(0.5)) / static_cast<T>(samples);
        add(b, begin + bin * (static_cast<T>(b) + share), T(1) / static_cast<T>(samples));
      }
    }
  }

  // The samples of a bin that may be inside; so that a huge region takes no longer than the image.
  std::pair<int64_t, int64_t> inside(T start, T bin, int64_t samples) const {
    double step = static_cast<double>(bin) / static_cast<double>(std::max<int64_t>(samples, 1));
    if (step <= 0) return {0, samples};
    double low = (-1 - static_cast<double>(start)) / step - 2;
    double high = (static_cast<double>(size) - static_cast<double>(start)) / step + 2;
    double most = static_cast<double>(samples);
    return {static_cast<int64_t>(std::clamp(low, 0.0, most)), static_cast<int64_t>(std::clamp(high, 0.0, most))};
  }

  void add(int64_t b, T at, T weight) {
    if (at < T(-1) || at > static_cast<T>(size)) return;
    at = std::max(at, T(0));
    int64_t low = std::min(static_cast<int64_t>(at), size - 1), high = std::min(low + 1, size - 1);
    T part = low == high ? T(0) : at - static_cast<T>(low);
    weights[b * size + low] += weight * (T(1) - part);
    weights[b * size + high] += weight * part;
    ranges[2 * b] = std::min(ranges[2 * b], low);
    ranges[2 * b + 1] = std::max(ranges[2 * b + 1], high + 1);
  }
};

// The bins of regions, for the operator and its gradient.
template <class T>
struct AlignedRegions {
  Regions<T> regions;
  int64_t channels, height, width, rows, columns, ratio;
  bool aligned;
  LaneScratch<T> weights;
  LaneScratch<int64_t> ranges;

  explicit AlignedRegions(KernelInit& init)
      : regions(init), channels(init.input("X")->tensor.shape[1]), height(init.input("X")->tensor.shape[2]),
        width(init.input("X")->tensor.shape[3]), rows(init.attr<int32_t>("pooled_height")),
        columns(init.attr<int32_t>("pooled_width")), ratio(init.attr<int32_t>("sampling_ratio")),
        aligned(init.attr<bool>("aligned")), weights(init, rows * height + columns * width),
        ranges(init, 2 * (rows + columns)) {}

  std::pair<AlignedAxis<T>, AlignedAxis<T>> axes(int64_t region, int lane) {
    AlignedAxis<T> down{height, rows, weights.data(lane), ranges.data(lane)};
    AlignedAxis<T> across{width, columns, down.weights + rows * height, down.ranges + 2 * rows};
    const T *box = regions.boxes.data() + region * 4, half = aligned ? T(0.5) : T(0);
    auto at = [&](int i) { return box[i] * static_cast<T>(regions.scale) - half; };
    down.place(at(1), at(3), aligned, ratio);
    across.place(at(0), at(2), aligned, ratio);
    return {down, across};
  }

  int64_t plane(int64_t region, int64_t channel) const {
    return (regions.images[region] * channels + channel) * height * width;
  }
  double cost() const { return 20.0 * static_cast<double>(rows * columns); }  // nanoseconds for a channel

  // Calls f(bin, pixel, weight) for each pixel of each bin.
  template <class F>
  void each_pixel(const AlignedAxis<T>& down, const AlignedAxis<T>& across, F f) const {
    for (int64_t bin = 0; bin < rows * columns; ++bin) {
      int64_t r = bin / columns, c = bin % columns;
      for (int64_t y = down.ranges[2 * r]; y < down.ranges[2 * r + 1]; ++y) {
        for (int64_t x = across.ranges[2 * c]; x < across.ranges[2 * c + 1]; ++x) {
          f(bin, y * width + x, down.weights[r * height + y] * across.weights[c * width + x]);
        }
      }
    }
  }
};

template <class T>
struct RoiAlignKernel : Kernel {
  AlignedRegions<T> bins;
  In<T> x;
  Out<T> out;

  explicit RoiAlignKernel(KernelInit& init) : bins(init), x(init, "X"), out(init, "Out") {}
  void run(KernelContext& context) override {
    bins.regions.refresh();
    int64_t size = bins.rows * bins.columns;
    std::fill_n(out.data(), out.numel(), T(0));
    each_item(context, {bins.regions.count, bins.cost() * static_cast<double>(bins.channels)},
              [&](int64_t region, int lane) {
                auto [down, across] = bins.axes(region, lane);
                for (int64_t c = 0; c < bins.channels; ++c) {
                  const T* from = x.data() + bins.plane(region, c);
                  T* to = out.data() + (region * bins.channels + c) * size;
                  bins.each_pixel(down, across, [=](int64_t bin, int64_t pixel, T w) { to[bin] += w * from[pixel]; });
                }
              });
  }
};

// Regions overlap, so that they take turns; the channels of one run at the same time.
template <class T>
struct RoiAlignGradKernel : Kernel {
  AlignedRegions<T> bins;
  In<T> gradient;
  Out<T> x_gradient;

  explicit RoiAlignGradKernel(KernelInit& init) : bins(init), gradient(init, "Out@GRAD"), x_gradient(init, "X@GRAD") {}
  void run(KernelContext& context) override {
    bins.regions.refresh();
    fill_n(context, x_gradient.data(), x_gradient.numel(), T(0));
    int64_t size = bins.rows * bins.columns;
    for (int64_t region = 0; region < bins.regions.count; ++region) {
      auto axes = bins.axes(region, 0);
      each_item(context, {bins.channels, bins.cost()}, [&](int64_t c) {
        const T* from = gradient.data() + (region * bins.channels + c) * size;
        T* to = x_gradient.data() + bins.plane(region, c);
        bins.each_pixel(axes.first, axes.second, [=](int64_t bin, int64_t pixel, T w) { to[pixel] += w * from[bin]; });
      });
    }
  }
};

void infer_roi_align(InferContext& c) {
  const Shape& x = c.shape("X");
  int64_t regions = infer_regions(c);
  require<ShapeError>(x[2] != 0 && x[3] != 0, "X has shape ", x.str(), ": it has no pixels");
  c.set_output("Out", c.input("X").dtype,
               Shape{regions, x[1], c.attr<int32_t>("pooled_height"), c.attr<int32_t>("pooled_width")});
}

}  // namespace

void define_roi_align(OpTable& ops) {
  ops.add(
      regions_schema("roi_align")
          .doc("Each region is cut into bins, and each bin is the mean of samples between the pixels of X by linear "
               "interpolation: those up to one pixel outside of X take its edge, those farther outside are 0. A "
               "region that ends before it begins has no samples, and is 0, unless sampling_ratio states their "
               "number. He et al. 2017, Mask R-CNN.")
          .attr("sampling_ratio", -1, "samples of a bin along each axis; not positive: one for each pixel")
          .attr("aligned", false,
                "true: coordinates count from the edge of the first pixel, not from its center; false: a region is "
                "at least one pixel long")
          .output("Out", "[regions, channels, pooled_height, pooled_width]")
          .infer(infer_roi_align)
          .gradient("roi_align_grad", {"X", "ROIs", "RoisNum", "Out@GRAD"}, {"X@GRAD"})
          .checks_data()
          .kernels<RoiAlignKernel, float, double>());
  ops.add(
      ops.gradient_of("roi_align")
          .doc("X@GRAD of a pixel = the sum over the bins of its weights times Out@GRAD. PaddlePaddle's takes regions "
               "of less than one pixel as one pixel long also where they are aligned, which is wrong.")
          .checks_data()
          .kernels<RoiAlignGradKernel, float, double>());
}

}  // namespace paddle_mini
