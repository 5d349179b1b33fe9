// psroi_pool: Out = the means of X in the bins of regions, each bin from a channel of its own
#include <algorithm>

#include "math/copy.h"
#include "math/cpu/each_item.h"
#include "ops/family/regions.h"

namespace paddle_mini {
namespace {

// One axis of a region: its ends are pixels inside, before the scale.
template <class T>
struct PartedAxis {
  T start, bin;
  int64_t size, bins;

  PartedAxis(T begin, T end, float scale, int64_t size, int64_t bins) : size(size), bins(bins) {
    start = std::round(begin) * static_cast<T>(scale);
    T extent = (std::round(end) + T(1)) * static_cast<T>(scale) - start;
    bin = std::max(extent, T(0.1)) / static_cast<T>(bins);
  }
  int64_t first(int64_t b) const { return inside(std::floor(static_cast<T>(b) * bin + start)); }
  int64_t last(int64_t b) const { return inside(std::ceil(static_cast<T>(b + 1) * bin + start)); }
  int64_t inside(T at) const { return std::clamp<int64_t>(static_cast<int64_t>(at), 0, size); }
};

template <class T>
struct PartedRegions {
  Regions<T> regions;
  int64_t channels, height, width, rows, columns;

  explicit PartedRegions(KernelInit& init)
      : regions(init), channels(init.attr<int32_t>("output_channels")), height(init.input("X")->tensor.shape[2]),
        width(init.input("X")->tensor.shape[3]), rows(init.attr<int32_t>("pooled_height")),
        columns(init.attr<int32_t>("pooled_width")) {}

  int64_t bins() const { return channels * rows * columns; }

  // Calls f(offset of a pixel in X) for each pixel of a bin, and returns their number. The channel of the bin is its
  // index among those of a region.
  template <class F>
  int64_t each_pixel(int64_t region, int64_t bin, F f) const {
    const T* box = regions.boxes.data() + region * 4;
    PartedAxis<T> down(box[1], box[3], regions.scale, height, rows);
    PartedAxis<T> across(box[0], box[2], regions.scale, width, columns);
    int64_t r = bin / columns % rows, c = bin % columns,
            plane = (regions.images[region] * bins() + bin) * height * width;
    int64_t top = down.first(r), bottom = down.last(r), left = across.first(c), right = across.last(c);
    for (int64_t y = top; y < bottom; ++y) {
      for (int64_t x = left; x < right; ++x) f(plane + y * width + x);
    }
    return std::max<int64_t>(bottom - top, 0) * std::max<int64_t>(right - left, 0);
  }
};

template <class T>
struct PsroiPoolKernel : Kernel {
  PartedRegions<T> parts;
  In<T> x;
  Out<T> out;

  explicit PsroiPoolKernel(KernelInit& init) : parts(init), x(init, "X"), out(init, "Out") {}
  void run(KernelContext& context) override {
    parts.regions.refresh();
    each_item(context, {out.numel(), 60}, [&](int64_t i) {
      T sum(0);
      int64_t count = parts.each_pixel(i / parts.bins(), i % parts.bins(), [&](int64_t pixel) { sum += x[pixel]; });
      out[i] = count == 0 ? T(0) : sum / static_cast<T>(count);
    });
  }
};

// One bin after the other, because regions overlap.
template <class T>
struct PsroiPoolGradKernel : Kernel {
  PartedRegions<T> parts;
  In<T> gradient;
  Out<T> x_gradient;

  explicit PsroiPoolGradKernel(KernelInit& init)
      : parts(init), gradient(init, "Out@GRAD"), x_gradient(init, "X@GRAD") {}
  void run(KernelContext& context) override {
    parts.regions.refresh();
    fill_n(context, x_gradient.data(), x_gradient.numel(), T(0));
    for (int64_t i = 0; i < gradient.numel(); ++i) {
      int64_t region = i / parts.bins(), bin = i % parts.bins(), count = parts.each_pixel(region, bin, [](int64_t) {});
      T share = gradient[i] / static_cast<T>(std::max<int64_t>(count, 1));
      parts.each_pixel(region, bin, [&](int64_t pixel) { x_gradient[pixel] += share; });
    }
  }
};

void infer_psroi_pool(InferContext& c) {
  const Shape& x = c.shape("X");
  int64_t regions = infer_regions(c), rows = c.attr<int32_t>("pooled_height"),
          columns = c.attr<int32_t>("pooled_width"), channels = c.attr<int32_t>("output_channels");
  int64_t wanted = Shape{channels, rows, columns}.numel();
  require<ShapeError>(dims_agree(x[1], wanted), "X has ", x[1], " channels, ", channels, " for each of ", rows, " by ",
                      columns, " bins are ", wanted);
  c.set_output("Out", c.input("X").dtype, Shape{regions, channels, rows, columns});
}

}  // namespace

void define_psroi_pool(OpTable& ops) {
  ops.add(regions_schema("psroi_pool")
              .doc("Each region, rounded to whole pixels, is cut into bins. Out[n, c, i, j] is the mean of channel (c "
                   "pooled_height + i) pooled_width + j in bin i, j of region n, and 0 for a bin outside of X. Dai et "
                   "al. 2016, R-FCN.")
              .attr("output_channels", 1, "channels of the result", at_least(1))
              .output("Out", "[regions, output_channels, pooled_height, pooled_width]")
              .infer(infer_psroi_pool)
              .gradient("psroi_pool_grad", {"X", "ROIs", "RoisNum", "Out@GRAD"}, {"X@GRAD"})
              .checks_data()
              .kernels<PsroiPoolKernel, float, double>());
  ops.add(ops.gradient_of("psroi_pool")
              .doc("Each Out@GRAD is shared among the pixels of its bin.")
              .checks_data()
              .kernels<PsroiPoolGradKernel, float, double>());
}

}  // namespace paddle_mini
