// Shape: up to nine dimensions; -1 means unknown while a program is built.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

namespace paddle_mini {

class Shape {
 public:
  static constexpr int kMaxRank = 9;

  Shape() = default;  // rank 0: one element
  Shape(std::initializer_list<int64_t> dims);
  explicit Shape(const std::vector<int64_t>& dims);

  int rank() const { return rank_; }
  int64_t operator[](int axis) const { return dims_[axis]; }
  int64_t& operator[](int axis) { return dims_[axis]; }
  const int64_t* begin() const { return dims_; }
  const int64_t* end() const { return dims_ + rank_; }
  void push_back(int64_t dim);

  bool known() const;      // no dimension is -1
  int64_t numel() const;   // product of all dimensions; throws on overflow or an unknown dimension
  int64_t numel(int begin, int end) const;  // product of the axes [begin, end); -1 if one is unknown

  std::vector<int64_t> vector() const { return {begin(), end()}; }
  std::string str() const;  // "[8, 3, 28, 28]"

  bool operator==(const Shape& other) const;
  bool operator!=(const Shape& other) const { return !(*this == other); }

 private:
  int rank_ = 0;
  int64_t dims_[kMaxRank] = {};
};

// A shape that a program declares for a variable. PaddlePaddle multiplies unknown dimensions too: 3 times -1 is written
// as -3.
Shape declared_shape(std::vector<int64_t> dims);

// True if both are equal or one is unknown.
inline bool dims_agree(int64_t a, int64_t b) { return a == b || a < 0 || b < 0; }
bool shapes_agree(const Shape& a, const Shape& b);

// Normalises an axis: -1 is the last of `rank`. Throws, naming `what`, if it is out of range.
int normal_axis(int64_t axis, int rank, const char* what);

}  // namespace paddle_mini
