// auc: the area under the ROC curve of all batches so far, or of the last slide_steps batches
#include "core/op_table.h"

namespace paddle_mini {
namespace {

// The layout of StatPos and StatNeg. Scores fall into `buckets` bins from 0 to 1, and a row of bins counts labels.
// Without slide steps there is one row for all batches. Otherwise there is a ring of `steps` rows, one for each batch,
// then a row with their sums, then the number of batches.
struct Counts {
  int64_t buckets, steps;

  template <class Context>
  explicit Counts(const Context& c)
      : buckets(int64_t{c.template attr<int32_t>("num_thresholds")} + 1),
        steps(c.template attr<int32_t>("slide_steps")) {}
  int64_t numel() const { return (steps + 1) * buckets + (steps > 0 ? 1 : 0); }
  int64_t sums() const { return steps * buckets; }
  int64_t counter() const { return (steps + 1) * buckets; }
};

template <class T>
struct AucKernel : Kernel {
  In<T> predict;
  IndexIn label;
  NumberIn weight;
  In<int64_t> positive, negative;
  Out<double> auc;
  Out<int64_t> positive_out, negative_out;
  Counts counts;
  int64_t width;

  explicit AucKernel(KernelInit& init)
      : predict(init, "Predict"), label(init, "Label"), weight(init, "InsTagWeight", optional_port),
        positive(init, "StatPos"), negative(init, "StatNeg"), auc(init, "AUC"), positive_out(init, "StatPosOut"),
        negative_out(init, "StatNegOut"), counts(init), width(predict.shape()[1]) {}

  void run(KernelContext&) override {
    int64_t rows = predict.shape()[0];
    for (int64_t i = 0; i < rows; ++i) {
      T score = score_of(i);
      require<OpError>(score >= T(0) && score <= T(1), "Predict holds ", score, " in row ", i,
                       ", a score must be from 0 to 1");
    }
    int64_t *pos = positive_out.data(), *neg = negative_out.data(), n = counts.numel();
    if (positive.data() != pos) std::copy_n(positive.data(), n, pos);
    if (negative.data() != neg) std::copy_n(negative.data(), n, neg);
    bool counted = !weight || weight[0] != 0;  // a weight of 0 marks a batch of padding
    if (counts.steps == 0) {
      if (counted) count(rows, pos, neg);
    } else {
      for (int64_t* stat : {pos, neg}) forget_oldest(stat, pos[counts.counter()]);
      int64_t at = ring_place(pos[counts.counter()]) * counts.buckets;
      count(rows, pos + at, neg + at);
      for (int64_t* stat : {pos, neg}) {
        if (counted) add(stat + at, 1, stat + counts.sums());
      }
      ++pos[counts.counter()];
      ++neg[counts.counter()];
    }
    auc[0] = area(pos + counts.sums(), neg + counts.sums());
  }

  // Reads the last column: the probability of the second of two classes, or the only score.
  T score_of(int64_t i) const { return predict[i * width + width - 1]; }

  int64_t ring_place(int64_t batches) const {
    int64_t place = batches % counts.steps;
    return place < 0 ? place + counts.steps : place;
  }

  void forget_oldest(int64_t* stat, int64_t batches) {
    int64_t* oldest = stat + ring_place(batches) * counts.buckets;
    add(oldest, -1, stat + counts.sums());
    std::fill_n(oldest, counts.buckets, int64_t{0});
  }

  void add(const int64_t* row, int64_t sign, int64_t* sums) {
    for (int64_t i = 0; i < counts.buckets; ++i) sums[i] += sign * row[i];
  }

  void count(int64_t rows, int64_t* pos, int64_t* neg) {
    T top = static_cast<T>(counts.buckets - 1);
    for (int64_t i = 0; i < rows; ++i) {
      int64_t bin = std::min(static_cast<int64_t>(score_of(i) * top), counts.buckets - 1);
      if (label[i] > 0) ++pos[bin];
      else if (label[i] == 0) ++neg[bin];
    }
  }

  // Sums trapezoids between the numbers of negatives and of positives above a threshold, from the highest bin down, and
  // divides the sum by both totals.
  double area(const int64_t* pos, const int64_t* neg) const {
    double sum = 0, pos_total = 0, neg_total = 0;
    for (int64_t i = counts.buckets - 1; i >= 0; --i) {
      double step = static_cast<double>(neg[i]), before = pos_total;
      pos_total += static_cast<double>(pos[i]);
      neg_total += step;
      sum += (step < 0 ? -step : step) * (pos_total + before) / 2;
    }
    return pos_total > 0 && neg_total > 0 ? sum / pos_total / neg_total : sum;
  }
};

void infer_auc(InferContext& c) {
  require_tensors(c);
  require_rank(c, "Predict", 2);
  const Shape &predict = c.shape("Predict"), &label = c.shape("Label");
  require<ShapeError>(predict[1] < 0 || predict[1] == 1 || predict[1] == 2, "Predict has shape ", predict.str(),
                      ", it must have 1 or 2 columns");
  require_index(c, "Label");
  require<ShapeError>(label.rank() > 0 && dims_agree(label.numel(0, label.rank()), predict[0]), "Label has shape ",
                      label.str(), ", Predict ", predict.str(), ": Label must have one element for each row");
  if (c.has_input("InsTagWeight")) {
    require_number(c, "InsTagWeight");
    require_scalar(c, "InsTagWeight");
  }
  Counts counts(c);
  for (const char* port : {"StatPos", "StatNeg"}) {
    const Shape& stat = c.shape(port);
    require<ShapeError>(c.input(port).dtype == DType::Int64, port, " is ", name_of(c.input(port).dtype),
                        ", it must be int64");
    require<ShapeError>(dims_agree(stat.numel(0, stat.rank()), counts.numel()), port, " has shape ", stat.str(),
                        ", with these num_thresholds and slide_steps it must have ", counts.numel(), " elements");
  }
  c.set_output("AUC", DType::Float64, Shape{});
  c.set_output("StatPosOut", DType::Int64, c.shape("StatPos"));
  c.set_output("StatNegOut", DType::Int64, c.shape("StatNeg"));
}

}  // namespace

void define_auc(OpTable& ops) {
  ops.add(
      OpSchema("auc")
          .doc("AUC = the area under the ROC curve (true positives over false positives), by trapezoids between the "
               "bins of scores. StatPos and StatNeg count the positive and the negative labels in each bin, in all "
               "batches (slide_steps 0) or in the last slide_steps batches. A score outside of [0, 1] is an error.")
          .input("Predict", "[rows, 1] or [rows, 2]: the last column is the score, from 0 to 1")
          .input("Label", "[rows, 1] or [rows], int32 or int64: above 0 positive, 0 negative; others are not counted")
          .input(
              "StatPos",
              "int64: num_thresholds + 1 bins; with slide_steps, that many rows of bins, a row of sums, and a counter")
          .input("StatNeg", "int64, shape of StatPos")
          .optional_input("InsTagWeight", "[1]: 0 if this batch is not counted")
          .output("AUC", "[], float64")
          .output("StatPosOut", "the same variable as StatPos")
          .output("StatNegOut", "the same variable as StatNeg")
          .attr("curve", "ROC", "the curve", one_of({"ROC"}))
          .attr("num_thresholds", 8191, "the number of bins minus 1", at_least(0))
          .attr("slide_steps", 1, "the number of latest batches that are counted; 0: all", at_least(0))
          .infer(infer_auc)
          .no_gradient("it counts")
          .updates("StatPos", "StatPosOut")
          .updates("StatNeg", "StatNegOut")
          .checks_data()
          .cpu_only("counts scores into bins sequentially")
          .kernels<AucKernel, float, double>());
}

}  // namespace paddle_mini
