// Reads files whole and replaces them atomically. Throws for pipes, devices and folders, and never blocks on them.
#pragma once

#include <sys/types.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"

namespace paddle_mini {

// The content of a file.
class FileBytes {
 public:
  explicit FileBytes(size_t size) : data_(new char[size ? size : 1]), size_(size) {}
  char* data() { return data_.get(); }
  operator std::string_view() const { return {data_.get(), size_}; }

 private:
  std::unique_ptr<char[]> data_;  // not zero-initialised
  size_t size_;
};

FileBytes read_file(const std::string& path);
// Reads the first `most` bytes, or the whole file, into memory returned by `allocate(size)`.
void read_file(const std::string& path, const std::function<char*(size_t)>& allocate, size_t most = SIZE_MAX);

bool is_there(const std::string& path);

// A file that is read once, from its beginning, into memory of the caller.
class FileStream {
 public:
  explicit FileStream(const std::string& path);
  ~FileStream();
  FileStream(const FileStream&) = delete;
  FileStream& operator=(const FileStream&) = delete;

  size_t position() const { return size_ - left_; }
  size_t left() const { return left_; }
  void read(char* to, size_t count);  // count <= left()
  uint32_t checksum() const;  // CRC-32C of the bytes read so far

 private:
  struct State;
  std::unique_ptr<State> state_;
  size_t size_ = 0, left_ = 0;
};

// Calls read(); its errors begin with the file's name.
template <class Read>
auto naming_file(const std::string& path, const Read& read) {
  try {
    return read();
  } catch (const ShapeError& e) {
    fail<ShapeError>("'", printable(path), "': ", e.what());
  } catch (const ProgramError& e) { fail<ProgramError>("'", printable(path), "': ", e.what()); }
}

// Passes a file's bytes to `read` and returns its result.
template <class Read>
auto from_file(const std::string& path, const Read& read) {
  FileBytes bytes = read_file(path);
  return naming_file(path, [&] { return read(std::string_view(bytes)); });
}

// The same for files whose bytes need not be in the memory at once.
template <class Read>
auto from_stream(const std::string& path, const Read& read) {
  FileStream stream(path);
  return naming_file(path, [&] { return read(stream); });
}

using Pieces = std::vector<std::string_view>;  // concatenated
struct NewFile {
  std::string path;
  std::optional<Pieces> pieces;  // none: removes the file if it exists
};

// Writes all files; if an error occurs before the first rename, every file is unchanged. The contents are written to
// temporary files in the same folders and flushed to disk; then the files are renamed, or removed, in this order. A
// file keeps the mode of the one that it replaces. A symbolic link at a path is replaced, never followed. Temporary
// files of killed writers in these folders are removed.
void write_files(const std::vector<NewFile>& files);
void write_file(const std::string& path, std::string_view bytes);

// The disk begins to write these bytes of an open file, while the rest is copied into the page cache; fsync(), which waits for
// it, reports its errors.
void begin_writing(int descriptor, off_t begin, off_t count);

// A random name for a file being written. Its writer holds a lock on it (flock), which the system releases when the
// process ends.
std::string unfinished_name();
// Removes files with such names that no process has locked; locks of processes in other containers count too.
void remove_unfinished(const std::string& folder);

}  // namespace paddle_mini
