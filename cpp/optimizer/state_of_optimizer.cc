// Reads and writes the state of an optimizer, in the order of write().
#include "optimizer/optimizer.h"
#include "optimizer/state.h"

namespace paddle_mini {
namespace {

constexpr uint64_t kMark = 0x00545045544d4d50;  // "PMMTEPT"
constexpr uint64_t kChangesMark =
    0x00474843544d4d50;  // "PMMTCHG", before the rows that changed and a state of these only
constexpr uint32_t kVersion = 2, kWithoutBlocks = 1;  // kWithoutBlocks: version 1, whose averages have no blocks

// Has the interface of StateWriter: has a snapshot keep these rows of each array, or all of it if `rows` is nullptr.
struct RowKeeper {
  Snapshot& snapshot;
  int64_t height;  // rows of the table
  const int64_t* rows;
  size_t count;

  template <class V>
  void write(const V&) {}
  template <class T>
  void write_all(const Array<T>& array) {
    snapshot.keep_ranges(array, [&](auto keep) {
      if (!rows) return keep(0, array.size());
      int64_t width = array.size() / height;  // 1 for an array with a number for each row
      for (size_t i = 0; i < count; ++i) keep(rows[i] * width, width);
    });
  }
};

}  // namespace

template <class T>
template <class Writer>
void TypedOptimizer<T>::write(Writer& to) const {
  to.write(kMark);
  to.write(kVersion);
  to.write(static_cast<uint32_t>(config_.kind->number - 1));  // kinds were counted from 0 once
  to.write(static_cast<uint32_t>(sizeof(T)));
  to.write(static_cast<uint32_t>(arrays_));
  to.write(static_cast<uint64_t>(size_));
  to.write(static_cast<uint64_t>(averages_.size()));
  to.write(width_);
  to.write(static_cast<uint64_t>(by_rows_));
  to.write(updates_);
  to.write(skipped_);
  to.write(pass_);
  to.write(static_cast<uint64_t>(has_fixed_rate_));
  to.write(fixed_rate_);
  to.write(power1_);
  to.write(power2_);
  to.write_all(param_);
  for (int i = 0; i < arrays_; ++i) to.write_all(state_[i]);
  for (const Average<T>& average : averages_) average.write(to);
  decay_.write(to);
}

template <class T>
void TypedOptimizer<T>::read_state(std::string_view bytes) {
  StateReader from(bytes);
  read(from);
}

template <class T>
void TypedOptimizer<T>::read_changes(std::string_view bytes) {
  StateReader from(bytes);
  bool ours = from.read<uint64_t>() == kChangesMark;
  require<ProgramError>(ours, "the bytes are not changes of a state of this library");
  from.expect(updates_, "changes after so many updates:");
  from.expect(static_cast<uint64_t>(row_count()), "changes of rows:");
  RowSet rows(row_count());
  rows.read(from);
  ChangesReader changes(from, rows);
  read(changes);
}

template <class T>
template <class Reader>
void TypedOptimizer<T>::read(Reader& from) {
  bool ours = from.template read<uint64_t>() == kMark;
  require<ProgramError>(ours, "the bytes are not a state of this library");
  uint32_t version = from.template read<uint32_t>();
  require<ProgramError>(version == kVersion || version == kWithoutBlocks, "the state has format version ", version,
                        ", it must be ", kVersion, " or ", kWithoutBlocks);
  const OptimizerKind* kind = find_kind(int64_t{from.template read<uint32_t>()} + 1);
  require<ProgramError>(kind, "the state is of an unknown optimizer");
  require<ProgramError>(kind == config_.kind, "the state is of ", kind->message, ", the configuration says ",
                        config_.kind->message);
  from.expect(static_cast<uint32_t>(sizeof(T)), "elements of size");
  from.expect(static_cast<uint32_t>(arrays_), "arrays of the optimizer:");
  from.expect(static_cast<uint64_t>(size_), "elements:");
  from.expect(static_cast<uint64_t>(averages_.size()), "averages:");
  int64_t width = from.template read<int64_t>();
  bool fits = width >= 0 && (width == 0 || size_ % width == 0) && (!config_.row_width || width == config_.row_width);
  require<ProgramError>(fits, "the state has rows of ", width, " elements");
  bool by_rows = from.template read<uint64_t>() != 0;
  require<ProgramError>(!Reader::kChanges || (width == width_ && by_rows == by_rows_),
                        "the changes are of another state");
  width_ = width;
  if (by_rows) begin_rows(width);
  updates_ = from.template read<uint64_t>();
  skipped_ = from.template read<uint64_t>();
  pass_ = from.template read<int64_t>();
  has_fixed_rate_ = from.template read<uint64_t>() != 0;
  fixed_rate_ = from.template read<double>();
  power1_ = from.template read<T>();
  power2_ = from.template read<T>();
  from.read_all(param_);
  for (int i = 0; i < arrays_; ++i) from.read_all(state_[i]);
  for (Average<T>& average : averages_) average.read(from, version != kWithoutBlocks);
  decay_.read(from);
  from.finish();
}

template <class T>
size_t TypedOptimizer<T>::state_size() const {
  StateSize size;
  write(size);
  return size.with_checksum();
}

template <class T>
void TypedOptimizer<T>::write_state(void* to, size_t size) const {
  StateWriter writer(to, size);
  write(writer);
  writer.finish();
}

template <class T>
std::shared_ptr<Snapshot> TypedOptimizer<T>::snapshot() {
  require<ProgramError>(snapshot_.expired(), "another snapshot of this optimizer exists");
  RowSet none(row_count());
  std::shared_ptr<Snapshot> made = written(std::make_shared<Snapshot>());
  changed_ = std::move(none);
  updates_of_whole_ = updates_;
  return made;
}

template <class T>
std::shared_ptr<Snapshot> TypedOptimizer<T>::snapshot_changes() {
  require<ProgramError>(snapshot_.expired(), "another snapshot of this optimizer exists");
  if (!changed_ || changed_->rows() != row_count()) return nullptr;  // the rows were not known then
  auto made = std::make_shared<Snapshot>(*changed_);
  made->write(kChangesMark);
  made->write(updates_of_whole_);
  made->write(static_cast<uint64_t>(changed_->rows()));
  changed_->write(*made);
  return written(std::move(made));
}

template <class T>
std::shared_ptr<Snapshot> TypedOptimizer<T>::written(std::shared_ptr<Snapshot> made) {
  write(*made);
  made->finish();
  snapshot_ = made;
  return made;
}

template <class T>
void TypedOptimizer<T>::keep_all() {
  changed_.reset();
  keep(nullptr, 0);
}

template <class T>
void TypedOptimizer<T>::keep_rows(const int64_t* rows, size_t count) {
  if (changed_) {
    for (size_t i = 0; i < count; ++i) changed_->add(rows[i]);
  }
  keep(rows, count);
}

template <class T>
void TypedOptimizer<T>::keep(const int64_t* rows, size_t count) {
  std::shared_ptr<Snapshot> snapshot = snapshot_.lock();
  if (!snapshot) return;
  RowKeeper keeper{*snapshot, row_count(), rows, count};
  write(keeper);
}

template class TypedOptimizer<float>;
template class TypedOptimizer<double>;

}  // namespace paddle_mini
