// Entries of PaddlePaddle's states that are not arrays: names, and arrays in slices.
#include <algorithm>
#include <cstring>
#include <map>
#include <unordered_map>

#include "program/pickle.h"

namespace paddle_mini {
namespace {

using Kind = PickledValue::Kind;

[[noreturn]] void wrong_slices(const std::string& what) {
  fail<ProgramError>("its list of sliced arrays is wrong: ", printable(what));
}

// The entries of a state by name, while arrays are joined: states have so many that each search must be short.
class Entries {
 public:
  explicit Entries(PickledValue& state) : items_(state.items) {
    for (size_t i = 0; i < items_.size(); i += 2) places_[utf8_of(*items_[i])] = i;
  }
  // Entries that were taken leave the state.
  ~Entries() {
    auto gone = std::remove(items_.begin(), items_.end(), nullptr);
    items_.erase(gone, items_.end());
  }
  Entries(const Entries&) = delete;
  Entries& operator=(const Entries&) = delete;

  // The value of a name, which is removed; none if there is no such name.
  Pickled take(const std::string& name) {
    auto found = places_.find(name);
    if (found == places_.end()) return nullptr;
    Pickled value = std::move(items_[found->second + 1]);
    items_[found->second] = items_[found->second + 1] = nullptr;
    places_.erase(found);
    return value;
  }
  void put(const Pickled& name, Pickled value) {
    bool added = places_.emplace(utf8_of(*name), items_.size()).second;
    if (!added) wrong_slices("it is there twice: " + utf8_of(*name));
    items_.push_back(name);
    items_.push_back(std::move(value));
  }

 private:
  std::vector<Pickled>& items_;
  std::unordered_map<std::string, size_t> places_;
};

Pickled part_of(const PickledValue& facts, std::string_view key) {
  for (size_t i = 0; facts.kind == Kind::Dict && i < facts.items.size(); i += 2) {
    if (facts.items[i]->kind != Kind::Text || utf8_of(*facts.items[i]) != key) continue;
    const Pickled& part = facts.items[i + 1];
    if (part->kind != Kind::List && part->kind != Kind::Tuple) wrong_slices(std::string(key));
    return part;
  }
  wrong_slices("'" + std::string(key) + "' is missing");
}

Pickled joined(Entries& state, const PickledValue& facts) {
  auto whole = std::make_shared<PickledValue>(Kind::Array);
  auto elements = std::make_shared<std::string>();
  for (const Pickled& name : part_of(facts, "slices")->items) {
    Pickled part = name->kind == Kind::Text ? state.take(utf8_of(*name)) : nullptr;
    if (!part || part->kind != Kind::Array) wrong_slices("a slice is missing");
    bool alike = whole->array.type.empty() || whole->array.type == part->array.type;
    if (!alike) wrong_slices("the slices have different element types");
    whole->array.type = part->array.type;
    *elements += part->array.elements;
  }
  for (const Pickled& dim : part_of(facts, "OriginShape")->items) {
    if (dim->kind != Kind::Integer || dim->integer < 0) wrong_slices("OriginShape");
    whole->array.shape.push_back(dim->integer);
  }
  size_t expected = bytes_of(whole->array.shape, item_size(whole->array.type));
  if (whole->array.type.empty() || expected != elements->size())
    wrong_slices("an array of shape " + text_of(whole->array.shape) + " has " + std::to_string(elements->size()) +
                 " bytes in its slices");
  whole->array.elements = *elements;
  whole->array.kept = std::move(elements);
  return whole;
}

void rename(PickledValue& state, const PickledValue& table) {
  require<ProgramError>(table.kind == Kind::Dict, "its table of names is not a dict");
  std::map<std::string, Pickled> names;
  for (size_t i = 0; i < table.items.size(); i += 2)
    if (table.items[i]->kind == Kind::Text) names[utf8_of(*table.items[i])] = table.items[i + 1];
  std::set<std::string> given;
  for (size_t i = 0; i < state.items.size(); i += 2) {
    auto found = names.find(utf8_of(*state.items[i]));
    if (found != names.end()) state.items[i] = found->second;
    bool is_name = state.items[i]->kind == Kind::Text && given.insert(utf8_of(*state.items[i])).second;
    require<ProgramError>(is_name, "its table gives one name to two arrays, or none");
  }
}

}  // namespace

void join_state(PickledValue& state, bool variable_names) {
  Pickled table;
  {
    Entries entries(state);
    table = entries.take("StructuredToParameterName@@");
    if (Pickled slices = entries.take("UnpackBigParamInfor@@")) {
      if (slices->kind != PickledValue::Kind::Dict) wrong_slices("it is not a dict");
      for (size_t i = 0; i < slices->items.size(); i += 2) {
        if (slices->items[i]->kind != PickledValue::Kind::Text) wrong_slices("a name is not a text");
        entries.put(slices->items[i], joined(entries, *slices->items[i + 1]));
      }
    }
  }
  if (table && variable_names) rename(state, *table);
}

}  // namespace paddle_mini
