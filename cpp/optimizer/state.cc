// Implements the writer and the reader of states.
#include "optimizer/state.h"

#include "optimizer/checksum.h"

namespace paddle_mini {
namespace {

uint64_t checksum(const char* bytes, size_t size) {
  Checksum sum;
  sum.add(bytes, size);
  return sum.value();
}

}  // namespace

void StateWriter::append(const void* from, size_t bytes) {
  require<ProgramError>(bytes <= static_cast<size_t>(end_ - at_), "the state is larger than it was a moment ago");
  if (bytes) std::memcpy(at_, from, bytes);
  at_ += bytes;
}

void StateWriter::finish() { write(checksum(begin_, static_cast<size_t>(at_ - begin_))); }

StateReader::StateReader(std::string_view bytes) : left_(bytes) {
  uint64_t written = 0;
  require<ProgramError>(bytes.size() > sizeof written, "the state has ", bytes.size(), " bytes: it is cut off");
  left_.remove_suffix(sizeof written);
  std::memcpy(&written, bytes.data() + left_.size(), sizeof written);
  bool whole = written == checksum(left_.data(), left_.size());
  require<ProgramError>(whole, "the state is damaged: its checksum is wrong");
}

void StateReader::take(void* to, size_t bytes) {
  require<ProgramError>(bytes <= left_.size(), "the state ends too early");
  if (bytes) std::memcpy(to, left_.data(), bytes);
  left_.remove_prefix(bytes);
}

void StateReader::finish() const {
  require<ProgramError>(left_.empty(), "the state has ", left_.size(), " bytes too many");
}

}  // namespace paddle_mini
