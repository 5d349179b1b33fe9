// signature: a program with the names of what is fed and what is fetched.
#pragma once

#include <memory>

#include "executor/verify.h"

namespace paddle_mini {

// Made once for calls that differ in nothing but values and scope: they then find their session by its address.
class Signature {
 public:
  // OpError for a fetch whose kind of variable can't be fetched. The names themselves are checked when a plan is made.
  Signature(std::shared_ptr<const VerifiedProgram> program, std::vector<std::string> feeds,
            std::vector<std::string> fetches);

  const std::shared_ptr<const VerifiedProgram>& program() const { return program_; }
  const std::vector<std::string>& feeds() const { return feeds_; }
  const std::vector<std::string>& fetches() const { return fetches_; }
  void require_feeds(size_t count) const;  // ProgramError where that is another number of feeds
  bool operator==(const Signature& other) const {
    return program_ == other.program_ && feeds_ == other.feeds_ && fetches_ == other.fetches_;
  }

 private:
  std::shared_ptr<const VerifiedProgram> program_;
  std::vector<std::string> feeds_, fetches_;
};

}  // namespace paddle_mini
