// temporal_shift: some channels of every frame come from the previous frame, some from the next one
#include "core/op_table.h"
#include "core/second_gradient.h"

#include <algorithm>

namespace paddle_mini {
namespace {

// The frames of a video are consecutive along axis 0. Channels [0, back) come from the previous frame and [back, ahead)
// from the next one; the others stay. Missing frames count as zeros.
struct Shift {
  int64_t frames, segment, blocks, channels, length, back, ahead;

  // length: adjacent elements of one channel; blocks: rows of channels per frame.
  Shift(const KernelInit& init, const Shape& x) : frames(x[0]), segment(init.attr<int32_t>("seg_num")) {
    bool last = init.attr<std::string>("data_format") == "NHWC";
    channels = x[last ? 3 : 1];
    blocks = last ? x[1] * x[2] : 1;
    length = last ? 1 : x[2] * x[3];
    float ratio = init.attr<float>("shift_ratio");
    back = std::min(static_cast<int64_t>(static_cast<float>(channels) * ratio), channels);
    ahead = std::min(static_cast<int64_t>(static_cast<float>(channels) * 2 * ratio), channels);
  }

  template <class T>
  void copy(KernelContext&, const T* from, T* to, int64_t direction) const;
};

template <bool backward>
struct TemporalShift {
  template <class T>
  struct For : Kernel {
    In<T> in;
    Out<T> out;
    Shift shift;

    explicit For(KernelInit& init)
        : in(init, backward ? "Out@GRAD" : "X"), out(init, backward ? "X@GRAD" : "Out"), shift(init, in.shape()) {}
    void run(KernelContext& context) override { shift.copy(context, in.data(), out.data(), backward ? -1 : 1); }
  };
};

InferFunction same_frames(const char* from, const char* to) {
  return [from, to](InferContext& c) {
    require_tensors(c);
    require_rank(c, from, 4);
    int64_t frames = c.shape(from)[0], segment = c.attr<int32_t>("seg_num");
    require<ShapeError>(frames < 0 || frames % segment == 0, from, " has ", frames,
                        " frames, which can't be divided into videos of ", segment);
    c.set_output(to, c.input(from));
  };
}

}  // namespace
}  // namespace paddle_mini

#include PM_KERNELS(temporal_shift)

namespace paddle_mini {

void define_temporal_shift(OpTable& ops) {
  ops.add(OpSchema("temporal_shift")
              .doc("With c channels and r = shift_ratio, frame t of a video takes its first c r channels from frame t "
                   "- 1, the next c r channels from frame t + 1, or zeros if that frame is missing, and keeps the "
                   "others (Lin et al. 2019).")
              .input("X", "[videos seg_num, channels, height, width], or channels last")
              .output("Out", "shape of X")
              .required_attr("seg_num", AttrType::Int, "the number of frames of a video", at_least(1))
              .attr("shift_ratio", 0.25f,
                    "the fraction of the channels that comes from the previous frame, and from the next one",
                    between(0, 0.5))
              .attr("data_format", "NCHW", "whether axis 1 or the last axis has the channels", one_of({"NCHW", "NHWC"}))
              .infer(same_frames("X", "Out"))
              .gradient("temporal_shift_grad", {"Out@GRAD"}, {"X@GRAD"})
              .on_gpu()
              .kernels<TemporalShift<false>::For, float, double>());
  ops.add(linear_gradient_of(ops, "temporal_shift")
              .doc("X@GRAD = Out@GRAD, shifted back.")
              .infer(same_frames("Out@GRAD", "X@GRAD"))
              .kernels<TemporalShift<true>::For, float, double>());
}

}  // namespace paddle_mini
