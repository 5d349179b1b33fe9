// pm_values: values that a call has written, in memory that later calls reuse.
#pragma once

#include <algorithm>
#include <atomic>
#include <string>
#include <utility>
#include <vector>

#include "capi/handles.h"
#include "capi/paddle_mini.h"
#include "core/scope.h"

namespace paddle_mini::capi {

// It has many methods because it is read value by value, and written by runs, scopes and texts.
class Values : public Object {
 public:
  static constexpr const char* kKind = "pm_values";
  Values() : Object(kKind) {}

  // Excludes other calls; ScopeInUse while one is in it.
  class Use {
   public:
    explicit Use(Values& values);
    ~Use() { values_.used_.store(false, std::memory_order_release); }
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;

   private:
    Values& values_;
  };

  // These need a Use. After an exception there are no values.
  // If a tensor is in the memory of these values, all of that memory, so that the values are written elsewhere.
  auto set_aside(const std::vector<Tensor>& tensors) {
    return std::any_of(tensors.begin(), tensors.end(), [&](const Tensor& one) { return is_here(one); })
               ? std::exchange(values_, {})
               : std::vector<Value>();
  }
  void copy(size_t count, const Variable& (*at)(const void* context, size_t i), const void* context);
  void share(Scope& scope, const std::vector<std::string>& names);  // OpError for one that is not there
  void set_texts(const std::vector<std::string>& texts);
  size_t count() const { return count_; }
  int32_t kind(size_t i) const { return static_cast<int32_t>(at(i).kind); }
  size_t elements(size_t i) const { return at(i).element_count; }
  pm_tensor get(size_t i, size_t element);
  const char* text(size_t i) const;

 private:
  struct Element {
    DType dtype = DType::Float32;
    Shape shape;
    Lod lod;
    std::vector<pm_level> levels;
    std::shared_ptr<void> own;
    size_t own_bytes = 0;
    std::shared_ptr<const void> held;  // memory of a scope
    const void* data = nullptr;
  };
  struct Value {
    VarKind kind = VarKind::Tensor;
    std::vector<Element> elements;
    size_t element_count = 0;  // so many of `elements` are in use; the others keep their memory
    std::vector<int64_t> rows;
    int64_t height = 0;
    bool is_text = false;
  };
  bool is_here(const Tensor& tensor) const;
  const Value& at(size_t i) const;
  Value& next();
  static Element& element(Value& value, size_t i);
  static void describe(const Tensor& tensor, Element& element);
  static void copy(const Tensor& tensor, Element& element);
  static void copy(const Variable& variable, Value& value);
  static void* room(Element& element, size_t bytes);

  std::vector<Value> values_;
  size_t count_ = 0;
  std::atomic<bool> used_{false};
};

}  // namespace paddle_mini::capi
