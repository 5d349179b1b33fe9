// Finds, allocates and computes derived values.
#include "executor/derived.h"

#include <unordered_map>

#include "core/memory_limit.h"
#include "core/scope.h"
#include "executor/segment.h"

namespace paddle_mini {
namespace {

// The values of all scopes of the process.
struct Table {
  struct Entry {
    std::vector<AttrValue> attrs;
    std::weak_ptr<DerivedValues> values;
  };
  std::recursive_mutex mutex;  // where memory for an entry runs out, its values end while the table is locked
  std::unordered_multimap<std::string, Entry> entries;
  std::atomic<size_t> bytes{0};
};

Table& table() {
  static Table& one = *new Table;  // plans may outlive static variables
  return one;
}

// Identifies an operator but for its attributes. Addresses are those of values that exist as long as the entry does, or
// of variables of a scope; another variable at the same address has other values and so another version.
std::string key_of(const Segment& segment, const RunOp& op) {
  std::string key = text(segment.scope->id(), " ", op.desc().type);
  auto add = [&](const char* side, const std::vector<Slot>& slots, const Ports& ports, bool inputs) {
    for (size_t s = 0; s < ports.size(); ++s) {
      key += text(side, slots[s].name);
      bool shape_only = inputs && op.schema().reads_only_shape(slots[s].name);
      for (int v : ports[s]) {
        if (v < 0) continue;
        const RunVariable& variable = segment.variables[v];
        const void* address = nullptr;
        if (inputs && !shape_only)
          address = variable.derived ? variable.derived.get() : segment.scope->find(variable.name);
        key += text(" ", variable.info.str(), " ", reinterpret_cast<uintptr_t>(address));
      }
    }
  };
  add(" <", op.desc().inputs, op.inputs, true);
  add(" >", op.desc().outputs, op.outputs, false);
  return key;
}

std::vector<AttrValue> attrs_of(const RunOp& op) {
  std::vector<AttrValue> values;
  for (const AttrSchema& attr : op.schema().attrs())
    if (const AttrValue* value = op.desc().attr(attr.name)) values.push_back(*value);
  return values;
}

void forget(const std::string& key, DerivedValues* gone) {
  Table& all = table();
  all.bytes -= gone->bytes;
  std::lock_guard<std::recursive_mutex> lock(all.mutex);
  auto [first, last] = all.entries.equal_range(key);
  while (first != last) first = first->second.values.expired() ? all.entries.erase(first) : std::next(first);
}

std::shared_ptr<DerivedValues> values_of(const Segment& segment, const RunOp& op) {
  Table& all = table();
  std::string key = key_of(segment, op);
  std::vector<AttrValue> attrs = attrs_of(op);
  std::vector<std::shared_ptr<DerivedValues>> seen;  // ends after the lock, which forget() acquires
  std::lock_guard<std::recursive_mutex> lock(all.mutex);
  auto [first, last] = all.entries.equal_range(key);
  for (; first != last; ++first) {
    seen.push_back(first->second.values.lock());
    if (seen.back() && first->second.attrs == attrs) return seen.back();
  }
  size_t bytes = 0;
  op.outputs.each([&](int v) {
    const VarInfo& info = segment.variables[v].info;
    bytes = checked_sum(bytes, static_cast<size_t>(info.shape.numel()) * size_of(info.dtype));
  });
  if (!has_room_for_copy(bytes, all.bytes)) return nullptr;
  auto made = std::make_unique<DerivedValues>();
  try {
    op.outputs.each([&](int v) {
      Variable& variable = made->outputs.emplace_back();
      variable.describe(segment.variables[v].info);
      variable.tensor.memory = allocate(variable.tensor.bytes());
      variable.tensor.data = variable.tensor.memory.get();
    });
  } catch (const DeviceError&) { return nullptr; }
  all.bytes += made->bytes = bytes;
  std::shared_ptr<DerivedValues> values(made.release(), [key](DerivedValues* gone) {
    forget(key, gone);
    delete gone;
  });
  all.entries.emplace(key, Table::Entry{std::move(attrs), values});
  return values;
}

}  // namespace

bool derive(Segment& segment, RunOp& op) {
  op.derived = values_of(segment, op);
  if (!op.derived) return false;
  auto value = op.derived->outputs.begin();
  op.outputs.each([&](int v) {
    segment.variables[v].origin = Origin::Derived;
    segment.variables[v].constant = true;
    segment.variables[v].derived = std::shared_ptr<Variable>(op.derived, &*value++);
  });
  return true;
}

void DerivedKernel::run(KernelContext& context) {
  const uint64_t version = context.values_version;
  if (version != 0 && values_->version.load(std::memory_order_acquire) == version) return;
  std::lock_guard<std::mutex> lock(values_->mutex);
  if (version != 0 && values_->version.load(std::memory_order_relaxed) == version) return;
  values_->version.store(0, std::memory_order_relaxed);  // should the kernel throw
  kernel_->run(context);
  values_->version.store(version, std::memory_order_release);
}

}  // namespace paddle_mini
