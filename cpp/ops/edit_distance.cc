// edit_distance: the number of insertions, deletions and substitutions that turn each hypothesis into its reference
#include "core/op_table.h"
#include "math/row_spans.h"

namespace paddle_mini {
namespace {

struct EditDistanceKernel : Kernel {
  IndexIn hyps, refs;
  Out<float> out;
  Out<int64_t> count;
  RowSpans hyp_spans, ref_spans;
  bool normalized;
  Scratch<int64_t> row;

  explicit EditDistanceKernel(KernelInit& init)
      : hyps(init, "Hyps"), refs(init, "Refs"), out(init, "Out"), count(init, "SequenceNum"),
        hyp_spans(init, "Hyps", "HypsLength"), ref_spans(init, "Refs", "RefsLength"),
        normalized(init.attr<bool>("normalized")), row(init, ref_spans.longest() + 1) {}

  void run(KernelContext&) override {
    hyp_spans.refresh();
    ref_spans.refresh();
    for (int64_t s = 0; normalized && s < ref_spans.count(); ++s) {
      require<OpError>(ref_spans.length(s) > 0, "reference ", s,
                       " is empty, so the distance can't be divided by its length");
    }
    count[0] = hyp_spans.count();
    for (int64_t s = 0; s < hyp_spans.count(); ++s) {
      auto distance = static_cast<float>(levenshtein(s));
      out[s] = normalized ? distance / static_cast<float>(ref_spans.length(s)) : distance;
    }
  }

  // row[j] = the distance between the hypothesis so far and the first j tokens of the reference.
  int64_t levenshtein(int64_t s) {
    int64_t n = ref_spans.length(s);
    for (int64_t j = 0; j <= n; ++j) row[j] = j;
    for (int64_t i = 0; i < hyp_spans.length(s); ++i) {
      int64_t corner = row[0], token = hyps[hyp_spans.begin(s) + i];
      row[0] = i + 1;
      for (int64_t j = 0; j < n; ++j) {
        int64_t substituted = corner + (token != refs[ref_spans.begin(s) + j]);
        corner = row[j + 1];
        row[j + 1] = std::min({row[j + 1] + 1, row[j] + 1, substituted});
      }
    }
    return row[n];
  }
};

int64_t count_in(const InferContext& c, const char* port, const char* length) {
  require_index(c, port);
  const Shape& shape = c.shape(port);
  if (c.has_input(length)) {
    bool flat = shape.rank() == 2 || (shape.rank() == 3 && dims_agree(shape[2], 1));
    require<ShapeError>(flat, port, " has shape ", shape.str(), ", with ", length, " it must be [count, width]");
    require_lengths(c, length, shape[0]);
    return shape[0];
  }
  int64_t count = sequence_count(c, port);
  bool flat = shape.rank() > 0 && dims_agree(shape.numel(1, shape.rank()), 1);
  require<ShapeError>(flat, port, " has shape ", shape.str(), ", it must be [n] or [n, 1]");
  return count;
}

void infer_edit_distance(InferContext& c) {
  bool lengths = c.has_input("HypsLength");
  require<ProgramError>(lengths == c.has_input("RefsLength"), "HypsLength and RefsLength must be given together");
  int64_t hyps = count_in(c, "Hyps", "HypsLength"), refs = count_in(c, "Refs", "RefsLength");
  require<ShapeError>(dims_agree(hyps, refs), "Hyps has ", hyps, " sequences, Refs has ", refs);
  c.set_output("Out", DType::Float32, Shape{std::max(hyps, refs), 1});
  c.set_output("SequenceNum", DType::Int64, Shape{1});
}

}  // namespace

void define_edit_distance(OpTable& ops) {
  ops.add(OpSchema("edit_distance")
              .doc("Out = the least number of insertions, deletions and substitutions that turn each hypothesis into "
                   "its reference (Levenshtein); with `normalized`, divided by the length of the reference.")
              .input("Hyps", "int32 or int64 [n, 1] in sequences (lod); with HypsLength, [count, width]")
              .input("Refs", "like Hyps, with the same number of sequences")
              .optional_input("HypsLength", "int32 or int64: the lengths of padded hypotheses")
              .optional_input("RefsLength", "int32 or int64: the lengths of padded references")
              .output("SequenceNum", "int64 [1]: the number of pairs")
              .output("Out", "float32 [count, 1]")
              .attr("normalized", false,
                    "whether to divide by the length of the reference, which must then not be empty")
              .infer(infer_edit_distance)
              .custom_lod()
              .checks_data()
              .no_gradient("it counts")
              .cpu_only("fills a table for each pair of sequences sequentially")
              .kernel_for_any<EditDistanceKernel>());
}

}  // namespace paddle_mini
