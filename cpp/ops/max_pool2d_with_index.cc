// max_pool2d_with_index: the largest of every window of an image, and where in the image it is
#include "core/op_table.h"
#include "math/pooled_axis.h"

#include <limits>

#ifdef PM_GPU
#include "math/by_target_gpu.h"
#include "math/ids_gpu.h"
#include "math/pool_gpu.h"
#endif

namespace paddle_mini {
namespace {

// An image is a volume of depth 1; `rank` is that of X, 4 or 5.
template <int rank>
struct Planes {
  int64_t count;
  std::array<int64_t, 3> sizes{1, 1, 1};

  explicit Planes(const Shape& x) : count(x.numel(0, 2)) {
    for (int i = 2; i < rank; ++i) sizes[i + 3 - rank] = x[i];
  }
  int64_t size() const { return sizes[0] * sizes[1] * sizes[2]; }
};

// Attributes of an image say nothing of the depth: it gets `first`.
template <int rank, class Context>
std::vector<int32_t> numbers(const Context& c, const char* name, int32_t first) {
  std::vector<int32_t> values = c.template attr<std::vector<int32_t>>(name);
  require<ProgramError>(values.size() == rank - 2, "attribute '", name, "' has ", values.size(), " numbers, ", rank - 2,
                        " are needed");
  values.insert(values.begin(), static_cast<size_t>(5 - rank), first);
  return values;
}

template <class Context>
bool max_pool_is_adaptive(const Context& c) {
  return c.template attr<bool>("adaptive") && !c.template attr<bool>("global_pooling");
}

template <int rank, class Context>
VolumeAxes max_pool_axes_of(const Context& c, const std::array<int64_t, 3>& sizes) {
  bool global = c.template attr<bool>("global_pooling");
  VolumeWindow window;
  if (global) return window.axes(sizes, pool_windows({}, sizes, true));
  std::array<int64_t, 3> windows = pool_windows(numbers<rank>(c, "ksize", 1), sizes, false);
  if (max_pool_is_adaptive(c)) return adaptive_axes(sizes, windows);
  window.strides = numbers<rank>(c, "strides", 1);
  window.paddings = numbers<rank>(c, "paddings", 0);
  return window.axes(sizes, windows);
}

#ifdef PM_GPU
template <class T>
struct LargestPlace : pool_gpu::Volumes {
  const T* x;
  T* out;
  int32_t* mask;

  // The first largest one, or the first NaN; -1: the window sees only padding.
  PM_DEVICE void operator()(int64_t o) const {
    pool_gpu::Position at(o, axes[0].out, axes[1].out, axes[2].out, 1);
    PooledRange depth = range(0, at.z), height = range(1, at.y), width = range(2, at.x);
    const T* plane = x + element(at.plane, 0, 0, 0, 0);
    int64_t found = -1;
    bool nan = false;
    for (int64_t k = depth.begin; k < depth.end && !nan; ++k) {
      for (int64_t i = height.begin; i < height.end && !nan; ++i) {
        for (int64_t j = width.begin; j < width.end && !nan; ++j) {
          int64_t here = (k * axes[1].size + i) * axes[2].size + j;
          nan = plane[here] != plane[here];
          if (nan || found < 0 || plane[found] < plane[here]) found = here;
        }
      }
    }
    out[o] = found < 0 ? std::numeric_limits<T>::lowest() : plane[found];
    mask[o] = static_cast<int32_t>(found);
  }
};

template <int rank>
struct MaxPoolWithIndex {
  template <class T>
  struct For : Kernel {
    In<T> x;
    Out<T> out;
    Out<int32_t> mask;
    Planes<rank> planes;
    pool_gpu::Volumes volumes;

    explicit For(KernelInit& init)
        : x(init, "X"), out(init, "Out"), mask(init, "Mask"), planes(x.shape()),
          volumes(max_pool_axes_of<rank>(init, planes.sizes), max_pool_is_adaptive(init), true, true, planes.count, 1) {
    }
    void run(Device& device) override {
      for_each_index(device, volumes.outputs(), LargestPlace<T>{volumes, x.data(), out.data(), mask.data()});
    }
  };
};

struct MaskedElement {
  const int32_t* mask;
  int64_t outputs, size;
  Refusal refuse;

  PM_DEVICE int64_t operator()(int64_t i) const {
    if (mask[i] >= 0 && mask[i] < size) return i / outputs * size + mask[i];
    if (mask[i] != -1) refuse(mask[i], i);
    return -1;
  }
};

template <int rank>
struct MaxPoolWithIndexGrad {
  template <class T>
  struct For : Kernel {
    In<int32_t> mask;
    In<T> out_gradient;
    Out<T> x_gradient;
    Planes<rank> planes;
    ByTarget by_element;

    explicit For(KernelInit& init)
        : mask(init, "Mask"), out_gradient(init, "Out@GRAD"), x_gradient(init, "X@GRAD"), planes(x_gradient.shape()),
          by_element(init, mask.numel()) {}

    void refuse(const Fault& fault) const override {
      fail<OpError>("Mask holds ", fault.value, ", a plane of X has ", planes.size(), " elements");
    }
    void run(Device& device) override {
      int64_t outputs = planes.count ? mask.numel() / planes.count : 1;
      by_element.sort(device, MaskedElement{mask.data(), outputs, planes.size(), Refusal(device)});
      by_element.template put<ByTarget::Meet::Sum, T>(device, 1, x_gradient.numel(), 1, nullptr, out_gradient.data(),
                                                      x_gradient.data());
    }
  };
};
#else
template <int rank>
struct MaxPoolWithIndex {
  template <class T>
  struct For : Kernel {
    In<T> x;
    Out<T> out;
    Out<int32_t> mask;
    Planes<rank> planes;
    PooledVolume volume;

    explicit For(KernelInit& init)
        : x(init, "X"), out(init, "Out"), mask(init, "Mask"), planes(x.shape()),
          volume(max_pool_axes_of<rank>(init, planes.sizes), max_pool_is_adaptive(init)) {}

    void run(Device&) override {
      for (int64_t p = 0; p < planes.count; ++p) {
        const T* plane = x.data() + p * planes.size();
        int64_t to = p * volume.outputs();
        volume.each_window([&](const auto& z, const auto& y, const auto& w, int64_t at) {
          int64_t found = largest(plane, z, y, w);
          out[to + at] = found < 0 ? std::numeric_limits<T>::lowest() : plane[found];
          mask[to + at] = static_cast<int32_t>(found);
        });
      }
    }

    // The first largest one, or the first NaN; -1: the window sees only padding.
    int64_t largest(const T* plane, const PooledRange& z, const PooledRange& y, const PooledRange& w) const {
      int64_t found = -1;
      for (int64_t k = z.begin; k < z.end; ++k) {
        for (int64_t i = y.begin; i < y.end; ++i) {
          for (int64_t j = w.begin; j < w.end; ++j) {
            int64_t at = (k * planes.sizes[1] + i) * planes.sizes[2] + j;
            if (plane[at] != plane[at]) return at;
            if (found < 0 || plane[found] < plane[at]) found = at;
          }
        }
      }
      return found;
    }
  };
};

template <int rank>
struct MaxPoolWithIndexGrad {
  template <class T>
  struct For : Kernel {
    In<int32_t> mask;
    In<T> out_gradient;
    Out<T> x_gradient;
    Planes<rank> planes;

    explicit For(KernelInit& init)
        : mask(init, "Mask"), out_gradient(init, "Out@GRAD"), x_gradient(init, "X@GRAD"), planes(x_gradient.shape()) {}

    void run(Device&) override {
      int64_t size = planes.size(), outputs = planes.count ? mask.numel() / planes.count : 0;
      for (int64_t i = 0; i < mask.numel(); ++i) {
        require<OpError>(mask[i] >= -1 && mask[i] < size, "Mask holds ", mask[i], ", a plane of X has ", size,
                         " elements");
      }
      std::fill_n(x_gradient.data(), x_gradient.numel(), T(0));
      for (int64_t i = 0; i < mask.numel(); ++i) {
        if (mask[i] >= 0) x_gradient[i / outputs * size + mask[i]] += out_gradient[i];
      }
    }
  };
};
#endif

template <int rank>
Shape max_pool_shape(const InferContext& c) {
  require_tensors(c);
  require_rank(c, "X", rank);
  const Shape& x = c.shape("X");
  Planes<rank> planes(x);
  for (int64_t size : planes.sizes) {
    require<ShapeError>(size != 0, "X has shape ", x.str(), ": there is nothing to pool");
  }
  int64_t plane = x.numel(2, rank);
  require<ShapeError>(plane <= std::numeric_limits<int32_t>::max(), "X has shape ", x.str(),
                      ": Mask is int32 and can't name all places of a plane");
  VolumeAxes axes = max_pool_axes_of<rank>(c, planes.sizes);
  Shape out{x[0], x[1]};
  for (int i = 5 - rank; i < 3; ++i) out.push_back(c.attr<bool>("global_pooling") ? 1 : axes[i].out);
  return out;
}

template <int rank>
OpSpec max_pool_with_attributes(OpSpec spec) {
  std::vector<int32_t> ones(rank - 2, 1), zeros(rank - 2, 0);
  return spec.required_attr("ksize", AttrType::Ints, "size of the window; with `adaptive`, of the output")
      .attr("strides", ones, "steps of the window")
      .attr("paddings", zeros, "around the image, along each axis")
      .attr("global_pooling", false, "whether the window is the whole image")
      .attr("adaptive", false, "whether ksize is the size of the output, and the windows follow from it");
}

template <int rank>
void define_pooling(OpTable& ops, const std::string& type) {
  const char* shape = rank == 4 ? "[images, channels, height, width]" : "[images, channels, depth, height, width]";
  ops.add(max_pool_with_attributes<rank>(OpSpec(type)
                                             .input("X", shape)
                                             .output("Out", "X's shape, with the pixels of the output")
                                             .output("Mask", "int32, shape of Out"))
              .doc("Out: the largest element of each window, or its first NaN. Mask: its place in the plane of its "
                   "channel, counted row by row; -1 where the window sees only padding.")
              .infer([](InferContext& c) {
                Shape out = max_pool_shape<rank>(c);
                c.set_output("Out", c.input("X").dtype, out);
                c.set_output("Mask", DType::Int32, out);
              })
              .gradient(type + "_grad", {"X", "Mask", "Out@GRAD"}, {"X@GRAD"})
              .on_gpu()
              .template kernels<MaxPoolWithIndex<rank>::template For, float, double>());
  ops.add(ops.gradient_of(type)
              .doc("Each Out@GRAD is added to the element that Mask names.")
              .checks_data()
              .kernels<MaxPoolWithIndexGrad<rank>::template For, float, double>());
}

}  // namespace

// The same operator for images and for volumes.
void define_max_pool2d_with_index(OpTable& ops) {
  define_pooling<4>(ops, "max_pool2d_with_index");
  define_pooling<5>(ops, "max_pool3d_with_index");
}

}  // namespace paddle_mini
