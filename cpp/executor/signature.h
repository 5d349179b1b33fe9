// signature: a program with the names of its feeds and fetches.
#pragma once

#include <memory>

#include "executor/verify.h"

namespace paddle_mini {

// Created once for calls that differ only in values and scope; its address identifies their session.
class Signature {
 public:
  // Throws OpError for a fetch of a kind that can't be fetched. The names are checked when a plan is created.
  Signature(std::shared_ptr<const VerifiedProgram> program, std::vector<std::string> feeds,
            std::vector<std::string> fetches);

  const std::shared_ptr<const VerifiedProgram>& program() const { return program_; }
  const std::vector<std::string>& feeds() const { return feeds_; }
  const std::vector<std::string>& fetches() const { return fetches_; }
  void require_feeds(size_t count) const;  // throws ProgramError if the number differs
  bool operator==(const Signature& other) const {
    return program_ == other.program_ && feeds_ == other.feeds_ && fetches_ == other.fetches_;
  }

 private:
  std::shared_ptr<const VerifiedProgram> program_;
  std::vector<std::string> feeds_, fetches_;
};

}  // namespace paddle_mini
