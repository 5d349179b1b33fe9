// Frame: the values that one run of a block has by name; the frames of the blocks around it are behind it.
#pragma once

#include <string>
#include <unordered_map>

#include "core/variable.h"

namespace paddle_mini {

// A value in a frame is never written again, only replaced: whoever shares its memory keeps what it
// had. Persistable variables are not here but in the Scope.
class Frame {
 public:
  explicit Frame(int block = 0, Frame* outer = nullptr) : block_(block), outer_(outer) {}
  Frame(const Frame&) = delete;
  Frame& operator=(const Frame&) = delete;

  Variable* own(const std::string& name) {
    auto it = values_.find(name);
    return it == values_.end() ? nullptr : &it->second;
  }
  // Here, or in the nearest frame around it; nullptr when there is none.
  Variable* find(const std::string& name) {
    for (Frame* frame = this; frame; frame = frame->outer_) {
      if (Variable* held = frame->own(name)) return held;
    }
    return nullptr;
  }
  Variable& operator[](const std::string& name) { return values_[name]; }

  int block() const { return block_; }  // whose operators ran here last
  void set_block(int block) { block_ = block; }
  Frame* outer() const { return outer_; }

 private:
  int block_;
  Frame* outer_;
  std::unordered_map<std::string, Variable> values_;
};

}  // namespace paddle_mini
