// Reads files whole and replaces them atomically. Throws for pipes, devices and folders, and never blocks on them.
#pragma once

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

// Passes a file's bytes to `read` and returns its result; errors begin with the file's name.
template <class Read>
auto from_file(const std::string& path, const Read& read) {
  FileBytes bytes = read_file(path);
  try {
    return read(std::string_view(bytes));
  } catch (const ShapeError& e) {
    fail<ShapeError>("'", printable(path), "': ", e.what());
  } catch (const ProgramError& e) { fail<ProgramError>("'", printable(path), "': ", e.what()); }
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

// A random name for a file being written. Its writer holds a lock on it (flock), which the system releases when the
// process ends.
std::string unfinished_name();
// Removes files with such names that no process has locked; locks of processes in other containers count too.
void remove_unfinished(const std::string& folder);

}  // namespace paddle_mini
