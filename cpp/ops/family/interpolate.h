// Resized images, for the operators *_interp and *_interp_v2: shapes, positions and the shared part of their schemas.
#pragma once

#include <string>
#include <vector>

#include "core/op_table.h"
#include "core/parallel.h"

namespace paddle_mini {

// One axis of an image: sizes of input and output, and the step in the input per step in the output.
struct InterpolatedAxis {
  int64_t in, out;
  float ratio;  // PaddlePaddle computes positions in float32
};

// Images as [outer, depth, height, width, inner]: inner is 1 if channels precede the pixels, depth is 1 if X has 4
// dimensions, and height too if it has 3.
struct InterpolatedImages {
  int64_t outer, inner;
  InterpolatedAxis depth, height, width;
  bool align_corners, half_pixels;  // half_pixels: aligns the centers of pixels

  InterpolatedImages(const KernelInit& init, const char* images);
  bool same_size() const { return depth.in == depth.out && height.in == height.out && width.in == width.out; }
  // On a CPU: calls f(offset of the block in X, in Out) for each of `outer`; blocks are [depth, height, width, inner].
  // cost: of one element of Out.
  template <class F>
  void each_block(KernelContext& context, double cost, F f) const {
    int64_t from = depth.in * height.in * width.in * inner, to = depth.out * height.out * width.out * inner;
    parallel_for(context, {outer, cost * static_cast<double>(to)}, [&](int64_t begin, int64_t end) {
      for (int64_t o = begin; o < end; ++o) f(o * from, o * to);
    });
  }
};

// Out = X resized. Places (in each operator's file for a device) computes the places in X of the pixels of Out; it has
// resize(context, x, out) and, for the gradient, gather(context, out_gradient, x_gradient).
template <class Places>
struct InterpolationKernel {
  template <class T>
  struct For : Kernel {
    In<T> x;
    Out<T> out;
    Places places;

    explicit For(KernelInit& init) : x(init, "X"), out(init, "Out"), places(init) {}
    void run(KernelContext& context) override { places.resize(context, x, out); }
  };
};

template <class Places>
struct InterpolationGradKernel {
  template <class T>
  struct For : Kernel {
    In<T> out_gradient;
    Out<T> x_gradient;
    Places places;

    explicit For(KernelInit& init) : out_gradient(init, "Out@GRAD"), x_gradient(init, "X@GRAD"), places(init) {}
    void run(KernelContext& context) override { places.gather(context, out_gradient, x_gradient); }
  };
};

// Schemas without doc and kernels. type: METHOD_interp or METHOD_interp_v2, which differ in `scale`; spatial axes: from
// `least_axes` to `most_axes`, from 1 to 3.
OpSchema interpolation(const std::string& type, int least_axes, int most_axes);
// For docs: what the ratio is that positions in Out are multiplied with.
const char* ratio_of(const std::string& type);

}  // namespace paddle_mini
