// The sizes of transposed convolutions: conv2d_transpose, conv3d_transpose.
#pragma once

#include <algorithm>

#include "math/window.h"

namespace paddle_mini {

// Number i of an attribute that is empty or has one number for each of `axes` axes.
template <class Context>
int64_t optional_number(const Context& c, const char* name, size_t axes, size_t i, int64_t otherwise) {
  const std::vector<int32_t>& values = c.template attr<std::vector<int32_t>>(name);
  if (values.empty()) return otherwise;
  require<ProgramError>(values.size() == axes, "attribute '", name, "' has ", values.size(), " numbers, it must have ",
                        axes);
  return values[i];
}

// One axis of the convolution that this operator transposes. The convolution goes from Output, `size`, to Input, `out`.
template <class Context>
WindowAxis transposed_axis(const Context& c, size_t axes, size_t i, int64_t in, int64_t window) {
  WindowAttributes w = convolution_window(c, axes);
  w.check(axes);
  WindowAxis a = w.unsized_axis(i, window);
  a.out = in;
  int64_t more = optional_number(c, "output_padding", axes, i, 0),
          wanted = optional_number(c, "output_size", axes, i, -1);
  if (in < 0 || window < 0) return a;
  if (w.algorithm == "SAME") {  // PaddlePaddle computes with the size of Input, and ignores the dilation
    a.dilation = 1;
    int64_t total = std::max<int64_t>(((in + a.stride - 1) / a.stride - 1) * a.stride + window - in, 0);
    a.before = total / 2;
    a.after = total - a.before;
  }
  require<ShapeError>(in > 0, "Input has no pixels");
  int64_t least = (in - 1) * a.stride - a.before - a.after + a.dilation * (window - 1) + 1;
  require<ProgramError>(more >= 0 && more < std::max(a.stride, a.dilation), "attribute 'output_padding' holds ", more,
                        ", it must be at least 0 and below the stride or the dilation, ",
                        std::max(a.stride, a.dilation));
  require<ProgramError>(wanted < 0 || (wanted >= least && wanted < least + a.stride), "attribute 'output_size' holds ",
                        wanted, ", with this Input it must be from ", least, " to ", least + a.stride - 1);
  a.size = wanted < 0 ? least + more : wanted;
  require<ShapeError>(a.size > 0, "paddings of ", a.before, " and ", a.after, " leave no pixel of ", in, " pixels");
  return a;
}

}  // namespace paddle_mini
