// chunk_eval: precision, recall and F1 of the chunks that tags mark
#include <set>

#include "core/op_table.h"
#include "math/row_spans.h"

namespace paddle_mini {
namespace {

// A label is chunk type * number of tags + tag; the type after the last one marks labels outside of all chunks. A tag
// that a scheme lacks is -1.
struct ChunkScheme {
  int64_t tags;
  int64_t begin, inside, end, single;
  int64_t outside = 0;  // the type of labels outside of all chunks

  bool ends(int64_t previous_tag, int64_t previous_type, int64_t tag, int64_t type) const {
    if (previous_type == outside) return false;
    if (type != previous_type) return true;  // also if `type` is outside
    if (previous_tag == begin || previous_tag == inside) return tag == begin || tag == single;
    return previous_tag == end || previous_tag == single;
  }
  bool begins(int64_t previous_tag, int64_t previous_type, int64_t tag, int64_t type) const {
    if (type == outside) return false;
    if (previous_type != type) return true;
    if (tag == begin || tag == single) return true;
    return (tag == inside || tag == end) && (previous_tag == end || previous_tag == single);
  }
};

ChunkScheme scheme_of(const std::string& name) {
  if (name == "IOB") return {2, 0, 1, -1, -1};
  if (name == "IOE") return {2, -1, 0, 1, -1};
  if (name == "IOBES") return {4, 0, 1, 2, 3};
  return {1, -1, -1, -1, -1};  // plain
}

struct Chunk {
  int64_t begin, last, type;
  bool operator==(const Chunk& o) const { return begin == o.begin && last == o.last && type == o.type; }
};

void find_chunks(const IndexIn& labels, int64_t row, int64_t length, const ChunkScheme& scheme,
                 std::vector<Chunk>& chunks) {
  chunks.clear();
  bool inside = false;
  int64_t begin = 0, tag = -1, type = scheme.outside;
  for (int64_t i = 0; i < length; ++i) {
    int64_t previous_tag = tag, previous_type = type, label = labels[row + i];
    tag = label % scheme.tags, type = label / scheme.tags;
    if (inside && scheme.ends(previous_tag, previous_type, tag, type)) {
      chunks.push_back({begin, i - 1, previous_type});
      inside = false;
    }
    if (scheme.begins(previous_tag, previous_type, tag, type)) begin = i, inside = true;
  }
  if (inside) chunks.push_back({begin, length - 1, type});
}

struct ChunkEvalKernel : Kernel {
  IndexIn inference, label;
  Out<float> precision, recall, f1;
  Out<int64_t> inferred, labeled, correct;
  RowSpans spans;
  ChunkScheme scheme;
  std::set<int64_t> excluded;
  std::vector<Chunk> found, wanted;

  explicit ChunkEvalKernel(KernelInit& init)
      : inference(init, "Inference"), label(init, "Label"), precision(init, "Precision"), recall(init, "Recall"),
        f1(init, "F1-Score"), inferred(init, "NumInferChunks"), labeled(init, "NumLabelChunks"),
        correct(init, "NumCorrectChunks"), spans(init, "Inference", "SeqLength"),
        scheme(scheme_of(init.attr<std::string>("chunk_scheme"))) {
    scheme.outside = init.attr<int32_t>("num_chunk_types");
    const auto& types = init.attr<std::vector<int32_t>>("excluded_chunk_types");
    excluded.insert(types.begin(), types.end());
    found.reserve(static_cast<size_t>(spans.longest()));
    wanted.reserve(static_cast<size_t>(spans.longest()));
  }

  void run(KernelContext&) override {
    spans.refresh();
    check(inference, "Inference");
    check(label, "Label");
    inferred[0] = labeled[0] = correct[0] = 0;
    for (int64_t s = 0; s < spans.count(); ++s) {
      find_chunks(inference, spans.begin(s), spans.length(s), scheme, found);
      find_chunks(label, spans.begin(s), spans.length(s), scheme, wanted);
      for (const Chunk& chunk : found) inferred[0] += !excluded.count(chunk.type);
      for (const Chunk& chunk : wanted) labeled[0] += !excluded.count(chunk.type);
      count_correct();
    }
    precision[0] = ratio(correct[0], inferred[0]);
    recall[0] = ratio(correct[0], labeled[0]);
    f1[0] = correct[0] ? 2 * precision[0] * recall[0] / (precision[0] + recall[0]) : 0;
  }

  void check(const IndexIn& labels, const char* port) const {
    int64_t most = scheme.outside * scheme.tags;
    for (int64_t s = 0; s < spans.count(); ++s) {
      for (int64_t i = spans.begin(s); i < spans.begin(s) + spans.length(s); ++i) {
        require<OpError>(labels[i] >= 0 && labels[i] <= most, port, " has label ", labels[i], " in row ", i,
                         ", it must be from 0 to ", most);
      }
    }
  }

  void count_correct() {
    for (size_t i = 0, j = 0; i < found.size() && j < wanted.size();) {
      if (found[i] == wanted[j] && !excluded.count(found[i].type)) ++correct[0];
      int64_t left = found[i].last, right = wanted[j].last;
      i += left <= right;
      j += right <= left;
    }
  }

  static float ratio(int64_t part, int64_t whole) {
    return whole ? static_cast<float>(part) / static_cast<float>(whole) : 0.0f;
  }
};

void infer_chunk_eval(InferContext& c) {
  require_index(c, "Inference");
  require_index(c, "Label");
  const Shape &inference = c.shape("Inference"), &label = c.shape("Label");
  int64_t rows = inference.numel(0, inference.rank());
  require<ShapeError>(dims_agree(rows, label.numel(0, label.rank())), "Label has shape ", label.str(),
                      ", Inference has ", inference.str());
  if (c.has_input("SeqLength")) {
    bool flat = inference.rank() == 2 || (inference.rank() == 3 && dims_agree(inference[2], 1));
    require<ShapeError>(flat, "Inference has shape ", inference.str(),
                        ", with SeqLength it must be [count, width] or [count, width, 1]");
    require_lengths(c, "SeqLength", inference[0]);
  } else {
    require<ShapeError>(inference.rank() > 0 && (rows < 0 || rows == inference[0]), "Inference has shape ",
                        inference.str(), ", it must be [n] or [n, 1]");
    sequence_count(c, "Inference");
    const Lod &one = c.input("Inference").lod, &other = c.input("Label").lod;
    require<ShapeError>(one.empty() || (!other.empty() && one.back() == other.back()),
                        "Label and Inference have different sequences (lod)");
  }
  for (const char* port : {"Precision", "Recall", "F1-Score"}) c.set_output(port, DType::Float32, Shape{1});
  for (const char* port : {"NumInferChunks", "NumLabelChunks", "NumCorrectChunks"}) {
    c.set_output(port, DType::Int64, Shape{1});
  }
}

}  // namespace

void define_chunk_eval(OpTable& ops) {
  ops.add(
      OpSchema("chunk_eval")
          .doc("Tags mark chunks, such as names in a sentence: a label is chunk type * tags of the scheme + tag; the "
               "largest label is outside of all chunks. Precision = correct / inferred chunks, Recall = correct / "
               "labeled chunks, F1-Score = 2 Precision Recall / (Precision + Recall); 0 where a divisor is 0.")
          .input("Inference", "int32 or int64 [n, 1] in sequences (lod); with SeqLength, [count, width]")
          .input("Label", "like Inference: the true labels")
          .optional_input("SeqLength", "int32 or int64: the lengths of padded sequences")
          .output("Precision", "float32 [1]")
          .output("Recall", "float32 [1]")
          .output("F1-Score", "float32 [1]")
          .output("NumInferChunks", "int64 [1]: chunks in Inference")
          .output("NumLabelChunks", "int64 [1]: chunks in Label")
          .output("NumCorrectChunks", "int64 [1]: chunks in both")
          .required_attr("num_chunk_types", AttrType::Int, "the number of chunk types", at_least(0))
          .attr("chunk_scheme", "IOB",
                "IOB: begin, inside; IOE: inside, end; IOBES: begin, inside, end, single; "
                "plain: one tag",
                one_of({"IOB", "IOE", "IOBES", "plain"}))
          .attr("excluded_chunk_types", std::vector<int32_t>{}, "types that are not counted")
          .infer(infer_chunk_eval)
          .custom_lod()
          .checks_data()
          .no_gradient("it counts")
          .cpu_only("processes sequences of labels one after the other")
          .kernel_for_any<ChunkEvalKernel>());
}

}  // namespace paddle_mini
