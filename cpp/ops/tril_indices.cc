// tril_indices, triu_indices: Out = the rows and columns of the elements below or above a diagonal of a matrix
#include "core/op_table.h"
#include "math/for_each_index.h"

#include <algorithm>

namespace paddle_mini {
namespace {

// The elements at and below, or (upper) at and above a diagonal, row by row.
struct TriangleElements {
  int64_t rows, columns, offset;
  bool upper;

  // The number of elements in the first `row` rows with columns up to `last` + row: the sum of clamp(t + last + 1, 0,
  // columns) over the rows t.
  PM_HD int64_t left_of(int64_t row, int64_t last) const { return ramp(row + last) - ramp(last); }
  PM_HD int64_t before(int64_t row) const {
    return upper ? row * columns - left_of(row, offset - 1) : left_of(row, offset);
  }
  // The sum of min(s, columns) over s = 1 ... m.
  PM_HD int64_t ramp(int64_t m) const {
    int64_t rising = m < columns ? m : columns;
    return m <= 0 ? 0 : rising * (rising + 1) / 2 + (m - rising) * columns;
  }
};

template <class T>
struct PutTriangle {
  TriangleElements triangle;
  int64_t count;
  T* to;

  PM_HD void operator()(int64_t i) const {
    int64_t low = 0, high = triangle.rows - 1;  // the last row that begins at or before i
    while (low < high) {
      int64_t middle = low + (high - low + 1) / 2;
      if (triangle.before(middle) <= i) low = middle;
      else high = middle - 1;
    }
    int64_t column = i - triangle.before(low), left = low + triangle.offset;
    if (triangle.upper && left > 0) column += left;
    to[i] = static_cast<T>(low);
    to[count + i] = static_cast<T>(column);
  }
};

template <class Context>
TriangleElements triangle_of(const Context& c, bool upper) {
  return {c.template attr<int32_t>(upper ? "row" : "rows"), c.template attr<int32_t>(upper ? "col" : "cols"),
          c.template attr<int32_t>("offset"), upper};
}

template <bool upper>
struct TriangleKernel {
  template <class T>
  struct For : Kernel {
    Out<T> out;
    TriangleElements triangle;

    explicit For(KernelInit& init) : out(init, "out"), triangle(triangle_of(init, upper)) {}
    void run(KernelContext& context) override {
      const int64_t count = out.shape()[1];
      for_each_index(context, count, PutTriangle<T>{triangle, count, out.data()});
    }
  };
};

template <bool upper>
OpSchema triangle_indices(const char* type, const char* rows, const char* columns) {
  return OpSchema(type)
      .output("out", "[2, elements]: their rows and their columns")
      .attr(rows, 0, "rows of the matrix", at_least(0))
      .attr(columns, 0, "columns of the matrix", at_least(0))
      .attr("offset", 0, "the diagonal's distance to the right of the main one; negative: below it")
      .attr("dtype", static_cast<int32_t>(DType::Int64), "element type of out: int32 or int64")
      .infer([](InferContext& c) {
        DType dtype = c.dtype_attr("dtype");
        require<ProgramError>(dtype == DType::Int32 || dtype == DType::Int64, "attribute 'dtype' is ", name_of(dtype),
                              ", it must be int32 or int64");
        TriangleElements triangle = triangle_of(c, upper);
        Shape out{2, triangle.before(triangle.rows)};
        out.numel();  // throws if it is too large
        c.set_output("out", dtype, out);
      })
      .no_gradient("it has no inputs")
      .on_gpu()
      .template kernels<TriangleKernel<upper>::template For, int32_t, int64_t>();
}

}  // namespace

void define_tril_indices(OpTable& ops) {
  ops.add(triangle_indices<false>("tril_indices", "rows", "cols")
              .doc("out = the positions of the elements at and below a diagonal of a matrix, row by row."));
  ops.add(triangle_indices<true>("triu_indices", "row", "col")
              .doc("out = the positions of the elements at and above a diagonal of a matrix, row by row."));
}

}  // namespace paddle_mini
