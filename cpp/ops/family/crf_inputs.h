// Inputs of linear_chain_crf and crf_decoding: sequences of rows with a score for each tag, and transition weights.
#pragma once

#include "math/row_spans.h"

namespace paddle_mini {

// Throws if the inputs do not match. Returns the number of sequences, -1 if unknown.
inline int64_t require_crf_inputs(const InferContext& c) {
  const Shape &emission = c.shape("Emission"), &transition = c.shape("Transition");
  bool padded = c.has_input("Length");
  require_rank(c, "Emission", padded ? 3 : 2);
  require_rank(c, "Transition", 2);
  require_same_dtype(c, "Transition", "Emission");
  int64_t tags = emission[emission.rank() - 1];
  require<ShapeError>(tags != 0, "Emission has shape ", emission.str(), ": it needs at least one tag");
  bool fits = dims_agree(transition[1], tags) && (tags < 0 || dims_agree(transition[0], tags + 2)) &&
              (transition[0] < 0 || transition[0] >= 2);
  require<ShapeError>(fits, "Transition has shape ", transition.str(), ", with Emission ", emission.str(),
                      " it must be [tags + 2, tags]");
  if (c.has_input("Label")) {
    require_index(c, "Label");
    const Shape& label = c.shape("Label");
    int64_t rows = emission.numel(0, emission.rank() - 1);
    require<ShapeError>(dims_agree(label.numel(0, label.rank()), rows), "Label has shape ", label.str(),
                        ", with Emission ", emission.str(), " it must have one element for each row");
  }
  if (!padded) return sequence_count(c, "Emission");
  require_lengths(c, "Length", emission[0]);
  return emission[0];
}

}  // namespace paddle_mini
