// frame: Out = overlapping windows of a signal; overlap_add: Out = a signal as the sum of its windows
#include <algorithm>

#include "core/op_table.h"
#include "core/second_gradient.h"
#include "math/for_each_index.h"
#include "ops/family/of_complex.h"

namespace paddle_mini {
namespace {

// A signal [outer, length, inner], and its frames [outer, window, frames] or, with the first axis, [frames, window, inner].
struct Framing {
  int64_t length = 0, window = 0, hop = 1, frames = 0, inner = 1;
  bool first_axis = false;

  PM_HD int64_t framed(int64_t outer, int64_t frame, int64_t in_window, int64_t i) const {
    if (first_axis) return (frame * window + in_window) * inner + i;
    return (outer * window + in_window) * frames + frame;
  }
};

// to[i] = the element of the signal that element i of the frames shows.
template <class T>
struct TakeFrames {
  Framing framing;
  const T* signal;
  T* to;

  PM_HD void operator()(int64_t i) const {
    const Framing& f = framing;
    if (f.first_axis) {
      int64_t row = i / f.inner, time = row / f.window * f.hop + row % f.window;
      to[i] = signal[time * f.inner + i % f.inner];
    } else {
      int64_t line = i / f.frames, time = i % f.frames * f.hop + line % f.window;
      to[i] = signal[line / f.window * f.length + time];
    }
  }
};

// to[i] = the sum over all frames that show element i of the signal, in their order.
template <class T>
struct AddFrames {
  Framing framing;
  const T* frames;
  T* to;

  PM_HD void operator()(int64_t i) const {
    const Framing& f = framing;
    const int64_t time = i / f.inner % f.length, outer = i / f.inner / f.length;
    const int64_t last = time / f.hop < f.frames ? time / f.hop : f.frames - 1;
    T sum = T(0);
    for (int64_t frame = time < f.window ? 0 : (time - f.window) / f.hop + 1; frame <= last; ++frame) {
      sum += frames[f.framed(outer, frame, time - frame * f.hop, i % f.inner)];
    }
    to[i] = sum;
  }
};

template <class Context>
bool on_first_axis(const Context& c, const char* axis) {
  int32_t at = c.template attr<int32_t>(axis);
  require<ProgramError>(at == 0 || at == -1, "attribute 'axis' is ", at, ", it must be 0 or -1");
  return at == 0;
}

template <class Context>
int64_t hop_of(const Context& c) {
  int32_t hop = c.template attr<int32_t>("hop_length");
  require<ProgramError>(hop >= 1, "attribute 'hop_length' is ", hop, ", it must be at least 1");
  return hop;
}

Framing framing_of(const KernelInit& init, const Shape& signal, const Shape& frames) {
  Framing f;
  f.first_axis = on_first_axis(init, "axis"), f.hop = hop_of(init);
  int last = signal.rank() - 1;
  f.length = signal[f.first_axis ? 0 : last];
  f.window = frames[f.first_axis ? 1 : last], f.frames = frames[f.first_axis ? 0 : last + 1];
  if (f.first_axis) f.inner = signal.numel(1, signal.rank());
  return f;
}

// takes: windows of a signal, or else a signal from its windows.
template <bool takes, bool backward>
struct FrameKernel {
  template <class T>
  struct For : Kernel {
    In<T> in;
    Out<T> out;
    Framing framing;

    explicit For(KernelInit& init)
        : in(init, backward ? "Out@GRAD" : "X"), out(init, backward ? "X@GRAD" : "Out"),
          framing(takes ? framing_of(init, in.shape(), out.shape()) : framing_of(init, out.shape(), in.shape())) {}
    void run(KernelContext& context) override {
      using Copy = std::conditional_t<takes, TakeFrames<T>, AddFrames<T>>;
      for_each_index(context, out.numel(), Copy{framing, in.data(), out.data()});
    }
  };
};

Shape framed_shape(const InferContext& c) {
  require_tensors(c);
  const Shape& x = c.shape("X");
  bool first = on_first_axis(c, "axis");
  require<ShapeError>(x.rank() >= 1 && x.rank() < Shape::kMaxRank, "X has ", x.rank(),
                      " dimensions, it must have 1 to ", Shape::kMaxRank - 1);
  int64_t window = c.attr<int32_t>("frame_length"), hop = hop_of(c), length = x[first ? 0 : x.rank() - 1];
  require<ProgramError>(window >= 1, "attribute 'frame_length' is ", window, ", it must be at least 1");
  require<ShapeError>(length < 0 || window <= length, "attribute 'frame_length' is ", window, ", the signal has ",
                      length, " elements");
  int64_t frames = length < 0 ? -1 : 1 + (length - window) / hop;
  Shape out = first ? Shape{frames, window} : Shape{};
  for (int i = first ? 1 : 0; i < x.rank() - (first ? 0 : 1); ++i) out.push_back(x[i]);
  if (!first) out.push_back(window), out.push_back(frames);
  return out;
}

Shape signal_shape(const InferContext& c) {
  require_tensors(c);
  const Shape& x = c.shape("X");
  bool first = on_first_axis(c, "axis");
  int64_t hop = hop_of(c);
  require<ShapeError>(x.rank() >= 2, "X has shape ", x.str(), ", it must have at least 2 dimensions");
  int last = x.rank() - 1;
  int64_t window = x[first ? 1 : last - 1], frames = x[first ? 0 : last];
  require<ShapeError>(frames != 0 && window != 0, "X has shape ", x.str(),
                      ": it must have at least one frame with at least one element");
  int64_t length = window < 0 || frames < 0 ? -1 : (frames - 1) * hop + window;
  Shape out = first ? Shape{length} : Shape{};
  for (int i = first ? 2 : 0; i <= last - (first ? 0 : 2); ++i) out.push_back(x[i]);
  if (!first) out.push_back(length);
  return out;
}

template <Shape (*shape)(const InferContext&)>
void infer_frame_gradient(InferContext& c) {
  Shape out = shape(c);
  require_same_dtype(c, "X", "Out@GRAD");
  require<ShapeError>(shapes_agree(out, c.shape("Out@GRAD")), "Out@GRAD has shape ", c.shape("Out@GRAD").str(),
                      ", Out ", out.str());
  c.set_output("X@GRAD", c.input("X"));
}

}  // namespace

void define_frame(OpTable& ops) {
  ops.add(with_complex<FrameKernel<true, false>::For>(
      OpSchema("frame")
          .doc("The windows of frame_length elements of a signal, one every hop_length elements; elements after "
               "the last whole window are left out.")
          .input("X", "[..., length], or with axis 0 [length, ...]")
          .output("Out", "[..., frame_length, frames], or with axis 0 [frames, frame_length, ...]")
          .required_attr("frame_length", AttrType::Int, "the elements of a window")
          .required_attr("hop_length", AttrType::Int, "the distance between the first elements of windows")
          .attr("axis", -1, "the axis of the signal: 0 or -1")
          .infer([](InferContext& c) { c.set_output("Out", c.input("X").dtype, framed_shape(c)); })
          .custom_lod()
          .gradient("frame_grad", {"X", "Out@GRAD"}, {"X@GRAD"})
          .on_gpu()
          .kernels<FrameKernel<true, false>::For, float, double, int32_t, int64_t>()));
  ops.add(with_complex<FrameKernel<false, true>::For>(
      linear_gradient_of(ops, "frame")
          .doc("X@GRAD of an element = the sum of Out@GRAD over the windows that show it.")
          .shape_only("X")
          .infer(infer_frame_gradient<framed_shape>)
          .dtype_from_input("Out@GRAD")
          .kernels<FrameKernel<false, true>::For, float, double, int32_t, int64_t>()));
  ops.add(with_complex<FrameKernel<false, false>::For>(
      OpSchema("overlap_add")
          .doc("A signal as the sum of its windows, of which one begins every hop_length elements: the transpose of "
               "frame.")
          .input("X", "[..., window, frames], or with axis 0 [frames, window, ...]")
          .output("Out", "[..., (frames - 1) hop_length + window], or with axis 0 this axis first")
          .required_attr("hop_length", AttrType::Int, "the distance between the first elements of windows")
          .attr("axis", -1, "the axis of the signal: 0 or -1")
          .infer([](InferContext& c) { c.set_output("Out", c.input("X").dtype, signal_shape(c)); })
          .custom_lod()
          .gradient("overlap_add_grad", {"X", "Out@GRAD"}, {"X@GRAD"})
          .on_gpu()
          .kernels<FrameKernel<false, false>::For, float, double, int32_t, int64_t>()));
  ops.add(with_complex<FrameKernel<true, true>::For>(
      linear_gradient_of(ops, "overlap_add")
          .doc("X@GRAD = the windows of Out@GRAD.")
          .shape_only("X")
          .infer(infer_frame_gradient<signal_shape>)
          .dtype_from_input("Out@GRAD")
          .kernels<FrameKernel<true, true>::For, float, double, int32_t, int64_t>()));
}

}  // namespace paddle_mini
