// Entries of PaddlePaddle's states that are not arrays: names, and arrays in slices.
#include <algorithm>
#include <cstring>
#include <map>

#include "program/pickle.h"

namespace paddle_mini {
namespace {

using Kind = PickledValue::Kind;

[[noreturn]] void wrong_slices(const std::string& what) {
  fail<ProgramError>("its list of sliced arrays is wrong: ", printable(what));
}

size_t index_of(const PickledValue& dict, std::string_view key) {
  for (size_t i = 0; i < dict.items.size(); i += 2)
    if (dict.items[i]->kind == Kind::Text && utf8_of(*dict.items[i]) == key) return i;
  return dict.items.size();
}

// The value of a key, which is removed; none if there is no such key.
Pickled take(PickledValue& dict, std::string_view key) {
  size_t i = index_of(dict, key);
  if (i == dict.items.size()) return nullptr;
  Pickled value = dict.items[i + 1];
  auto first = dict.items.begin() + static_cast<std::ptrdiff_t>(i);
  dict.items.erase(first, first + 2);
  return value;
}

void put(PickledValue& dict, const Pickled& key, Pickled value) {
  size_t i = index_of(dict, utf8_of(*key));
  if (i < dict.items.size()) wrong_slices("it is there twice: " + utf8_of(*key));
  dict.items.push_back(key);
  dict.items.push_back(std::move(value));
}

Pickled part_of(const PickledValue& facts, std::string_view key) {
  size_t i = facts.kind == Kind::Dict ? index_of(facts, key) : 0;
  if (facts.kind != Kind::Dict || i == facts.items.size()) wrong_slices("'" + std::string(key) + "' is missing");
  const Pickled& part = facts.items[i + 1];
  if (part->kind != Kind::List && part->kind != Kind::Tuple) wrong_slices(std::string(key));
  return part;
}

Pickled joined(PickledValue& state, const PickledValue& facts) {
  auto whole = std::make_shared<PickledValue>(Kind::Array);
  auto elements = std::make_shared<std::string>();
  for (const Pickled& name : part_of(facts, "slices")->items) {
    Pickled part = name->kind == Kind::Text ? take(state, utf8_of(*name)) : nullptr;
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
  if (Pickled slices = take(state, "UnpackBigParamInfor@@")) {
    if (slices->kind != Kind::Dict) wrong_slices("it is not a dict");
    for (size_t i = 0; i < slices->items.size(); i += 2) {
      if (slices->items[i]->kind != Kind::Text) wrong_slices("a name is not a text");
      put(state, slices->items[i], joined(state, *slices->items[i + 1]));
    }
  }
  Pickled table = take(state, "StructuredToParameterName@@");
  if (table && variable_names) rename(state, *table);
}

}  // namespace paddle_mini
