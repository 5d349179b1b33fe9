// infer: computes kind, dtype, shape and origin of every variable of one run.
#pragma once

#include "core/frame.h"
#include "core/scope.h"
#include "executor/segment.h"

namespace paddle_mini {

struct Feed {
  std::string name;
  VarInfo info;
};

// The start of a segment and the values available there.
struct SegmentStart {
  int block = 0, begin = 0;
  const std::vector<Feed>* feeds =
      nullptr;  // given by the caller; unused if there is a frame, which then contains them
  Frame* frame = nullptr;
  const std::vector<std::string>* fetches = nullptr;  // requested by the caller
};

// Infers the segment that begins at `start` from the feeds, the frame and the scope. Throws an Error for a missing,
// unknown or mismatched feed, an unknown fetch, a variable without value, and any violation of an operator's schema.
Segment infer(const std::shared_ptr<const VerifiedProgram>& program, const SegmentStart& start, const Scope& scope);

}  // namespace paddle_mini
