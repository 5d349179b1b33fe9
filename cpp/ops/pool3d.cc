// pool3d: the largest, or the mean, of every window of a volume
#include "core/op_table.h"
#include "math/pooled_axis.h"

#ifdef PM_GPU
#include "math/pool_gpu.h"
#else
#include <limits>

#include "math/vec.h"
#endif

namespace paddle_mini {
namespace {

template <class Context>
bool pool3d_is_adaptive(const Context& c) {
  return c.template attr<bool>("adaptive") && !c.template attr<bool>("global_pooling");
}

template <class Context>
VolumeAxes pool3d_axes_of(const Context& c, const VolumeLayout& x) {
  bool global = c.template attr<bool>("global_pooling");
  std::array<int64_t, 3> windows = pool_windows(c.template attr<std::vector<int32_t>>("ksize"), x.sizes, global);
  VolumeWindow window;
  if (global) return window.axes(x.sizes, windows);
  window.strides = c.template attr<std::vector<int32_t>>("strides");
  window.paddings = c.template attr<std::vector<int32_t>>("paddings");
  window.algorithm = c.template attr<std::string>("padding_algorithm");
  window.ceil_mode = c.template attr<bool>("ceil_mode");
  return pool3d_is_adaptive(c) ? adaptive_axes(x.sizes, windows) : window.axes(x.sizes, windows);
}

#ifdef PM_GPU
pool_gpu::Volumes pool3d_volumes_of(const KernelInit& init, const Shape& x) {
  VolumeLayout layout(x, init.attr<std::string>("data_format"));
  bool last = layout.channels_last;
  return {pool3d_axes_of(init, layout),
          pool3d_is_adaptive(init),
          init.attr<bool>("exclusive"),
          init.attr<std::string>("pooling_type") == "max",
          last ? layout.images : layout.images * layout.channels,
          last ? layout.channels : 1};
}

template <class T>
using Pool3dKernel = PoolKernel<pool3d_volumes_of>::For<T>;
template <class T>
using Pool3dGradKernel = PoolGradKernel<pool3d_volumes_of>::For<T>;
#else
// Channels of an image are `inner` apart when they are last: then an element has `inner` numbers next to each other.
struct Pooling3d {
  VolumeLayout layout;
  PooledVolume volume;
  int64_t outer, inner, size;
  bool exclusive, max;

  Pooling3d(const KernelInit& init, const Shape& x)
      : layout(x, init.attr<std::string>("data_format")),
        volume(pool3d_axes_of(init, layout), pool3d_is_adaptive(init)),
        outer(layout.images * (layout.channels_last ? 1 : layout.channels)),
        inner(layout.channels_last ? layout.channels : 1), size(layout.sizes[0] * layout.sizes[1] * layout.sizes[2]),
        exclusive(init.attr<bool>("exclusive")), max(init.attr<std::string>("pooling_type") == "max") {}

  // f(offset in X of the first element of the volume, in Out)
  template <class F>
  void each_plane(F f) const {
    for (int64_t o = 0; o < outer; ++o) {
      for (int64_t i = 0; i < inner; ++i) f(o * size * inner + i, o * volume.outputs() * inner + i);
    }
  }
  // f(offset of an element in its volume) until it returns true
  template <class F>
  void each_element(const PooledRange& z, const PooledRange& y, const PooledRange& x, F f) const {
    for (int64_t k = z.begin; k < z.end; ++k) {
      for (int64_t i = y.begin; i < y.end; ++i) {
        for (int64_t j = x.begin; j < x.end; ++j) {
          if (f(((k * layout.sizes[1] + i) * layout.sizes[2] + j) * inner)) return;
        }
      }
    }
  }
  // What a sum over the window is divided by to be its mean. In double: no product of three sizes is too large.
  double count(const PooledRange& z, const PooledRange& y, const PooledRange& x) const {
    auto size = [this](const PooledRange& range) {
      return static_cast<double>(exclusive ? range.end - range.begin : range.padded);
    };
    return std::max(size(z) * size(y) * size(x), 1.0);
  }
};

template <class T>
struct Pool3dKernel : Kernel {
  In<T> x;
  Out<T> out;
  Pooling3d pooling;

  explicit Pool3dKernel(KernelInit& init) : x(init, "X"), out(init, "Out"), pooling(init, x.shape()) {}

  void run(Device&) override {
    pooling.each_plane([this](int64_t from, int64_t to) {
      pooling.volume.each_window([&](const auto& d, const auto& h, const auto& w, int64_t at) {
        T result = pooling.max ? std::numeric_limits<T>::lowest() : T(0);
        pooling.each_element(d, h, w, [&](int64_t element) {
          T value = x[from + element];
          result = pooling.max ? maximum(result, value) : result + value;
          return false;
        });
        if (!pooling.max) result /= static_cast<T>(pooling.count(d, h, w));
        out[to + at * pooling.inner] = result;
      });
    });
  }
};

template <class T>
struct Pool3dGradKernel : Kernel {
  In<T> x, out, out_gradient;
  Out<T> x_gradient;
  Pooling3d pooling;

  explicit Pool3dGradKernel(KernelInit& init)
      : x(init, "X"), out(init, "Out"), out_gradient(init, "Out@GRAD"), x_gradient(init, "X@GRAD"),
        pooling(init, x.shape()) {}

  void run(Device&) override {
    std::fill_n(x_gradient.data(), x_gradient.numel(), T(0));
    pooling.each_plane([this](int64_t to, int64_t from) {
      pooling.volume.each_window([&](const auto& d, const auto& h, const auto& w, int64_t at) {
        int64_t o = from + at * pooling.inner;
        T share = out_gradient[o];
        if (!pooling.max) share /= static_cast<T>(pooling.count(d, h, w));
        pooling.each_element(d, h, w, [&](int64_t element) {
          T value = x[to + element];
          if (pooling.max && value != out[o] && value == value) return false;
          x_gradient[to + element] += share;
          return pooling.max;
        });
      });
    });
  }
};
#endif

Shape pool3d_shape(const InferContext& c) {
  require_tensors(c);
  require_rank(c, "X", 5);
  VolumeLayout x(c.shape("X"), c.attr<std::string>("data_format"));
  for (int64_t size : x.sizes) {
    require<ShapeError>(size != 0, "X has shape ", c.shape("X").str(), ": there is nothing to pool");
  }
  if (c.attr<bool>("global_pooling")) return x.with(x.channels, {1, 1, 1});
  auto [depth, height, width] = pool3d_axes_of(c, x);
  return x.with(x.channels, {depth.out, height.out, width.out});
}

}  // namespace

void define_pool3d(OpTable& ops) {
  ops.add(OpSpec("pool3d")
              .doc("The largest element, or the mean, of each window that moves over the volumes of X. Padding is "
                   "never the largest; NaN is.")
              .input("X", "[images, channels, depth, height, width], or channels last")
              .output("Out", "X's shape, with the depth, height and width of the output")
              .required_attr("pooling_type", AttrType::String, "the largest, or the mean of a window",
                             one_of({"max", "avg"}))
              .attr("ksize", std::vector<int32_t>{1, 1, 1},
                    "size of the window: depth, height, width; with `adaptive`, of the output")
              .attr("strides", std::vector<int32_t>{1, 1, 1}, "steps of the window: depth, height, width")
              .attr("paddings", std::vector<int32_t>{0, 0, 0},
                    "around the volume: depth, height, width; or before and after each of them")
              .attr("padding_algorithm", "EXPLICIT",
                    "EXPLICIT: `paddings`; SAME: as many outputs as strides begin in the volume; VALID: none",
                    one_of({"EXPLICIT", "SAME", "VALID"}))
              .attr("global_pooling", false, "whether the window is the whole volume")
              .attr("ceil_mode", false, "whether a last window that is cut off counts")
              .attr("exclusive", true, "whether a mean leaves the padding out")
              .attr("adaptive", false, "whether ksize is the size of the output, and the windows follow from it")
              .attr("data_format", "NCDHW", "channels are axis 1 or the last", one_of({"NCDHW", "NDHWC", "AnyLayout"}))
              .infer([](InferContext& c) { c.set_output("Out", c.input("X").dtype, pool3d_shape(c)); })
              .gradient("pool3d_grad", {"X", "Out", "Out@GRAD"}, {"X@GRAD"})
              .on_gpu()
              .kernels<Pool3dKernel, float, double>());
  ops.add(ops.gradient_of("pool3d")
              .doc("max: the first largest element of a window gets its Out@GRAD; avg: every element of it the same "
                   "part.")
              .kernels<Pool3dGradKernel, float, double>());
}

}  // namespace paddle_mini
