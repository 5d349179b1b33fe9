// maxout: each channel of Out is the largest of `groups` neighbouring channels of X
#include "math/axis_walk.h"
#include "math/for_each_index.h"
#include "math/map.h"

namespace paddle_mini {
namespace {

// X as [outer, groups, inner] with outer = images and channels of Out.
struct Blocks {
  int64_t outer, groups, inner;

  Blocks(const KernelInit& init, const Shape& x) : groups(init.attr<int32_t>("groups")) {
    int axis = normal_axis(init.attr<int32_t>("axis"), x.rank(), "axis");
    outer = x.numel(0, axis) * (x[axis] / groups), inner = x.numel(axis + 1, x.rank());
  }
};

#ifdef PM_GPU
// Element i of Out, and the first element of X that it may be.
struct MaxoutPlace {
  int64_t groups, inner;
  PM_DEVICE int64_t first(int64_t i) const { return i / inner * groups * inner + i % inner; }
};

template <class T>
struct LargestOfGroup : MaxoutPlace {
  const T* x;
  T* out;
  PM_DEVICE void operator()(int64_t i) const {
    int64_t from = first(i);
    T most = x[from];
    for (int64_t g = 1; g < groups; ++g) most = maximum(most, x[from + g * inner]);
    out[i] = most;
  }
};

template <class T>
struct ToLargest : MaxoutPlace {
  const T *x, *out, *out_gradient;
  T* to;
  PM_DEVICE void operator()(int64_t i) const {
    bool found = false;
    for (int64_t g = 0, at = first(i); g < groups; ++g, at += inner) {
      bool here = !found && x[at] == out[i];
      to[at] = here ? out_gradient[i] : T(0);
      found = found || here;
    }
  }
};
#endif

template <class T>
struct MaxoutKernel : Kernel {
  In<T> x;
  Out<T> out;
  Blocks blocks;

  explicit MaxoutKernel(KernelInit& init) : x(init, "X"), out(init, "Out"), blocks(init, x.shape()) {}

#ifdef PM_GPU
  void run(Device& device) override {
    LargestOfGroup<T> body{{blocks.groups, blocks.inner}, x.data(), out.data()};
    for_each_index(device, out.numel(), body);
  }
#else
  void run(Device& device) override {
    for (int64_t o = 0; o < blocks.outer; ++o) {
      const T* from = x.data() + o * blocks.groups * blocks.inner;
      T* to = out.data() + o * blocks.inner;
      std::copy_n(from, blocks.inner, to);
      for (int64_t g = 1; g < blocks.groups; ++g) {
        auto larger = [](auto a, auto b) { return maximum(a, b); };
        map(device, blocks.inner, larger, to, static_cast<const T*>(to), from + g * blocks.inner);
      }
    }
  }
#endif
};

template <class T>
struct MaxoutGradKernel : Kernel {
  In<T> x, out, out_gradient;
  Out<T> x_gradient;
  Blocks blocks;

  explicit MaxoutGradKernel(KernelInit& init)
      : x(init, "X"), out(init, "Out"), out_gradient(init, "Out@GRAD"), x_gradient(init, "X@GRAD"),
        blocks(init, x.shape()) {}

#ifdef PM_GPU
  void run(Device& device) override {
    ToLargest<T> body{{blocks.groups, blocks.inner}, x.data(), out.data(), out_gradient.data(), x_gradient.data()};
    for_each_index(device, out.numel(), body);
  }
#else
  void run(Device&) override {
    std::fill_n(x_gradient.data(), x_gradient.numel(), T(0));
    for (int64_t o = 0; o < blocks.outer; ++o) {
      for (int64_t i = 0; i < blocks.inner; ++i) {
        int64_t to = o * blocks.inner + i, first = o * blocks.groups * blocks.inner + i, g = 0;
        while (g < blocks.groups && x[first + g * blocks.inner] != out[to]) ++g;
        if (g < blocks.groups) x_gradient[first + g * blocks.inner] = out_gradient[to];
      }
    }
  }
#endif
};

Shape maxout_out_shape(const InferContext& c) {
  require_tensors(c);
  Shape out = c.shape("X");
  int axis = normal_axis(c.attr<int32_t>("axis"), out.rank(), "axis");
  int64_t groups = c.attr<int32_t>("groups");
  require<ShapeError>(out[axis] < 0 || out[axis] % groups == 0, "X has shape ", out.str(), ": ", out[axis],
                      " channels do not divide by ", groups, " (groups)");
  if (out[axis] > 0) out[axis] /= groups;
  return out;
}

}  // namespace

void define_maxout(OpTable& ops) {
  ops.add(OpSpec("maxout")
              .doc("Channel c of Out is the largest of the channels c groups to c groups + groups - 1 of X (Goodfellow "
                   "et al. 2013); NaN if there is one.")
              .required_attr("groups", AttrType::Int, "how many channels become one", at_least(1))
              .attr("axis", 1, "the axis of the channels; negative ones count from the end")
              .input("X", "[images, channels, height, width], or channels elsewhere as axis says")
              .output("Out", "shape of X with channels / groups")
              .infer([](InferContext& c) { c.set_output("Out", c.input("X").dtype, maxout_out_shape(c)); })
              .gradient("maxout_grad", {"X", "Out", "Out@GRAD"}, {"X@GRAD"})
              .on_gpu()
              .kernels<MaxoutKernel, float, double>());
  ops.add(ops.gradient_of("maxout")
              .doc("X@GRAD = Out@GRAD at the first channel of each group that equals Out; 0 elsewhere.")
              .kernels<MaxoutGradKernel, float, double>());
}

}  // namespace paddle_mini
