// dropout: Out = X where a random mask keeps it, else 0
#include "core/op_table.h"
#include "core/second_gradient.h"
#include "math/arithmetic.h"
#include "math/copy.h"
#include "math/drop_mask.h"

namespace paddle_mini {
namespace {

// Srivastava et al. 2014. Either kept elements are scaled up in training ("upscale_in_train"), or all elements are
// scaled down in testing ("downgrade_in_infer"), so that the expected value of a sum stays the same.
struct DropoutRule {
  float probability;
  bool test, upscale;

  explicit DropoutRule(const KernelInit& init)
      : probability(init.attr<float>("dropout_prob")), test(init.attr<bool>("is_test")),
        upscale(init.attr<std::string>("dropout_implementation") == "upscale_in_train") {}

  // The factor of kept elements.
  template <class T>
  T factor() const {
    T keep = T(1) - static_cast<T>(probability);
    if (test) return upscale ? T(1) : keep;
    return upscale && keep > T(0) ? T(1) / keep : T(1);
  }
};

template <class T>
struct DropoutKernel : Kernel {
  In<T> x;
  Out<T> out;
  Out<uint8_t> mask;
  DropoutRule rule;
  std::optional<IndexIn> seed_tensor;
  int64_t seed;  // 0: uses the executor's generator
  Scratch<uint8_t> own_mask;

  explicit DropoutKernel(KernelInit& init)
      : x(init, "X"), out(init, "Out"), mask(init, "Mask", optional_port), rule(init),
        seed(init.attr<bool>("fix_seed") ? init.attr<int32_t>("seed") : 0),
        own_mask(init, mask || rule.test ? 0 : x.numel()) {
    if (init.input("Seed")) seed_tensor.emplace(init, "Seed");
  }

  void run(KernelContext& context) override {
    T factor = rule.factor<T>();
    if (rule.test) {
      map(context, x.numel(), Times<T>{factor}, out.data(), x.data());
      if (mask) fill_n(context, mask.data(), x.numel(), uint8_t{1});
      return;
    }
    uint8_t* keep = mask ? mask.data() : own_mask.data();
    fill_mask(context, seed_tensor, seed, rule.probability, keep, x.numel());
    map(context, x.numel(), ApplyMask<T>{factor}, out.data(), x.data(), static_cast<const uint8_t*>(keep));
  }
};

template <class T>
struct DropoutGradKernel : Kernel {
  In<T> out_gradient;
  In<uint8_t> mask;
  Out<T> x_gradient;
  DropoutRule rule;

  explicit DropoutGradKernel(KernelInit& init)
      : out_gradient(init, "Out@GRAD"), mask(init, "Mask"), x_gradient(init, "X@GRAD"), rule(init) {}

  void run(KernelContext& context) override {
    T factor = rule.factor<T>();
    int64_t n = out_gradient.numel();
    if (rule.test) {
      map(context, n, Times<T>{factor}, x_gradient.data(), out_gradient.data());
    } else {
      map(context, n, ApplyMask<T>{factor}, x_gradient.data(), out_gradient.data(), mask.data());
    }
  }
};

void infer_dropout_grad(InferContext& c) {
  require<ShapeError>(c.input("Mask").dtype == DType::UInt8, "Mask is ", name_of(c.input("Mask").dtype),
                      ", it must be uint8");
  require_same_shape(c, "Out@GRAD", "Mask");
  c.set_output("X@GRAD", c.input("Out@GRAD"));
}

}  // namespace

void define_dropout(OpTable& ops) {
  ops.add(OpSchema("dropout")
              .doc("Out = X * Mask, where each element of Mask is 0 with probability dropout_prob and 1 otherwise; "
                   "with is_test all elements are kept.")
              .input("X", "any shape")
              .optional_input("Seed", "one integer: the seed, which overrides the attributes; 0: not fixed")
              .output("Out", "shape of X")
              .optional_output("Mask", "shape of X, uint8: 1 where an element was kept")
              .attr("dropout_prob", 0.5f, "probability that an element is dropped", between(0, 1))
              .attr("is_test", false, "whether nothing is dropped")
              .attr("dropout_implementation", "downgrade_in_infer",
                    "downgrade_in_infer: in testing Out = X (1 - dropout_prob); upscale_in_train: in training the kept "
                    "elements are divided by 1 - dropout_prob",
                    one_of({"downgrade_in_infer", "upscale_in_train"}))
              .attr("seed", 0,
                    "used if fix_seed is true: every run with this seed drops the same elements; 0: not fixed")
              .attr("fix_seed", false, "whether `seed` is used")
              .infer([](InferContext& c) {
                if (c.has_input("Seed")) {
                  require_scalar(c, "Seed");
                  require_index(c, "Seed");
                }
                c.set_output("Out", c.input("X"));
                c.set_output("Mask", DType::UInt8, c.shape("X"));
              })
              .gradient("dropout_grad", {"Mask", "Out@GRAD"}, {"X@GRAD"})
              .in_place("X", "Out")
              .on_gpu()
              .kernels<DropoutKernel, float, double>());
  ops.add(ops.gradient_of("dropout")
              .doc("X@GRAD = Out@GRAD times the factor of the element, which is 0 for a dropped one.")
              .infer(infer_dropout_grad)
              .gradient(gradient_again("Out@GRAD", "X@GRAD"))
              .dtype_from_input("Out@GRAD")
              .in_place("Out@GRAD", "X@GRAD")
              .kernels<DropoutGradKernel, float, double>());
}

}  // namespace paddle_mini
