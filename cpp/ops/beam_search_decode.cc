// beam_search_decode: complete sentences, traced back through the steps of a beam search
#include <algorithm>
#include <cstring>

#include "core/op_table.h"
#include "core/outside_values.h"

namespace paddle_mini {
namespace {

// Words and scores in reverse order: the last word comes first.
struct Sentence {
  std::vector<int64_t> ids;
  std::vector<double> scores;
};

// One step. Level 0 of the lod groups the prefixes by source; level 1 groups the rows by the prefix that they extend.
struct Step {
  const Tensor &ids, &scores;

  Step(const Tensor& step_ids, const Tensor& step_scores, size_t i) : ids(step_ids), scores(step_scores) {
    require<OpError>(ids.data && scores.data, "element ", i, " of Ids or Scores has no value");
    require<ShapeError>(ids.dtype == DType::Int64, "element ", i, " of Ids is ", name_of(ids.dtype),
                        ", it must be int64");
    bool number = scores.dtype == DType::Float32 || scores.dtype == DType::Float64;
    require<ShapeError>(number, "element ", i, " of Scores is ", name_of(scores.dtype),
                        ", it must be float32 or float64");
    check_lod(ids.lod, ids.shape, "Ids");
    require<ShapeError>(ids.lod.size() == 2, "element ", i, " of Ids has ", ids.lod.size(),
                        " levels of sequences (lod), it must have 2");
    bool fits = ids.lod[1].back() == ids.shape.numel() && ids.shape.numel() == scores.shape.numel();
    require<ShapeError>(fits, "element ", i, " of Ids has shape ", ids.shape.str(), ", of Scores ", scores.shape.str(),
                        ", which do not fit their sequences (lod)");
  }

  size_t sources() const { return ids.lod[0].size() - 1; }
  int64_t rows() const { return ids.shape.numel(); }
  double score(int64_t row) const {
    return scores.dtype == DType::Float64 ? scores.as<double>()[row] : static_cast<double>(scores.as<float>()[row]);
  }
  void add(int64_t row, Sentence& sentence) const {
    sentence.ids.push_back(ids.as<int64_t>()[row]);
    sentence.scores.push_back(score(row));
  }
  int64_t prefix_of(int64_t row) const {
    const auto& offsets = ids.lod[1];
    return std::upper_bound(offsets.begin(), offsets.end(), row) - offsets.begin() - 1;
  }
};

// Traces the beams of one source from the last step that has any to the first step.
std::vector<Sentence> trace(const std::vector<Step>& steps, size_t source, size_t beam_size, int64_t end_id) {
  std::vector<Sentence> sentences(beam_size);
  std::vector<int64_t> rows;  // each sentence's row in the step to visit next
  for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
    if (rows.empty()) {
      const auto &high = step->ids.lod[0], &low = step->ids.lod[1];
      int64_t begin = low[static_cast<size_t>(high[source])], end = low[static_cast<size_t>(high[source + 1])];
      require<OpError>(end - begin <= static_cast<int64_t>(beam_size), "source ", source, " has ", end - begin,
                       " sentences, more than beam_size, ", beam_size);
      for (int64_t row = begin; row < end; ++row) {
        step->add(row, sentences[rows.size()]);
        rows.push_back(step->prefix_of(row));
      }
      continue;
    }
    for (size_t i = 0; i < rows.size(); ++i) {
      require<OpError>(rows[i] < step->rows(), "a sentence of source ", source, " continues from row ", rows[i],
                       " of a step with ", step->rows(), " rows");
      // Stores the end token once, even if it is repeated.
      if (step->ids.as<int64_t>()[rows[i]] != end_id || sentences[i].ids.empty()) step->add(rows[i], sentences[i]);
      rows[i] = step->prefix_of(rows[i]);
    }
  }
  // Sorts by the score of the last word, the best first; empty sentences come last.
  std::stable_sort(sentences.begin(), sentences.end(), [](const Sentence& a, const Sentence& b) {
    if (a.ids.empty() || b.ids.empty()) return !a.ids.empty() && b.ids.empty();
    return a.scores.front() > b.scores.front();
  });
  return sentences;
}

void write_reversed(const Sentence& sentence, int64_t at, Tensor& ids, Tensor& scores) {
  std::copy(sentence.ids.rbegin(), sentence.ids.rend(), ids.as<int64_t>() + at);
  for (size_t i = 0; i < sentence.scores.size(); ++i) {
    double score = sentence.scores[sentence.scores.size() - 1 - i];
    if (scores.dtype == DType::Float64) scores.as<double>()[at + static_cast<int64_t>(i)] = score;
    else scores.as<float>()[at + static_cast<int64_t>(i)] = static_cast<float>(score);
  }
}

void run_beam_search_decode(ControlRun& run) {
  const std::vector<Tensor>&ids = run.input("Ids").array, &scores = run.input("Scores").array;
  require<OpError>(!ids.empty() && ids.size() == scores.size(), "Ids has ", ids.size(), " elements, Scores ",
                   scores.size());
  std::vector<Step> steps;
  for (size_t i = 0; i < ids.size(); ++i) {
    steps.emplace_back(ids[i], scores[i], i);
    require<ShapeError>(steps[i].sources() == steps[0].sources() && scores[i].dtype == scores[0].dtype, "element ", i,
                        " differs from element 0 in its sources or in the type of its scores");
  }
  std::vector<Sentence> sentences;
  Lod lod{{0}, {0}};
  auto beam_size = static_cast<size_t>(run.attr<int32_t>("beam_size"));
  for (size_t source = 0; source < steps[0].sources(); ++source) {
    for (Sentence& sentence : trace(steps, source, beam_size, run.attr<int32_t>("end_id"))) {
      lod[1].push_back(lod[1].back() + static_cast<int64_t>(sentence.ids.size()));
      sentences.push_back(std::move(sentence));
    }
    lod[0].push_back(static_cast<int64_t>(sentences.size()));
  }
  Tensor all_ids = new_tensor(DType::Int64, Shape{lod[1].back()});
  Tensor all_scores = new_tensor(scores[0].dtype, Shape{lod[1].back()});
  all_ids.lod = all_scores.lod = lod;
  for (size_t i = 0; i < sentences.size(); ++i) write_reversed(sentences[i], lod[1][i], all_ids, all_scores);
  run.set_output("SentenceIds", 0, tensor_variable(all_ids));
  run.set_output("SentenceScores", 0, tensor_variable(all_scores));
}

}  // namespace

void define_beam_search_decode(OpTable& ops) {
  ops.add(OpSchema("beam_search_decode")
              .doc("Traces the sentences of a beam search back through its steps. Each source has beam_size sentences "
                   "in descending order of their last score; missing sentences are empty.")
              .input("Ids", "a tensor array: selected_ids of each beam_search")
              .input("Scores", "a tensor array: selected_scores of each beam_search")
              .output("SentenceIds",
                      "int64 [n]; lod level 0: the sentences of each source; level 1: the words of each sentence")
              .output("SentenceScores", "[n], with the same sequences: the score of each word")
              .required_attr("beam_size", AttrType::Int, "the maximum number of sentences of a source",
                             between(1, 1 << 20))
              .required_attr("end_id", AttrType::Int, "the id that ends a sentence")
              .no_gradient("its output is a selection")
              .cpu_only("traces beams back through steps whose sizes depend on data")
              .control(&run_beam_search_decode));
}

}  // namespace paddle_mini
