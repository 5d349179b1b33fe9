// multinomial: Out = indices drawn with the probabilities in X
#include "core/op_table.h"
#include "math/random.h"

#include <cmath>
#include <limits>

namespace paddle_mini {
namespace {

template <class T>
struct MultinomialKernel : Kernel {
  In<T> x;
  Out<int64_t> out;
  int64_t categories, rows, samples;
  bool replacement;
  Scratch<T> sums;  // weights up to each category, relative to all

  explicit MultinomialKernel(KernelInit& init)
      : x(init, "X"), out(init, "Out"), categories(x.shape()[x.shape().rank() - 1]),
        rows(x.shape().numel(0, x.shape().rank() - 1)), samples(init.attr<int32_t>("num_samples")),
        replacement(init.attr<bool>("replacement")), sums(init, categories) {}

  void run(KernelContext& context) override {
    for (int64_t row = 0; row < rows; ++row) check(row);
    with_generator(context, 0, [&](std::mt19937_64& generator) {
      std::uniform_real_distribution<T> uniform(T(0), T(1));
      for (int64_t row = 0; row < rows; ++row) {
        const T* weights = x.data() + row * categories;
        int64_t* drawn = out.data() + row * samples;
        add_up(weights, drawn, drawn);
        for (int64_t s = 0; s < samples; ++s) {
          drawn[s] = pick(uniform(generator));
          if (!replacement && s + 1 < samples) add_up(weights, drawn, drawn + s + 1);
        }
      }
    });
  }

  void check(int64_t row) const {
    T total = 0;
    int64_t possible = 0;
    for (int64_t j = row * categories; j < (row + 1) * categories; ++j) {
      require<OpError>(x[j] >= T(0) && std::isfinite(x[j]), "X has ", x[j], " at element ", j,
                       ", a weight must be at least 0 and finite");
      total += x[j];
      possible += x[j] > T(0);
    }
    require<OpError>(total > T(0) && std::isfinite(total), "the weights in row ", row, " of X sum to ", total,
                     ", which must be above 0 and finite");
    require<OpError>(replacement || possible >= samples, "row ", row, " of X has ", possible,
                     " weights above 0, num_samples is ", samples, ": without replacement there are too few");
  }

  // Sums of the weights; those of categories that were drawn before do not count.
  void add_up(const T* weights, const int64_t* drawn, const int64_t* end) const {
    std::copy_n(weights, categories, sums.data());
    for (const int64_t* one = drawn; one != end; ++one) sums[*one] = T(0);
    T total = 0;
    for (int64_t j = 0; j < categories; ++j) sums[j] = total += sums[j];
    for (int64_t j = 0; j < categories; ++j) sums[j] /= total;
  }

  // The first category whose sum is at least, and above 0, the number; rounding must not pick one of weight 0.
  int64_t pick(T number) const {
    const T* begin = sums.data();
    number = std::max(number, std::numeric_limits<T>::min());
    return std::min<int64_t>(std::lower_bound(begin, begin + categories, number) - begin, last_possible());
  }
  int64_t last_possible() const {
    int64_t last = categories - 1;
    while (last > 0 && sums[last] == sums[last - 1]) --last;
    return last;
  }
};

}  // namespace

void define_multinomial(OpTable& ops) {
  ops.add(OpSchema("multinomial")
              .doc("Each row of Out has num_samples indices of elements of the same row of X, drawn with probabilities "
                   "proportional to these elements. Weights that are negative or all 0 are an error.")
              .input("X", "[categories] or [rows, categories]: weights")
              .output("Out", "[num_samples] or [rows, num_samples], int64")
              .attr("num_samples", 1, "how many indices each row gets", at_least(1))
              .attr("replacement", false, "whether an index may be drawn more than once")
              .infer([](InferContext& c) {
                require_tensors(c);
                Shape out = c.shape("X");
                require<ShapeError>(out.rank() == 1 || out.rank() == 2, "X has shape ", out.str(),
                                    ", it must have 1 or 2 dimensions");
                int64_t &last = out[out.rank() - 1], samples = c.attr<int32_t>("num_samples");
                require<ShapeError>(c.attr<bool>("replacement") || last < 0 || samples <= last, "X has ", last,
                                    " categories, num_samples is ", samples, ": without replacement there are too few");
                require<ShapeError>(last != 0, "X has shape ", c.shape("X").str(), ": it has no categories");
                last = samples;
                c.set_output("Out", DType::Int64, out);
              })
              .no_gradient("its output is an index")
              .checks_data()
              .cpu_only("it draws on the host, with weights that are checked there")
              .kernels<MultinomialKernel, float, double>());
}

}  // namespace paddle_mini
