// Fourier transforms along axes: the lines of each axis, the factor, and the shapes of what they give.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/infer.h"
#include "core/parallel.h"
#include "math/copy.h"
#include "math/cpu/each_item.h"
#include "math/cpu/fourier.h"

namespace paddle_mini {
namespace fourier {

inline std::vector<int> normal_axes(const OpDesc& op, int rank) {
  const auto& given = attr_of<std::vector<int64_t>>(op, "axes");
  require<ProgramError>(!given.empty(), "attribute 'axes' is empty, it must name at least one axis");
  std::vector<int> axes;
  for (int64_t axis : given) {
    require<ShapeError>(axis >= -rank && axis < rank, "attribute 'axes' has ", axis, ", X has ", rank, " dimensions");
    axes.push_back(static_cast<int>(axis < 0 ? axis + rank : axis));
    require<ProgramError>(std::count(axes.begin(), axes.end(), axes.back()) == 1, "attribute 'axes' names axis ",
                          axes.back(), " twice");
  }
  return axes;
}

// Checks an input that has the whole length of each transform; returns its axes.
inline std::vector<int> require_axes(const InferContext& c, const char* port) {
  require_tensors(c);
  const Shape& shape = c.shape(port);
  std::vector<int> axes = normal_axes(c.op(), shape.rank());
  for (int axis : axes)
    require<ShapeError>(shape[axis] != 0, port, " has shape ", shape.str(), ": a transform along axis ", axis,
                        " needs at least one element");
  return axes;
}

// The shape of the transform of real numbers; that of fft_c2r's gradient has the first half, too.
inline Shape from_real_shape(const InferContext& c, const char* port) {
  int last = require_axes(c, port).back();
  Shape out = c.shape(port);
  const AttrValue* onesided = c.op().attr("onesided");
  if ((!onesided || std::get<bool>(*onesided)) && out[last] >= 0) out[last] = out[last] / 2 + 1;
  return out;
}

inline Shape to_real_shape(const InferContext& c) {
  int last = require_axes(c, "X").back();
  Shape out = c.shape("X");
  int64_t wanted = c.attr<int64_t>("last_dim_size"), given = out[last];
  require<ShapeError>(wanted > 0 || given != 1, "X has shape ", out.str(), ": one element along axis ", last,
                      " would give none, unless 'last_dim_size' is 1");
  require<ShapeError>(wanted == 0 || given < 0 || given == wanted / 2 + 1, "X has ", given, " elements along axis ",
                      last, ", 'last_dim_size' ", wanted, " needs ", wanted / 2 + 1);
  out[last] = wanted > 0 ? wanted : given < 0 ? -1 : 2 * (given - 1);
  return out;
}

// The lines along one axis, and one transform for each thread.
template <class T>
struct Axis {
  int64_t length, inner, lines;
  std::vector<FourierLine<T>> transforms;

  Axis(const Shape& shape, int axis, bool forward, int threads)
      : length(shape[axis]), inner(shape.numel(axis + 1, shape.rank())), lines(shape.numel(0, axis) * inner) {
    const int64_t used = std::min<int64_t>(std::max(threads, 1), lines);
    for (int64_t i = 0; i < used; ++i) transforms.emplace_back(length, forward);
  }

  // The offset of a line's first element in a tensor that has `along` elements along the axis.
  int64_t start(int64_t line, int64_t along) const { return line / inner * along * inner + line % inner; }

  // load(line, to) writes a line's elements, store(line, from) takes their transform.
  template <class Load, class Store>
  void each(KernelContext& context, Load load, Store store) {
    const auto n = static_cast<double>(length);
    const LoopSize size{lines, n * (4 + 2 * std::log2(n + 1)), 1, static_cast<int>(transforms.size())};
    each_item(context, size, [&](int64_t line, int lane) {
      FourierLine<T>& transform = transforms[static_cast<size_t>(lane)];
      load(line, transform.line());
      transform.run();
      store(line, static_cast<const Complex<T>*>(transform.line()));
    });
  }

  void run(KernelContext& context, Complex<T>* data) {
    each(
        context,
        [&](int64_t line, Complex<T>* to) {
          const Complex<T>* from = data + start(line, length);
          for (int64_t k = 0; k < length; ++k) to[k] = from[k * inner];
        },
        [&](int64_t line, const Complex<T>* from) {
          Complex<T>* to = data + start(line, length);
          for (int64_t k = 0; k < length; ++k) to[k * inner] = from[k];
        });
  }
};

struct Transform {
  std::vector<int> axes;
  bool forward;
  double factor;

  // whole: a shape with the whole length of each transform. Backward is the other direction with the factor of this one.
  Transform(const OpDesc& op, const Shape& whole, bool backward) : axes(normal_axes(op, whole.rank())) {
    bool given = attr_of<bool>(op, "forward");
    const std::string& normalization = attr_of<std::string>(op, "normalization");
    double count = 1;
    for (int axis : axes) count *= static_cast<double>(whole[axis]);
    forward = given != backward;
    if (normalization == "ortho") factor = 1 / std::sqrt(count);
    else factor = (normalization == "forward") == given ? 1 / count : 1;
  }

  int last() const { return axes.back(); }

  // The first `count` of the axes, of a tensor of complex numbers.
  template <class T>
  std::vector<Axis<T>> whole_axes(const Shape& shape, size_t count, int threads) const {
    std::vector<Axis<T>> result;
    for (size_t i = 0; i < count; ++i) result.emplace_back(shape, axes[i], forward, threads);
    return result;
  }
};

template <class T>
struct TimesFactor {
  T factor;
  PM_HD Complex<T> operator()(Complex<T> x) const { return x * factor; }
};

template <class T>
void scale(KernelContext& context, int64_t n, T factor, Complex<T>* data) {
  if (factor != T(1)) map(context, n, TimesFactor<T>{factor}, data, static_cast<const Complex<T>*>(data));
}

}  // namespace fourier
}  // namespace paddle_mini
