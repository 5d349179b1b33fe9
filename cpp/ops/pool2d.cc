// pool2d: the largest, or the mean, of every window of an image
#include "core/op_table.h"
#include "math/channels_last.h"
#include "math/pooled_images.h"

#ifdef PM_GPU
#include "math/pool_gpu.h"
#endif

#include <limits>

namespace paddle_mini {
namespace {

#ifdef PM_GPU
// An image is a volume of depth 1.
pool_gpu::Volumes pool2d_volumes_of(const KernelInit& init, const Shape& x) {
  auto [height, width] = pooling_axes(init, x);
  bool adaptive = init.attr<bool>("adaptive") && !init.attr<bool>("global_pooling");
  return {VolumeAxes{WindowAxis(), height, width},         adaptive,    init.attr<bool>("exclusive"),
          init.attr<std::string>("pooling_type") == "max", x[0] * x[1], 1};
}

template <class T>
using Pool2dKernel = PoolKernel<pool2d_volumes_of>::For<T>;
template <class T>
using Pool2dGradKernel = PoolGradKernel<pool2d_volumes_of>::For<T>;
#else
template <class T>
struct Pool2dKernel : Kernel {
  In<T> x;
  Out<T> out;
  Pooling2d pooling;
  bool max;

  explicit Pool2dKernel(KernelInit& init)
      : x(init, "X"), out(init, "Out"), pooling(init, x.shape()), max(init.attr<std::string>("pooling_type") == "max") {
  }

  void run(Device&) override {
    constexpr int64_t lanes = Vec<T>::size;
    auto one = [this](int64_t plane, const PooledRange& row, const PooledRange& column, int64_t at) {
      out[at] = max ? largest(plane, row, column) : mean(plane, row, column);
    };
    if (max) {
      pooling.walk(lanes, one, [this](int64_t plane, const auto& row, const auto& column, int64_t at, int64_t) {
        reduce(plane, row, column, Vec<T>(std::numeric_limits<T>::lowest()), [](auto a, auto b) {
          return maximum(a, b);
        }).store(out.data() + at);
      });
    } else {
      pooling.walk(lanes, one, [this](int64_t plane, const auto& row, const auto& column, int64_t at, int64_t) {
        Vec<T> sum = reduce(plane, row, column, Vec<T>(T(0)), [](auto a, auto b) { return a + b; });
        (sum / Vec<T>(static_cast<T>(pooling.count(row, column)))).store(out.data() + at);
      });
    }
  }

  template <class F>
  Vec<T> reduce(int64_t plane, const PooledRange& row, const PooledRange& column, Vec<T> result, F f) const {
    for (int64_t i = row.begin; i < row.end; ++i) {
      const T* line = x.data() + plane + i * pooling.width + column.begin;
      for (int64_t j = 0; j < pooling.taps; ++j) result = f(result, load_apart(line + j, pooling.stride));
    }
    return result;
  }

  T largest(int64_t plane, const PooledRange& row, const PooledRange& column) const {
    T best = std::numeric_limits<T>::lowest();
    for (int64_t i = row.begin; i < row.end; ++i) {
      const T* line = x.data() + plane + i * pooling.width;
      for (int64_t j = column.begin; j < column.end; ++j) best = maximum(best, line[j]);
    }
    return best;
  }

  T mean(int64_t plane, const PooledRange& row, const PooledRange& column) const {
    constexpr int64_t lanes = Vec<T>::size;
    T sum = 0;
    Vec<T> sums(T(0));
    for (int64_t i = row.begin; i < row.end; ++i) {
      const T* line = x.data() + plane + i * pooling.width;
      int64_t j = column.begin;
      for (; j + lanes <= column.end; j += lanes) sums = sums + Vec<T>::load(line + j);
      for (; j < column.end; ++j) sum += line[j];
    }
    if (column.end - column.begin >= lanes) sum += sum_of_lanes(sums);
    return sum / static_cast<T>(pooling.count(row, column));
  }
};

template <class T>
struct Pool2dGradKernel : Kernel {
  In<T> x, out, out_gradient;
  Out<T> x_gradient;
  Pooling2d pooling;
  bool max;

  explicit Pool2dGradKernel(KernelInit& init)
      : x(init, "X"), out(init, "Out"), out_gradient(init, "Out@GRAD"), x_gradient(init, "X@GRAD"),
        pooling(init, x.shape()), max(init.attr<std::string>("pooling_type") == "max") {}

  void run(Device&) override {
    constexpr int64_t lanes = Vec<T>::size;
    std::fill_n(x_gradient.data(), x_gradient.numel(), T(0));
    if (max) {
      pooling.walk(
          lanes, [this](auto... window) { to_largest(window...); },
          [this](auto... window) { to_largest_of_many(window...); });
    } else {
      pooling.walk(
          lanes, [this](auto... window) { to_all(window...); }, [this](auto... window) { to_all_of_many(window...); });
    }
  }

  // The first element that is the largest gets all.
  void to_largest(int64_t plane, const PooledRange& row, const PooledRange& column, int64_t at) {
    for (int64_t i = row.begin; i < row.end; ++i) {
      for (int64_t j = column.begin; j < column.end; ++j) {
        int64_t element = plane + i * pooling.width + j;
        if (x[element] != out[at] && x[element] == x[element]) continue;
        x_gradient[element] += out_gradient[at];
        return;
      }
    }
  }

  void to_largest_of_many(int64_t plane, const PooledRange& row, const PooledRange& column, int64_t at, int64_t count) {
    const Vec<T> none(T(0)), best = Vec<T>::load(out.data() + at);
    Vec<T> left = first_lanes(Vec<T>::load(out_gradient.data() + at), count);  // what nobody has got yet
    for (int64_t i = row.begin; i < row.end; ++i) {
      int64_t line = plane + i * pooling.width + column.begin;
      for (int64_t j = 0; j < pooling.taps; ++j) {
        Vec<T> v = load_apart(x.data() + line + j, pooling.stride);
        Vec<T> unless_nan = select(v == best, left, none);
        Vec<T> taken = select(v == v, unless_nan, left);
        left = select(v == v, select(v == best, none, left), none);
        add_apart(x_gradient.data() + line + j, pooling.stride, taken);
      }
    }
  }

  void to_all(int64_t plane, const PooledRange& row, const PooledRange& column, int64_t at) {
    constexpr int64_t lanes = Vec<T>::size;
    T share = out_gradient[at] / static_cast<T>(pooling.count(row, column));
    for (int64_t i = row.begin; i < row.end; ++i) {
      T* line = x_gradient.data() + plane + i * pooling.width;
      int64_t j = column.begin;
      for (; j + lanes <= column.end; j += lanes) (Vec<T>::load(line + j) + Vec<T>(share)).store(line + j);
      for (; j < column.end; ++j) line[j] += share;
    }
  }

  void to_all_of_many(int64_t plane, const PooledRange& row, const PooledRange& column, int64_t at, int64_t count) {
    Vec<T> gradient = first_lanes(Vec<T>::load(out_gradient.data() + at), count);
    Vec<T> share = gradient / Vec<T>(static_cast<T>(pooling.count(row, column)));
    for (int64_t i = row.begin; i < row.end; ++i) {
      T* line = x_gradient.data() + plane + i * pooling.width + column.begin;
      for (int64_t j = 0; j < pooling.taps; ++j) add_apart(line + j, pooling.stride, share);
    }
  }
};
#endif

Shape pool2d_shape(const InferContext& c) {
  require_rank(c, "X", 4);
  const Shape& x = c.shape("X");
  for (int axis : {2, 3}) require<ShapeError>(x[axis] != 0, "X has shape ", x.str(), ": there is nothing to pool");
  auto [height, width] = pooling_axes(c, x);
  bool global = c.attr<bool>("global_pooling");
  return Shape{x[0], x[1], global ? 1 : height.out, global ? 1 : width.out};
}

}  // namespace

void define_pool2d(OpTable& ops) {
  ops.add(
      OpSpec("pool2d")
          .doc("The largest element, or the mean, of each window that moves over the two last axes of X. Padding is "
               "never the largest; NaN is.")
          .input("X", "[images, channels, height, width]")
          .output("Out", "[images, channels, output height, output width]")
          .required_attr("pooling_type", AttrType::String, "the largest, or the mean of a window",
                         one_of({"max", "avg"}))
          .attr("ksize", std::vector<int32_t>{1, 1},
                "size of the window: height, width; with `adaptive`, of the output")
          .attr("strides", std::vector<int32_t>{1, 1}, "steps of the window: height, width")
          .attr("paddings", std::vector<int32_t>{0, 0}, "around the image: height, width; or above, below, left, right")
          .attr("padding_algorithm", "EXPLICIT",
                "EXPLICIT: `paddings`; SAME: as many outputs as strides begin in the image; VALID: none",
                one_of({"EXPLICIT", "SAME", "VALID"}))
          .attr("global_pooling", false, "whether the window is the whole image")
          .attr("ceil_mode", false, "whether a last window that is cut off counts")
          .attr("exclusive", true, "whether a mean leaves the padding out")
          .attr("adaptive", false, "whether ksize is the size of the output, and the windows follow from it")
          .attr("data_format", "NCHW", "NCHW: channels are axis 1; NHWC: they are the last", one_of(image_layouts()))
          .infer(for_both_layouts([](InferContext& c) { c.set_output("Out", c.input("X").dtype, pool2d_shape(c)); }))
          .gradient("pool2d_grad", {"X", "Out", "Out@GRAD"}, {"X@GRAD"})
          .on_gpu()
          .kernels<AnyLayout<Pool2dKernel>::Of, float, double>());
  ops.add(
      ops.gradient_of("pool2d")
          .doc("max: the first largest element of a window gets its Out@GRAD; avg: every element of it the same part.")
          .kernels<AnyLayout<Pool2dGradKernel>::Of, float, double>());
}

}  // namespace paddle_mini
