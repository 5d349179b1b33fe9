// Frame: the values of one run of a block, by name. Frames link to the frames of the enclosing blocks.
#pragma once

#include <string>
#include <unordered_map>

#include "core/variable.h"

namespace paddle_mini {

// A value in a frame is never written again, only replaced, so memory that is shared with it keeps its content.
// Persistable variables are in the Scope instead.
class Frame {
 public:
  explicit Frame(int block = 0, Frame* outer = nullptr) : block_(block), outer_(outer) {}
  Frame(const Frame&) = delete;
  Frame& operator=(const Frame&) = delete;

  Variable* own(const std::string& name) {
    auto it = values_.find(name);
    return it == values_.end() ? nullptr : &it->second;
  }
  // Looks here, then in the enclosing frames from the nearest on; nullptr if none has the name.
  Variable* find(const std::string& name) {
    for (Frame* frame = this; frame; frame = frame->outer_) {
      if (Variable* held = frame->own(name)) return held;
    }
    return nullptr;
  }
  Variable& operator[](const std::string& name) { return values_[name]; }

  int block() const { return block_; }  // the block that ran in this frame last
  void set_block(int block) { block_ = block; }
  Frame* outer() const { return outer_; }

 private:
  int block_;
  Frame* outer_;
  std::unordered_map<std::string, Variable> values_;
};

}  // namespace paddle_mini
