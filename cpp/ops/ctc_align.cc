// ctc_align: Output = the tokens of each sequence without repeats and blanks
#include "core/op_table.h"
#include "math/row_spans.h"

namespace paddle_mini {
namespace {

// Calls f(token) for each token that remains.
template <class T, class F>
void align(const T* tokens, int64_t length, int32_t blank, bool merge_repeated, F f) {
  for (int64_t i = 0; i < length; ++i) {
    bool repeated = merge_repeated && i > 0 && tokens[i] == tokens[i - 1];
    if (tokens[i] != blank && !repeated) f(tokens[i]);
  }
}

template <class T>
struct CtcAlignKernel : Kernel {
  In<T> input;
  Out<T> output;
  Variable* output_length;
  RowSpans spans;
  int32_t blank;
  bool merge_repeated;
  T padding;

  explicit CtcAlignKernel(KernelInit& init)
      : input(init, "Input"), output(init, "Output"), output_length(init.output("OutputLength")),
        spans(init, "Input", "InputLength"), blank(init.attr<int32_t>("blank")),
        merge_repeated(init.attr<bool>("merge_repeated")),
        padding(static_cast<T>(init.attr<int32_t>("padding_value"))) {}

  void run(KernelContext&) override {
    spans.refresh();
    std::fill_n(output.data(), output.numel(), spans.padded() ? padding : T(-1));
    T* next = output.data();
    for (int64_t s = 0; s < spans.count(); ++s) {
      T* begin = spans.padded() ? output.data() + spans.begin(s) : next;
      next = begin;
      align(input.data() + spans.begin(s), spans.length(s), blank, merge_repeated, [&](T token) { *next++ = token; });
      if (output_length) set_length(s, next - begin);
    }
  }

  void set_length(int64_t s, int64_t length) {
    if (output_length->tensor.dtype == DType::Int64) output_length->tensor.as<int64_t>()[s] = length;
    else output_length->tensor.as<int32_t>()[s] = static_cast<int32_t>(length);
  }
};

// Returns the offsets of the aligned sequences.
template <class T>
std::vector<int64_t> aligned_offsets(const InferContext& c, const Tensor& input) {
  std::vector<int64_t> offsets{0};
  const auto& from = input.lod.back();
  for (size_t s = 0; s + 1 < from.size(); ++s) {
    offsets.push_back(offsets.back());
    align(input.as<T>() + from[s], from[s + 1] - from[s], c.attr<int32_t>("blank"), c.attr<bool>("merge_repeated"),
          [&](T) { ++offsets.back(); });
  }
  return offsets;
}

void infer_padded(InferContext& c) {
  const Shape& input = c.shape("Input");
  require_rank(c, "Input", 2);
  require_lengths(c, "InputLength", input[0]);
  c.set_output("Output", c.input("Input").dtype, input);
  c.set_output("OutputLength", c.input("InputLength").dtype, Shape{input[0], 1});
}

void infer_ctc_align(InferContext& c) {
  require_index(c, "Input");
  if (c.has_input("InputLength")) return infer_padded(c);
  require<ProgramError>(!c.has_output("OutputLength"), "OutputLength needs InputLength");
  const VarInfo& input = c.input("Input");
  sequence_count(c, "Input");
  bool flat = input.shape.rank() > 0 && dims_agree(input.shape.numel(1, input.shape.rank()), 1);
  require<ShapeError>(flat, "Input has shape ", input.shape.str(), ", it must be [n] or [n, 1]");
  VarInfo output{VarKind::Tensor, input.dtype, Shape{-1, 1}};
  output.lod_level = 1;
  if (const Variable* value = c.value("Input")) {
    std::vector<int64_t> offsets = input.dtype == DType::Int64 ? aligned_offsets<int64_t>(c, value->tensor)
                                                               : aligned_offsets<int32_t>(c, value->tensor);
    bool nothing = offsets.back() == 0;
    output.shape[0] = nothing ? 1 : offsets.back();
    output.lod_level = nothing ? 0 : 1;
    if (!nothing) output.lod = {offsets};
  }
  c.set_output("Output", output);
}

}  // namespace

void define_ctc_align(OpTable& ops) {
  ops.add(OpSchema("ctc_align")
              .doc("Output = the tokens of each sequence without repeats and blanks: [0, 1, 1, 0, 1] becomes [1, 1]. "
                   "If lod gives the sequences, the number of tokens depends on data; if there are none, Output is one "
                   "row of -1 without sequences.")
              .input("Input", "int32 or int64 [n, 1] in sequences (lod); with InputLength, [count, width]")
              .optional_input("InputLength", "int32 or int64: the lengths of padded sequences")
              .output("Output", "[m, 1] in sequences; with InputLength, [count, width], filled up with padding_value")
              .optional_output("OutputLength", "[count, 1], with InputLength: the lengths of the results")
              .attr("blank", 0, "the token for a blank")
              .attr("merge_repeated", true, "whether a token is removed if it equals the previous one")
              .attr("padding_value", 0, "the padding of padded results")
              .infer(infer_ctc_align)
              .custom_lod()
              .checks_data()
              .no_gradient("its output is ids, which are integers")
              .cpu_only("its result's size depends on data")
              .kernels<CtcAlignKernel, int32_t, int64_t>());
}

}  // namespace paddle_mini
