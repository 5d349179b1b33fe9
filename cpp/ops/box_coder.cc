// box_coder: boxes as offsets from prior boxes, and back
#include <cmath>

#include "core/op_table.h"
#include "math/cpu/each_item.h"

namespace paddle_mini {
namespace {

constexpr const char *kEncode = "encode_center_size", *kDecode = "decode_center_size";

template <class T>
struct CenterSize {
  T x, y, width, height;

  CenterSize(const T* box, T border) : width(box[2] - box[0] + border), height(box[3] - box[1] + border) {
    x = box[0] + width / 2;
    y = box[1] + height / 2;
  }
};

template <class T>
struct BoxCoderKernel : Kernel {
  In<T> priors, prior_variances, targets;
  Out<T> out;
  bool encodes;
  int axis;
  T border;
  std::vector<float> variance;

  explicit BoxCoderKernel(KernelInit& init)
      : priors(init, "PriorBox"), prior_variances(init, "PriorBoxVar", optional_port), targets(init, "TargetBox"),
        out(init, "OutputBox"), encodes(init.attr<std::string>("code_type") == kEncode),
        axis(init.attr<int32_t>("axis")), border(init.attr<bool>("box_normalized") ? 0 : 1),
        variance(init.attr<std::vector<float>>("variance")) {}

  void run(KernelContext& context) override {
    int64_t columns = out.shape()[1];
    each_item(context, {out.shape()[0] * columns, 60}, [&](int64_t i) {
      int64_t row = i / columns, column = i % columns, prior = !encodes && axis == 1 ? row : column;
      T scales[4];
      for (int64_t k = 0; k < 4; ++k) scales[k] = variance_of(prior, k);
      CenterSize<T> from(priors.data() + prior * 4, border);
      if (encodes) encode(targets.data() + row * 4, from, scales, out.data() + i * 4);
      else decode(targets.data() + i * 4, from, scales, out.data() + i * 4);
    });
  }

  T variance_of(int64_t prior, int64_t k) const {
    if (prior_variances) return prior_variances[prior * 4 + k];
    return variance.empty() ? T(1) : static_cast<T>(variance[static_cast<size_t>(k)]);
  }

  // The center is the mean of the ends, also where the border counts in the size.
  void encode(const T* target, const CenterSize<T>& from, const T* scales, T* to) const {
    CenterSize<T> size(target, border);
    to[0] = ((target[0] + target[2]) / 2 - from.x) / from.width / scales[0];
    to[1] = ((target[1] + target[3]) / 2 - from.y) / from.height / scales[1];
    to[2] = std::log(std::abs(size.width / from.width)) / scales[2];
    to[3] = std::log(std::abs(size.height / from.height)) / scales[3];
  }

  void decode(const T* code, const CenterSize<T>& from, const T* scales, T* to) const {
    T x = scales[0] * code[0] * from.width + from.x, y = scales[1] * code[1] * from.height + from.y;
    T half_width = std::exp(scales[2] * code[2]) * from.width / 2,
      half_height = std::exp(scales[3] * code[3]) * from.height / 2;
    to[0] = x - half_width, to[1] = y - half_height;
    to[2] = x + half_width - border, to[3] = y + half_height - border;
  }
};

void infer_box_coder(InferContext& c) {
  require_tensors(c);
  require_same_dtype(c, "PriorBox", "TargetBox");
  require_rank(c, "PriorBox", 2);
  const Shape &priors = c.shape("PriorBox"), &targets = c.shape("TargetBox");
  require<ShapeError>(dims_agree(priors[1], 4), "PriorBox has shape ", priors.str(), ", it must be [m, 4]");
  if (c.has_input("PriorBoxVar")) {
    require_same_dtype(c, "PriorBox", "PriorBoxVar");
    require_same_shape(c, "PriorBox", "PriorBoxVar");
  }
  size_t count = c.attr<std::vector<float>>("variance").size();
  require<ProgramError>(count == 0 || count == 4, "attribute 'variance' has ", count,
                        " numbers, it must have 4 or none");
  bool encodes = c.attr<std::string>("code_type") == kEncode;
  int axis = c.attr<int32_t>("axis");
  VarInfo out = c.input("TargetBox");
  require_rank(c, "TargetBox", encodes ? 2 : 3);
  require<ShapeError>(dims_agree(targets[targets.rank() - 1], 4), "TargetBox has shape ", targets.str(),
                      ", its last dimension must be 4");
  if (encodes) out.shape = Shape{targets[0], priors[0], 4};
  else
    require<ShapeError>(dims_agree(targets[axis == 0 ? 1 : 0], priors[0]), "TargetBox has shape ", targets.str(),
                        ", PriorBox has ", priors.str(), ": ", priors[0], " boxes against axis ", axis == 0 ? 1 : 0);
  c.set_output("OutputBox", out);
}

}  // namespace

void define_box_coder(OpTable& ops) {
  ops.add(
      OpSchema("box_coder")
          .doc("Boxes as offsets from prior boxes, or back. With centers c and sizes s, and prior's p and variances v: "
               "encoded ((c - c_p) / s_p / v, log(|s / s_p|) / v); decoded the box of center v t s_p + c_p and size "
               "exp(v t) "
               "s_p. Boxes are left, top, right, bottom.")
          .attr("code_type", kEncode, "encode_center_size or decode_center_size", one_of({kEncode, kDecode}))
          .attr("box_normalized", true,
                "false: the ends of boxes are pixels inside of them, so that sizes are 1 larger")
          .attr("axis", 0, "for decoding: 0: a prior for each column of TargetBox; 1: for each row", between(0, 1))
          .attr("variance", std::vector<float>{}, "the variances of all priors, without PriorBoxVar; empty: ones")
          .input("PriorBox", "[m, 4]")
          .optional_input("PriorBoxVar", "[m, 4]: the variances of each prior")
          .input("TargetBox", "encoding: [n, 4]; decoding: codes [n, m, 4], or with axis 1 [m, n, 4]")
          .output("OutputBox", "encoding: [n, m, 4]; decoding: shape of TargetBox")
          .infer(infer_box_coder)
          .no_gradient("PaddlePaddle has none: codes are targets, and decoded boxes results")
          .cpu_only("it serves the last steps of detection, which run on the CPU")
          .kernels<BoxCoderKernel, float, double>());
}

}  // namespace paddle_mini
