// beam_search: selects the beam_size best candidates that extend the beams of each source
#include <cmath>

#include "core/op_table.h"
#include "math/lod_levels.h"
#include "math/sequences.h"

namespace paddle_mini {
namespace {

template <class T>
struct Candidate {
  int64_t prefix;  // the row that it extends
  int64_t id;
  T score;

  // Among candidates with equal scores, the one of the later row is better.
  bool operator<(const Candidate& o) const { return score < o.score || (score == o.score && prefix < o.prefix); }
};

template <class T>
struct Beams {
  std::vector<int64_t> sources;                // offsets of each source's prefixes
  std::vector<std::vector<Candidate<T>>> out;  // extensions of each prefix
};

// Keeps the best `size` candidates in `beam`, the best first. As in PaddlePaddle, a candidate that equals the last one
// of a full beam replaces it.
template <class T>
void insert(std::vector<Candidate<T>>& beam, const Candidate<T>& item, size_t size) {
  if (beam.size() == size && item < beam.back()) return;
  if (beam.size() == size) beam.pop_back();
  auto place = beam.end();
  while (place != beam.begin() && *(place - 1) < item) --place;
  beam.insert(place, item);
}

template <class T>
Beams<T> search(const OpDesc& op, const Tensor& pre_ids, const Tensor& pre_scores, const Tensor* ids,
                const Tensor& scores) {
  auto size = static_cast<size_t>(attr_of<int32_t>(op, "beam_size"));
  int64_t end_id = attr_of<int32_t>(op, "end_id");
  bool accumulated = attr_of<bool>(op, "is_accumulated");
  Beams<T> beams{row_offsets(scores.lod, static_cast<size_t>(attr_of<int32_t>(op, "level"))), {}};
  beams.out.resize(static_cast<size_t>(scores.shape[0]));
  int64_t width = scores.shape.numel(1, scores.shape.rank());
  const int64_t *last = pre_ids.as<int64_t>(), *given = ids ? ids->as<int64_t>() : nullptr;
  std::vector<Candidate<T>> best;
  for (size_t source = 0; source + 1 < beams.sources.size(); ++source) {
    best.clear();
    bool all_ended = true;
    for (int64_t prefix = beams.sources[source]; prefix < beams.sources[source + 1]; ++prefix) {
      T before = pre_scores.as<T>()[prefix];
      // A finished sentence stays as it is.
      if (last[prefix] == end_id) insert(best, {prefix, end_id, before}, size);
      for (int64_t at = prefix * width; last[prefix] != end_id && at < (prefix + 1) * width; ++at) {
        T score = scores.as<T>()[at];
        if (!accumulated) score = before + std::log(score);
        insert(best, {prefix, given ? given[at] : at - prefix * width, score}, size);
      }
    }
    for (const auto& one : best) all_ended = all_ended && one.id == end_id && last[one.prefix] == end_id;
    // A source whose sentences have all ended is finished.
    if (all_ended) continue;
    for (const auto& one : best) beams.out[static_cast<size_t>(one.prefix)].push_back(one);
  }
  return beams;
}

template <class T>
struct BeamSearchKernel : Kernel {
  const OpDesc& op;
  In<int64_t> pre_ids;
  In<T> pre_scores, scores;
  const Variable* ids;
  Out<int64_t> selected_ids;
  Out<T> selected_scores;
  Variable* parent_idx;

  explicit BeamSearchKernel(KernelInit& init)
      : op(init.op()), pre_ids(init, "pre_ids"), pre_scores(init, "pre_scores"), scores(init, "scores"),
        ids(init.input("ids")), selected_ids(init, "selected_ids"), selected_scores(init, "selected_scores"),
        parent_idx(init.output("parent_idx")) {}

  void run(KernelContext&) override {
    auto beams = search<T>(op, pre_ids.variable().tensor, pre_scores.variable().tensor, ids ? &ids->tensor : nullptr,
                           scores.variable().tensor);
    int64_t row = 0;
    for (const auto& one_prefix : beams.out) {
      for (const auto& one : one_prefix) {
        selected_ids[row] = one.id;
        selected_scores[row] = one.score;
        if (parent_idx) parent_idx->tensor.as<int32_t>()[row] = static_cast<int32_t>(one.prefix);
        ++row;
      }
    }
  }
};

template <class T>
Lod selected_lod(const InferContext& c) {
  auto beams = search<T>(c.op(), c.value("pre_ids")->tensor, c.value("pre_scores")->tensor,
                         c.has_input("ids") ? &c.value("ids")->tensor : nullptr, c.value("scores")->tensor);
  std::vector<int64_t> low{0};
  for (const auto& one_prefix : beams.out) low.push_back(low.back() + static_cast<int64_t>(one_prefix.size()));
  return {beams.sources, low};
}

void require_beams(const InferContext& c) {
  const VarInfo& scores = c.input("scores");
  DType dtype = scores.dtype;
  require<ShapeError>(scores.shape.rank() > 0, "scores has no dimensions");
  require<ShapeError>(dtype == DType::Float32 || dtype == DType::Float64, "scores is ", name_of(dtype),
                      ", it must be float32 or float64");
  require_same_dtype(c, "pre_scores", "scores");
  require<ShapeError>(c.input("pre_ids").dtype == DType::Int64, "pre_ids is ", name_of(c.input("pre_ids").dtype),
                      ", it must be int64");
  for (const char* port : {"pre_ids", "pre_scores"}) {
    const Shape& shape = c.shape(port);
    require<ShapeError>(dims_agree(shape.numel(0, shape.rank()), scores.shape[0]), port, " has shape ", shape.str(),
                        ", scores has ", scores.shape.str());
  }
  if (c.has_input("ids")) {
    require<ShapeError>(c.input("ids").dtype == DType::Int64, "ids is ", name_of(c.input("ids").dtype),
                        ", it must be int64");
    require_same_shape(c, "ids", "scores");
  }
  bool open = !sequences(c, "scores");
  int32_t level = c.attr<int32_t>("level");
  require<ShapeError>(open || level < static_cast<int32_t>(scores.lod.size()), "attribute 'level' is ", level,
                      ", scores has ", scores.lod.size(), " levels of sequences (lod)");
}

void infer_beam_search(InferContext& c) {
  require_beams(c);
  VarInfo selected{VarKind::Tensor, DType::Int64, Shape{-1, 1}};
  selected.lod_level = 2;
  if (c.value("scores")) {
    selected.lod = c.input("scores").dtype == DType::Float64 ? selected_lod<double>(c) : selected_lod<float>(c);
    selected.shape[0] = selected.lod.back().back();
  }
  c.set_output("selected_ids", selected);
  c.set_output("parent_idx", DType::Int32, Shape{selected.shape[0]});
  selected.dtype = c.input("scores").dtype;
  c.set_output("selected_scores", selected);
}

}  // namespace

void define_beam_search(OpTable& ops) {
  ops.add(
      OpSchema("beam_search")
          .doc("One step of a beam search. Rows are prefixes, grouped by source. The operator selects the beam_size "
               "best of all candidates that extend a source's prefixes. The only candidate of a finished prefix is the "
               "prefix itself, and a source whose selected sentences have all finished earlier has no more rows. The "
               "number of rows depends on data.")
          .input("pre_ids", "int64 [n, 1]: the last word of each prefix")
          .input("pre_scores", "[n, 1]: the score of each prefix")
          .optional_input("ids", "int64 [n, k]: the candidates of each prefix; if omitted, the column numbers")
          .input("scores", "[n, k]: the scores of the candidates; the lod level `level` groups the prefixes by source")
          .output(
              "selected_ids",
              "int64 [m, 1]; lod level 0: the prefixes of each source; level 1: the selected candidates of each prefix")
          .output("selected_scores", "[m, 1], with the same sequences")
          .optional_output("parent_idx", "int32 [m]: the row of the prefix of each candidate")
          .required_attr("level", AttrType::Int, "the lod level of scores that groups by source", between(0, 7))
          .required_attr("beam_size", AttrType::Int, "the number of candidates selected for each source", at_least(1))
          .required_attr("end_id", AttrType::Int, "the id that ends a sentence")
          .attr("is_accumulated", true,
                "false: a score is a probability, and its logarithm is added to the prefix's score")
          .infer(infer_beam_search)
          .custom_lod()
          .dtype_from_input("scores")
          .no_gradient("its output is a selection")
          .cpu_only("its result's size depends on data")
          .kernels<BeamSearchKernel, float, double>());
}

}  // namespace paddle_mini
