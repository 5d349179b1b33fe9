// Implements Snapshot.
#include "optimizer/snapshot.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "core/error.h"

namespace paddle_mini {
namespace {

void free_copies(char** copies, size_t pages) {
  if (!copies) return;
  for (size_t page = 0; page < pages; ++page) std::free(copies[page]);
  std::free(copies);
}

}  // namespace

Snapshot::~Snapshot() {
  for (Part& part : parts_) free_copies(part.copies, part.pages());
}

void Snapshot::append(const void* from, size_t bytes) {
  bool goes_on = !parts_.empty() && !parts_.back().memory;
  if (!goes_on) parts_.push_back({nullptr, nullptr, size_, 0, 0});
  numbers_.append(static_cast<const char*>(from), bytes);
  parts_.back().bytes += bytes;
  parts_.back().array_bytes += bytes;
  size_ += bytes;
}

void Snapshot::append_array(std::shared_ptr<void> memory, const void* data, size_t bytes) {
  size_t row_bytes = rows_ && rows_->rows() ? bytes / static_cast<size_t>(rows_->rows()) : 0;
  size_t read = rows_ ? row_bytes * static_cast<size_t>(rows_->count()) : bytes;
  if (!read) return;
  parts_.push_back({std::move(memory), static_cast<const char*>(data), size_, read, bytes, row_bytes});
  size_ += read;
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
  if (!bytes || begin + bytes <= part.done) return;
  if (part.row_bytes == bytes && !rows_->has(static_cast<int64_t>(begin / bytes))) return;
  size_t first = std::max(begin, part.done) / kPage, end = (begin + bytes + kPage - 1) / kPage;
  if (!part.copies) {
    part.copies = static_cast<char**>(std::calloc(part.pages(), sizeof(char*)));
    if (!part.copies) throw std::bad_alloc();
  }
  for (size_t page = first; page < end; ++page) {
    if (part.copies[page]) continue;
    size_t at = page * kPage, count = std::min(kPage, part.array_bytes - at);
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
    if (inside + count == std::min(kPage, part.array_bytes - page * kPage)) {
      std::free(copy);
      copy = nullptr;
    }
  }
}

void Snapshot::read_rows(Part& part, char* to, size_t bytes) {
  for (size_t count; bytes > 0; to += count, bytes -= count) {
    size_t inside = part.done % part.row_bytes;
    if (!inside)
      part.done = static_cast<size_t>(rows_->next(static_cast<int64_t>(part.done / part.row_bytes))) * part.row_bytes;
    count = std::min(bytes, part.row_bytes - inside);
    read_part(part, part.done, to, count);
    part.done += count;
  }
}

size_t Snapshot::read_some(char* to, size_t most) {
  char** copies = nullptr;  // copies of an array that is read; freed while nothing waits for it
  size_t pages = 0, count;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    Part& part = parts_[first_part_];
    size_t left = part.begin + part.bytes - read_;
    count = std::min(most, left);
    if (part.row_bytes) {
      read_rows(part, to, count);
    } else {
      read_part(part, part.done, to, count);
      part.done += count;
    }
    read_ += count;
    if (count < left) return count;
    std::swap(copies, part.copies);
    pages = part.pages();
    part.memory = nullptr;
    ++first_part_;
  }
  free_copies(copies, pages);
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
