// Implements Snapshot.
#include "optimizer/snapshot.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "core/error.h"

namespace paddle_mini {

Snapshot::~Snapshot() {
  for (Part& part : parts_) {
    if (!part.copies) continue;
    for (size_t page = 0; page * kPage < part.bytes; ++page) std::free(part.copies[page]);
    std::free(part.copies);
  }
}

void Snapshot::append(const void* from, size_t bytes) {
  bool goes_on = !parts_.empty() && !parts_.back().memory;
  if (!goes_on) parts_.push_back({nullptr, nullptr, size_, 0, nullptr});
  numbers_.append(static_cast<const char*>(from), bytes);
  parts_.back().bytes += bytes;
  size_ += bytes;
}

void Snapshot::append_array(std::shared_ptr<void> memory, const void* data, size_t bytes) {
  if (!bytes) return;
  parts_.push_back({std::move(memory), static_cast<const char*>(data), size_, bytes, nullptr});
  size_ += bytes;
}

void Snapshot::finish() {
  const char* next = numbers_.data();  // which grows no more
  for (Part& part : parts_) {
    if (part.memory) continue;
    part.data = next;
    next += part.bytes;
  }
  size_ += sizeof(uint64_t);
}

Snapshot::Part* Snapshot::part_of(const void* data) {
  for (size_t i = first_part_; i < parts_.size(); ++i) {
    if (parts_[i].memory && parts_[i].data == data) return &parts_[i];
  }
  return nullptr;
}

void Snapshot::keep(Part& part, size_t begin, size_t bytes) {
  if (!bytes) return;
  size_t done = read_ > part.begin ? read_ - part.begin : 0;
  size_t first = std::max(begin, done) / kPage, end = (begin + bytes + kPage - 1) / kPage;
  if (begin + bytes <= done) return;
  if (!part.copies) {
    part.copies = static_cast<char**>(std::calloc((part.bytes + kPage - 1) / kPage, sizeof(char*)));
    if (!part.copies) throw std::bad_alloc();
  }
  for (size_t page = first; page < end; ++page) {
    if (part.copies[page]) continue;
    size_t at = page * kPage, count = std::min(kPage, part.bytes - at);
    char* copy = static_cast<char*>(std::malloc(count));
    if (!copy) throw std::bad_alloc();
    std::memcpy(copy, part.data + at, count);
    part.copies[page] = copy;
  }
}

void Snapshot::read_part(Part& part, size_t at, char* to, size_t bytes) {
  if (!part.copies) {
    std::memcpy(to, part.data + at, bytes);
    return;
  }
  for (size_t count; bytes > 0; at += count, to += count, bytes -= count) {
    size_t page = at / kPage, inside = at % kPage;
    count = std::min(bytes, kPage - inside);
    char*& copy = part.copies[page];
    std::memcpy(to, copy ? copy + inside : part.data + at, count);
    if (inside + count == std::min(kPage, part.bytes - page * kPage)) {
      std::free(copy);
      copy = nullptr;
    }
  }
}

size_t Snapshot::read_some(char* to, size_t most) {
  std::lock_guard<std::mutex> lock(mutex_);
  Part& part = parts_[first_part_];
  size_t at = read_ - part.begin, count = std::min(most, part.bytes - at);
  read_part(part, at, to, count);
  read_ += count;
  if (at + count < part.bytes) return count;
  std::free(part.copies);
  part.copies = nullptr;
  part.memory = nullptr;
  ++first_part_;
  return count;
}

void Snapshot::read(void* to, size_t size) {
  require<ProgramError>(size <= size_ - read_, "the state has ", size_ - read_, " more bytes, not ", size);
  char* out = static_cast<char*>(to);
  while (size > 0 && first_part_ < parts_.size()) {
    size_t count = read_some(out, std::min(size, kAtOnce));
    sum_.add(out, count);
    out += count, size -= count;
  }
  if (!size) return;
  uint64_t sum = sum_.value();
  size_t begin = sizeof sum - (size_ - read_);
  std::memcpy(out, reinterpret_cast<const char*>(&sum) + begin, size);
  read_ += size;
}

}  // namespace paddle_mini
