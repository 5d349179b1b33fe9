// infer: kind, dtype and shape of every variable of one run, and where each comes from.
#pragma once

#include "core/frame.h"
#include "core/scope.h"
#include "executor/segment.h"

namespace paddle_mini {

struct Feed {
  std::string name;
  VarInfo info;
};

// Where a segment begins and what is there by then.
struct SegmentStart {
  int block = 0, begin = 0;
  const std::vector<Feed>* feeds = nullptr;  // of the caller; where there is a frame, they are in it
  Frame* frame = nullptr;
  const std::vector<std::string>* fetches = nullptr;  // of the caller
};

// The segment that begins at `start`. Shapes are worked out from the feeds, the frame and what the scope holds. Refuses a
// missing, unknown or unfit feed, an unknown fetch, a variable without value, and whatever an operator's record refuses.
Segment infer(const std::shared_ptr<const VerifiedProgram>& program, const SegmentStart& start, const Scope& scope);

}  // namespace paddle_mini
