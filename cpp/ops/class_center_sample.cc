// class_center_sample: the classes of a batch and some others, as numbers from 0
#include <algorithm>
#include <set>
#include <vector>

#include "core/op_table.h"
#include "math/random.h"

namespace paddle_mini {
namespace {

// The classes that occur, in ascending order.
template <class T>
std::set<int64_t> classes_of(const T& labels, int64_t count, int64_t classes) {
  std::set<int64_t> found;
  for (int64_t i = 0; i < count; ++i) {
    int64_t label = labels[i];
    require<OpError>(label >= 0 && label < classes, "Label has ", label, " at element ", i, ", there are ", classes,
                     " classes");
    found.insert(label);
  }
  return found;
}

template <class T>
struct ClassCenterSampleKernel : Kernel {
  In<T> label;
  Out<T> remapped, sampled;
  int64_t classes, seed;

  explicit ClassCenterSampleKernel(KernelInit& init)
      : label(init, "Label"), remapped(init, "RemappedLabel"), sampled(init, "SampledLocalClassCenter"),
        classes(init.attr<int32_t>("num_classes")), seed(init.attr<bool>("fix_seed") ? init.attr<int32_t>("seed") : 0) {
  }

  void run(KernelContext& context) override {
    std::set<int64_t> taken = classes_of(label, label.numel(), classes);
    const std::vector<int64_t> positive(taken.begin(), taken.end());
    for (int64_t i = 0; i < label.numel(); ++i) {
      auto at = std::lower_bound(positive.begin(), positive.end(), static_cast<int64_t>(label[i]));
      remapped[i] = static_cast<T>(at - positive.begin());
    }
    std::transform(positive.begin(), positive.end(), sampled.data(), [](int64_t one) { return static_cast<T>(one); });
    with_generator(context, seed, [&](std::mt19937_64& generator) {
      std::uniform_int_distribution<T> draw(0, static_cast<T>(classes - 1));
      for (auto i = static_cast<int64_t>(positive.size()); i < sampled.numel();) {
        T drawn = draw(generator);
        if (taken.insert(drawn).second) sampled[i++] = drawn;
      }
    });
  }
};

void infer_class_center_sample(InferContext& c) {
  require_tensors(c);
  require_index(c, "Label");
  require_rank(c, "Label", 1);
  int64_t classes = c.attr<int32_t>("num_classes"), samples = c.attr<int32_t>("num_samples");
  require<ProgramError>(samples <= classes, "attribute 'num_samples' is ", samples, ", there are ", classes,
                        " classes");
  int64_t found = -1;
  if (auto labels = c.integers("Label")) {
    auto size = static_cast<int64_t>(labels->size());
    found = std::max(samples, static_cast<int64_t>(classes_of(labels->data(), size, classes).size()));
  }
  c.set_output("RemappedLabel", c.input("Label"));
  c.set_output("SampledLocalClassCenter", c.input("Label").dtype, Shape{found});
}

AttrCheck one_device(int32_t only) {
  return [only](const std::string& name, const AttrValue& value) {
    int32_t given = std::get<int32_t>(value);
    require<ProgramError>(given == only, "attribute '", name, "' is ", given,
                          ", but classes of several devices are not supported: it must be ", only);
  };
}

}  // namespace

void define_class_center_sample(OpTable& ops) {
  ops.add(OpSchema("class_center_sample")
              .doc("SampledLocalClassCenter = the classes of Label in ascending order, then others at random, so that "
                   "there are num_samples; more only if Label has more. RemappedLabel = the positions of the labels' "
                   "classes in it (An et al., Partial FC, 2020).")
              .input("Label", "[n], int32 or int64")
              .output("RemappedLabel", "[n], the element type of Label")
              .output("SampledLocalClassCenter", "[num_samples, or classes in Label], the element type of Label")
              .required_attr("num_classes", AttrType::Int, "the number of classes", at_least(1))
              .required_attr("num_samples", AttrType::Int, "how many classes are sampled", at_least(0))
              .attr("ring_id", 0, "not read")
              .attr("rank", 0, "must be 0: one device has all classes", one_device(0))
              .attr("nranks", 1, "must be 1", one_device(1))
              .attr("fix_seed", false, "whether `seed` is used")
              .attr("seed", 0, "with fix_seed, of the numbers that are drawn; 0: the executor's random numbers")
              .infer(infer_class_center_sample)
              .custom_lod()
              .no_gradient("its inputs are labels, which are integers")
              .checks_data()
              .cpu_only("the size of its result depends on data")
              .kernels<ClassCenterSampleKernel, int32_t, int64_t>());
}

}  // namespace paddle_mini
