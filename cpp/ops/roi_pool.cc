// roi_pool: Out = the largest pixels of X in the bins of regions
#include <algorithm>
#include <limits>

#include "math/copy.h"
#include "math/cpu/each_item.h"
#include "ops/family/regions.h"

namespace paddle_mini {
namespace {

// One axis of a region in whole pixels; at least one pixel long.
struct PooledRegionAxis {
  int64_t start, size, bins;
  float bin;

  template <class T>
  PooledRegionAxis(T begin, T end, float scale, int64_t size, int64_t bins)
      : start(static_cast<int64_t>(std::round(begin * scale))), size(size), bins(bins) {
    int64_t extent = std::max<int64_t>(static_cast<int64_t>(std::round(end * scale)) - start + 1, 1);
    bin = static_cast<float>(extent) / static_cast<float>(bins);
  }
  int64_t first(int64_t b) const { return inside(std::floor(static_cast<float>(b) * bin)); }
  int64_t last(int64_t b) const { return inside(std::ceil(static_cast<float>(b + 1) * bin)); }
  int64_t inside(float at) const { return std::clamp<int64_t>(static_cast<int64_t>(at) + start, 0, size); }
};

template <class T>
struct RoiPoolKernel : Kernel {
  Regions<T> regions;
  In<T> x;
  Out<T> out;
  Out<int64_t> positions;

  explicit RoiPoolKernel(KernelInit& init) : regions(init), x(init, "X"), out(init, "Out"), positions(init, "Argmax") {}

  void run(KernelContext& context) override {
    regions.refresh();
    const Shape& shape = out.shape();
    double cost = 20.0 * static_cast<double>(shape.numel(1, 4));
    each_item(context, {regions.count, cost}, [&](int64_t region) {
      const T* box = regions.boxes.data() + region * 4;
      PooledRegionAxis down(box[1], box[3], regions.scale, x.shape()[2], shape[2]);
      PooledRegionAxis across(box[0], box[2], regions.scale, x.shape()[3], shape[3]);
      for (int64_t c = 0; c < shape[1]; ++c) {
        const T* plane = x.data() + (regions.images[region] * shape[1] + c) * down.size * across.size;
        for (int64_t bin = 0; bin < shape[2] * shape[3]; ++bin) {
          pool(down, across, bin, plane, (region * shape[1] + c) * shape[2] * shape[3] + bin);
        }
      }
    });
  }

  // A comparison with NaN is false, so that NaN is passed over.
  void pool(const PooledRegionAxis& down, const PooledRegionAxis& across, int64_t bin, const T* plane, int64_t to) {
    int64_t r = bin / across.bins, c = bin % across.bins, at = -1;
    int64_t top = down.first(r), bottom = down.last(r), left = across.first(c), right = across.last(c);
    T most = top < bottom && left < right ? std::numeric_limits<T>::lowest() : T(0);
    for (int64_t y = top; y < bottom; ++y) {
      for (int64_t pixel = y * across.size + left; pixel < y * across.size + right; ++pixel) {
        if (plane[pixel] > most) most = plane[pixel], at = pixel;
      }
    }
    out[to] = most;
    positions[to] = at;
  }
};

template <class T>
struct RoiPoolGradKernel : Kernel {
  Regions<T> regions;
  In<int64_t> positions;
  In<T> gradient;
  Out<T> x_gradient;

  explicit RoiPoolGradKernel(KernelInit& init)
      : regions(init), positions(init, "Argmax"), gradient(init, "Out@GRAD"), x_gradient(init, "X@GRAD") {}

  void run(KernelContext& context) override {
    regions.refresh();
    const Shape &x = x_gradient.shape(), &out = gradient.shape();
    int64_t plane = x[2] * x[3], bins = out[2] * out[3];
    for (int64_t i = 0; i < positions.numel(); ++i) {
      require<OpError>(positions[i] >= -1 && positions[i] < plane, "Argmax has ", positions[i], " at element ", i,
                       ", a plane of X has ", plane, " pixels");
    }
    fill_n(context, x_gradient.data(), x_gradient.numel(), T(0));
    for (int64_t i = 0; i < positions.numel(); ++i) {
      int64_t channel = i / bins % x[1], region = i / bins / x[1];
      if (positions[i] >= 0)
        x_gradient[(regions.images[region] * x[1] + channel) * plane + positions[i]] += gradient[i];
    }
  }
};

void infer_roi_pool(InferContext& c) {
  const Shape& x = c.shape("X");
  int64_t regions = infer_regions(c);
  Shape out{regions, x[1], c.attr<int32_t>("pooled_height"), c.attr<int32_t>("pooled_width")};
  c.set_output("Out", c.input("X").dtype, out);
  c.set_output("Argmax", DType::Int64, out);
}

}  // namespace

void define_roi_pool(OpTable& ops) {
  ops.add(
      regions_schema("roi_pool")
          .doc("Each region, rounded to whole pixels, is cut into bins; Out is the largest pixel of each, and 0 for a "
               "bin outside of X. NaN is passed over. Girshick 2015, Fast R-CNN.")
          .output("Out", "[regions, channels, pooled_height, pooled_width]")
          .output("Argmax", "int64, shape of Out: the row-major index of that pixel in its plane, or -1")
          .infer(infer_roi_pool)
          .gradient("roi_pool_grad", {"X", "ROIs", "RoisNum", "Argmax", "Out@GRAD"}, {"X@GRAD"})
          .checks_data()
          .kernels<RoiPoolKernel, float, double, int32_t>());
  ops.add(ops.gradient_of("roi_pool")
              .doc("Each Out@GRAD is added to the pixel that Argmax names.")
              .checks_data()
              .kernels<RoiPoolGradKernel, float, double, int32_t>());
}

}  // namespace paddle_mini
