// nce: the loss of noise-contrastive estimation, which tells the labels of a row from classes drawn from a distribution
#include <cmath>
#include <functional>
#include <optional>
#include <vector>

#include "core/op_table.h"
#include "math/random.h"

namespace paddle_mini {
namespace {

enum class NceSampler { Uniform, LogUniform, Custom };

// A distribution of classes.
struct NceDistribution {
  NceSampler kind;
  int64_t classes;
  std::optional<NumberIn> probabilities, kept;
  std::optional<In<int32_t>> other;

  explicit NceDistribution(const KernelInit& init)
      : kind(static_cast<NceSampler>(init.attr<int32_t>("sampler"))), classes(init.attr<int32_t>("num_total_classes")) {
    if (kind != NceSampler::Custom) return;
    probabilities.emplace(init, "CustomDistProbs");
    kept.emplace(init, "CustomDistAliasProbs");
    other.emplace(init, "CustomDistAlias");
  }

  void check() const {
    for (int64_t i = 0; kind == NceSampler::Custom && i < classes; ++i) {
      int32_t alias = (*other)[i];
      double probability = (*probabilities)[i];
      require<OpError>(probability >= 0 && std::isfinite(probability), "CustomDistProbs has ", probability,
                       " at element ", i, ", a probability must be at least 0 and finite");
      require<OpError>(alias >= -1 && alias < classes, "CustomDistAlias has ", alias, " at element ", i, ", there are ",
                       classes, " classes");
    }
  }

  double probability(int64_t of) const {
    if (kind == NceSampler::Custom) return (*probabilities)[of];
    if (kind == NceSampler::Uniform) return 1 / static_cast<double>(classes);
    auto value = static_cast<double>(of);
    return std::log((value + 2) / (value + 1)) / std::log(static_cast<double>(classes));
  }

  // In the manner of PaddlePaddle, so that a seed gives the same classes. Custom: Walker's alias method (1977).
  std::function<int64_t()> sampler(std::mt19937_64& generator) const {
    const int last = static_cast<int>(classes - 1);
    if (kind == NceSampler::Uniform) {
      return [&generator, draw = std::uniform_int_distribution<>(0, last)]() mutable { return draw(generator); };
    }
    if (kind == NceSampler::LogUniform) {
      return [&generator, last, range = std::log(static_cast<float>(classes)),
              draw = std::uniform_real_distribution<>(0, 1)]() mutable {
        auto value = static_cast<int64_t>(std::exp(draw(generator) * static_cast<double>(range))) - 1;
        return last ? value % last : 0;
      };
    }
    return [this, &generator, index = std::uniform_int_distribution<>(0, last),
            share = std::uniform_real_distribution<>(0, 1)]() mutable -> int64_t {
      int at = index(generator);
      bool keeps = share(generator) <= (*kept)[at] || (*other)[at] < 0;
      return keeps ? at : (*other)[at];
    };
  }
};

// The rows and classes of both kernels. A row has its labels first, then the classes that were drawn.
struct NceSizes {
  int64_t rows, width, labels, drawn;

  explicit NceSizes(const KernelInit& init)
      : rows(init.input("Input")->tensor.shape[0]), width(init.input("Input")->tensor.shape[1]),
        labels(rows ? init.input("Label")->tensor.shape.numel() / rows : 0),
        drawn(init.attr<int32_t>("num_neg_samples")) {}
  int64_t columns() const { return labels + drawn; }
};

template <class T>
struct NceKernel : Kernel {
  In<T> input, weight, bias, sample_weight;
  In<int64_t> label;
  Out<T> cost, logits;
  Out<int64_t> classes;
  NceDistribution distribution;
  NceSizes sizes;
  int64_t seed;

  explicit NceKernel(KernelInit& init)
      : input(init, "Input"), weight(init, "Weight"), bias(init, "Bias", optional_port),
        sample_weight(init, "SampleWeight", optional_port), label(init, "Label"), cost(init, "Cost"),
        logits(init, "SampleLogits"), classes(init, "SampleLabels"), distribution(init), sizes(init),
        seed(init.attr<int32_t>("seed")) {}

  void run(KernelContext& context) override {
    distribution.check();
    for (int64_t i = 0; i < sizes.rows * sizes.labels; ++i) {
      require<OpError>(label[i] >= 0 && label[i] < distribution.classes, "label ", label[i], " at element ", i,
                       " is out of range: there are ", distribution.classes, " classes");
    }
    with_generator(context, seed, [&](std::mt19937_64& generator) {
      auto draw = distribution.sampler(generator);
      for (int64_t i = 0; i < sizes.rows; ++i) {
        int64_t* row = classes.data() + i * sizes.columns();
        std::copy_n(label.data() + i * sizes.labels, sizes.labels, row);
        std::generate_n(row + sizes.labels, sizes.drawn, draw);
      }
    });
    for (int64_t i = 0; i < sizes.rows; ++i) cost[i] = cost_of(i);
  }

  T cost_of(int64_t i) const {
    T total = 0;
    for (int64_t j = 0; j < sizes.columns(); ++j) {
      int64_t at = i * sizes.columns() + j, of = classes[at];
      T logit = bias ? bias[of] : T(0);
      for (int64_t k = 0; k < sizes.width; ++k) logit += input[i * sizes.width + k] * weight[of * sizes.width + k];
      T mine = logits[at] = T(1) / (T(1) + std::exp(-logit));
      T noise = static_cast<T>(distribution.probability(of) * static_cast<double>(sizes.drawn));
      total -= std::log((j < sizes.labels ? mine : noise) / (mine + noise));
    }
    return sample_weight ? total * sample_weight[i] : total;
  }
};

template <class T>
struct NceGradKernel : Kernel {
  In<T> input, weight, sample_weight, logits, cost_gradient;
  In<int64_t> classes;
  Out<T> input_gradient, weight_gradient, bias_gradient;
  NceDistribution distribution;
  NceSizes sizes;

  explicit NceGradKernel(KernelInit& init)
      : input(init, "Input"), weight(init, "Weight"), sample_weight(init, "SampleWeight", optional_port),
        logits(init, "SampleLogits"), cost_gradient(init, "Cost@GRAD"), classes(init, "SampleLabels"),
        input_gradient(init, "Input@GRAD", optional_port), weight_gradient(init, "Weight@GRAD", optional_port),
        bias_gradient(init, "Bias@GRAD", optional_port), distribution(init), sizes(init) {}

  void run(KernelContext&) override {
    distribution.check();
    for (int64_t i = 0; i < classes.numel(); ++i) {
      require<OpError>(classes[i] >= 0 && classes[i] < weight.shape()[0], "SampleLabels has ", classes[i],
                       " at element ", i, ", Weight has ", weight.shape()[0], " rows");
    }
    for (const Out<T>* gradient : {&input_gradient, &weight_gradient, &bias_gradient}) {
      if (*gradient) std::fill_n(gradient->data(), gradient->numel(), T(0));
    }
    for (int64_t i = 0; i < sizes.rows; ++i) {
      for (int64_t j = 0; j < sizes.columns(); ++j) give_back(i, j);
    }
  }

  // SampleLogits are sigmoids s: d -log(s / (s + b)) = -b (1 - s) / (s + b), and d -log(b / (s + b)) = s (1 - s) / (s + b).
  void give_back(int64_t i, int64_t j) const {
    int64_t at = i * sizes.columns() + j, of = classes[at];
    T mine = logits[at], noise = static_cast<T>(distribution.probability(of) * static_cast<double>(sizes.drawn));
    T slope = (j < sizes.labels ? -noise : mine) * (T(1) - mine) / (mine + noise) * cost_gradient[i];
    if (sample_weight) slope *= sample_weight[i];
    if (bias_gradient) bias_gradient[of] += slope;
    for (int64_t k = 0; k < sizes.width; ++k) {
      int64_t x = i * sizes.width + k, w = of * sizes.width + k;
      if (input_gradient) input_gradient[x] += slope * weight[w];
      if (weight_gradient) weight_gradient[w] += slope * input[x];
    }
  }
};

void check_custom_distribution(const InferContext& c, int64_t classes) {
  bool custom = c.attr<int32_t>("sampler") == static_cast<int32_t>(NceSampler::Custom);
  for (const char* port : {"CustomDistProbs", "CustomDistAlias", "CustomDistAliasProbs"}) {
    require<ProgramError>(c.has_input(port) == custom, port, " is needed if attribute 'sampler' is 2, and only then");
    if (!custom) continue;
    bool numbers = std::string(port) != "CustomDistAlias";
    if (numbers) require_number(c, port);
    require<ShapeError>(numbers || c.input(port).dtype == DType::Int32, port, " is ", name_of(c.input(port).dtype),
                        ", it must be int32");
    const Shape& shape = c.shape(port);
    require<ShapeError>(dims_agree(shape.numel(0, shape.rank()), classes), port, " has shape ", shape.str(),
                        ", there are ", classes, " classes");
  }
}

// Returns the shape of SampleLabels.
Shape check_nce(const InferContext& c) {
  require_tensors(c);
  for (const char* port : {"Input", "Weight"}) require_rank(c, port, 2);
  require_same_dtype(c, "Input", "Weight");
  const Shape &input = c.shape("Input"), &weight = c.shape("Weight"), &label = c.shape("Label");
  int64_t classes = c.attr<int32_t>("num_total_classes");
  require<ShapeError>(shapes_agree(weight, Shape{classes, input[1]}), "Weight has shape ", weight.str(), ", with ",
                      classes, " classes and Input ", input.str(), " it must be ", Shape{classes, input[1]}.str());
  DType dtype = c.input("Label").dtype;
  require<ShapeError>(dtype == DType::Int64, "Label is ", name_of(dtype), ", it must be int64");
  require_rank(c, "Label", 2);
  require<ShapeError>(dims_agree(label[0], input[0]), "Label has shape ", label.str(), ", Input has ", input[0],
                      " rows");
  for (auto [port, size] : {std::pair("Bias", classes), std::pair("SampleWeight", input[0])}) {
    if (!c.has_input(port)) continue;
    require_same_dtype(c, "Input", port);
    const Shape& shape = c.shape(port);
    require<ShapeError>(dims_agree(shape.numel(0, shape.rank()), size), port, " has shape ", shape.str(),
                        ", it must have ", size, " elements");
  }
  check_custom_distribution(c, classes);
  return {input[0], label[1] < 0 ? -1 : label[1] + c.attr<int32_t>("num_neg_samples")};
}

void infer_nce_gradient(InferContext& c) {
  Shape samples = check_nce(c);
  for (const char* port : {"SampleLogits", "SampleLabels"}) {
    require<ShapeError>(shapes_agree(c.shape(port), samples), port, " has shape ", c.shape(port).str(), ", it must be ",
                        samples.str());
  }
  const Shape& slope = c.shape("Cost@GRAD");
  require<ShapeError>(dims_agree(slope.numel(0, slope.rank()), samples[0]), "Cost@GRAD has shape ", slope.str(),
                      ", Input has ", samples[0], " rows");
  for (const char* port : {"Input", "Weight", "Bias"}) {
    if (c.has_input(port)) c.set_output((std::string(port) + "@GRAD").c_str(), c.input(port));
  }
}

}  // namespace

void define_nce(OpTable& ops) {
  ops.add(
      OpSchema("nce")
          .doc("Cost = SampleWeight times the sum of -log(s / (s + b)) over a row's labels and of -log(b / (s + b)) "
               "over num_neg_samples classes that are drawn for it, with s = sigmoid(Weight[class] Input + "
               "Bias[class]) and b = num_neg_samples P(class) (Gutmann and Hyvarinen, Noise-contrastive "
               "estimation, 2010).")
          .input("Input", "[rows, width]")
          .input("Label", "int64 [rows, labels]")
          .input("Weight", "[classes, width]")
          .optional_input("Bias", "[classes, 1]")
          .optional_input("SampleWeight", "[rows, 1]; absent: 1")
          .optional_input("CustomDistProbs", "float32 or float64 [classes]: probabilities, for sampler 2")
          .optional_input("CustomDistAlias", "int32 [classes]: the class that takes a column's rest; -1: none")
          .optional_input("CustomDistAliasProbs",
                          "float32 or float64 [classes]: a class' share of its column (alias method)")
          .output("Cost", "[rows, 1]")
          .output("SampleLogits", "[rows, labels + num_neg_samples]: s")
          .output("SampleLabels", "int64, shape of SampleLogits: the labels and the classes that were drawn")
          .required_attr("num_total_classes", AttrType::Int, "the number of classes", at_least(1))
          .attr("num_neg_samples", 10, "how many classes are drawn for a row", at_least(1))
          .attr("sampler", 0, "0: equal probabilities; 1: P(c) = log((c + 2) / (c + 1)) / log(classes); 2: custom",
                between(0, 2))
          .attr("seed", 0, "0: the executor's random numbers")
          .attr("is_sparse", false, "not read: the gradient of Weight is dense")
          .attr("remote_prefetch", false, "not read")
          .attr("is_test", false, "not read")
          .infer([](InferContext& c) {
            Shape samples = check_nce(c);
            c.set_output("Cost", c.input("Input").dtype, Shape{samples[0], 1});
            c.set_output("SampleLogits", c.input("Input").dtype, samples);
            c.set_output("SampleLabels", DType::Int64, samples);
          })
          .custom_lod()
          .gradient("nce_grad",
                    {"Input", "Label", "Weight", "Bias", "SampleWeight", "CustomDistProbs", "CustomDistAlias",
                     "CustomDistAliasProbs", "SampleLogits", "SampleLabels", "Cost@GRAD"},
                    {"Input@GRAD", "Weight@GRAD", "Bias@GRAD"})
          .checks_data()
          .cpu_only("it draws on the host")
          .kernels<NceKernel, float, double>());
  ops.add(
      ops.gradient_of("nce")
          .doc("With z = Weight[class] Input + Bias[class]: z@GRAD = Cost@GRAD SampleWeight (1 - s) / (s + b) times "
               "-b for labels and s for classes that were drawn, from which the others follow.")
          .shape_only("Label")
          .shape_only("Bias")
          .infer(infer_nce_gradient)
          .checks_data()
          .kernels<NceGradKernel, float, double>());
}

}  // namespace paddle_mini
