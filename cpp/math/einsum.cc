// Parses einsum's equations and computes the geometry of their loops.
#include "math/einsum.h"

#include <map>

namespace paddle_mini {
namespace {

// Axes of "..." are labelled from the last one on, so that operands of different rank are right-aligned.
constexpr int kEllipsis = 256;

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

// Parses "a...b" into labels; "..." expands to `ellipsis_rank` axes.
std::vector<int> labels_of(const std::string& term, int ellipsis_rank) {
  std::vector<int> labels;
  bool dots = false;
  for (size_t i = 0; i < term.size(); ++i) {
    if (term.compare(i, 3, "...") == 0) {
      require<ProgramError>(!dots, "equation: '", printable(term), "' has '...' twice");
      for (int d = ellipsis_rank - 1; d >= 0; --d) labels.push_back(kEllipsis + d);
      dots = true;
      i += 2;
    } else {
      require<ProgramError>(is_letter(term[i]), "equation: '", printable(term),
                            "' has a character that is not a letter");
      labels.push_back(term[i]);
    }
  }
  return labels;
}

std::vector<std::string> terms_of(const std::string& text) {
  std::vector<std::string> terms{""};
  for (char c : text) {
    if (c == ',') terms.emplace_back();
    else terms.back() += c;
  }
  return terms;
}

LabelledShape operand_of(const std::string& term, const Shape& shape) {
  bool dots = term.find("...") != std::string::npos;
  int named = static_cast<int>(term.size()) - (dots ? 3 : 0);
  require<ShapeError>(dots ? named <= shape.rank() : named == shape.rank(), "equation: '", printable(term), "' has ",
                      named, " labels for an operand of shape ", shape.str());
  return {labels_of(term, shape.rank() - named), shape};
}

void join(std::map<int, int64_t>& sizes, int label, int64_t size) {
  auto [known, added] = sizes.emplace(label, size);
  int64_t& one = known->second;
  bool fits = added || one == 1 || size == 1 || dims_agree(one, size);
  require<ShapeError>(fits, "equation: axes of one label have sizes ", one, " and ", size);
  if (one == 1) one = size;
  else if (size != 1) one = std::max(one, size);
}

template <class Labels>
bool has(const Labels& labels, int label) {
  return std::find(labels.begin(), labels.end(), label) != labels.end();
}

std::vector<int> implied_labels(const std::vector<LabelledShape>& operands) {
  std::map<int, int> counts;
  for (const LabelledShape& operand : operands) {
    for (int label : operand.labels) ++counts[label];
  }
  std::vector<int> labels;
  for (auto it = counts.rbegin(); it != counts.rend() && it->first >= kEllipsis; ++it) labels.push_back(it->first);
  for (auto [label, count] : counts) {
    if (label < kEllipsis && count == 1) labels.push_back(label);
  }
  return labels;
}

bool distinct(std::vector<int> labels) {
  std::sort(labels.begin(), labels.end());
  return std::adjacent_find(labels.begin(), labels.end()) == labels.end();
}

}  // namespace

int LabelledShape::axis_of(int label) const {
  auto found = std::find(labels.begin(), labels.end(), label);
  return found == labels.end() ? -1 : static_cast<int>(found - labels.begin());
}

Equation::Equation(const std::string& equation, const std::vector<Shape>& shapes) {
  std::string text;
  for (char c : equation) {
    if (c != ' ') text += c;
  }
  size_t arrow = text.find("->");
  std::vector<std::string> terms = terms_of(text.substr(0, arrow));
  require<ShapeError>(terms.size() == shapes.size(), "equation '", printable(equation), "' has ", terms.size(),
                      " operands, ", shapes.size(), " are given");
  std::map<int, int64_t> sizes;
  int ellipsis = 0;
  for (size_t i = 0; i < terms.size(); ++i) {
    operands.push_back(operand_of(terms[i], shapes[i]));
    const std::vector<int>& labels = operands.back().labels;
    for (int axis = 0; axis < shapes[i].rank(); ++axis) {
      int label = labels[static_cast<size_t>(axis)];
      join(sizes, label, shapes[i][axis]);
      if (label >= kEllipsis) ellipsis = std::max(ellipsis, label - kEllipsis + 1);
    }
  }
  out.labels = arrow == std::string::npos ? implied_labels(operands) : labels_of(text.substr(arrow + 2), ellipsis);
  require<ProgramError>(distinct(out.labels), "equation '", printable(equation), "': the result has a label twice");
  require<ProgramError>(out.labels.size() <= Shape::kMaxRank, "equation '", printable(equation), "': the result has ",
                        out.labels.size(), " axes, ", Shape::kMaxRank, " are possible");
  for (int label : out.labels) {
    require<ProgramError>(sizes.count(label) > 0, "equation '", printable(equation),
                          "': the result has a label that no operand has");
    out.shape.push_back(sizes[label]);
  }
}

LabelledLoops::LabelledLoops(const std::vector<LabelledShape>& operands, const LabelledShape& to)
    : at_(operands.size(), 0), to_numel_(to.shape.numel()) {
  std::map<int, size_t> place;
  auto add = [&](const LabelledShape& tensor, size_t operand) {
    int64_t step = 1;
    for (int axis = tensor.shape.rank() - 1; axis >= 0; step *= tensor.shape[axis--]) {
      auto [found, added] = place.emplace(tensor.labels[static_cast<size_t>(axis)], loops_.size());
      if (added) loops_.push_back({1, 0, std::vector<int64_t>(operands.size(), 0)});
      Loop& loop = loops_[found->second];
      if (tensor.shape[axis] == 1) continue;
      loop.size = tensor.shape[axis];
      (operand < operands.size() ? loop.steps[operand] : loop.to_step) += step;
    }
  };
  for (size_t i = 0; i < operands.size(); ++i) add(operands[i], i);
  add(to, operands.size());
  std::stable_sort(loops_.begin(), loops_.end(), [](const Loop& a, const Loop& b) { return a.to_step > b.to_step; });
  while (kept_ < loops_.size() && loops_[kept_].to_step) ++kept_;
  require_loops(operands.size(), loops_.size());
  for (const Loop& loop : loops_) nothing_ = nothing_ || loop.size == 0;
}

std::optional<MatrixForm> matrix_form(const std::vector<LabelledShape>& operands, const LabelledShape& to) {
  if (operands.size() != 2 || !distinct(operands[0].labels) || !distinct(operands[1].labels) || !distinct(to.labels)) {
    return std::nullopt;
  }
  const LabelledShape &x = operands[0], &y = operands[1];
  MatrixForm form;
  std::vector<int> stack, rows, columns, inner;
  for (int label : to.labels) {
    int in_x = x.axis_of(label), in_y = y.axis_of(label);
    if (in_x < 0 && in_y < 0) return std::nullopt;
    int64_t size = to.shape[to.axis_of(label)];
    if ((in_x >= 0 && x.shape[in_x] != size) || (in_y >= 0 && y.shape[in_y] != size)) return std::nullopt;
    (in_x < 0 ? columns : in_y < 0 ? rows : stack).push_back(label);
    (in_x < 0 ? form.n : in_y < 0 ? form.m : form.stack) *= size;
  }
  for (int label : x.labels) {
    if (has(to.labels, label)) continue;
    int in_y = y.axis_of(label);
    if (in_y < 0 || y.shape[in_y] != x.shape[x.axis_of(label)]) return std::nullopt;
    inner.push_back(label);
    form.k *= y.shape[in_y];
  }
  for (int label : y.labels) {
    if (!has(to.labels, label) && !has(inner, label)) return std::nullopt;
  }
  constexpr double worth_it = 16;
  if (static_cast<double>(form.m) * static_cast<double>(form.n) * static_cast<double>(form.k) < worth_it) {
    return std::nullopt;
  }
  std::vector<int> product = stack;
  for (const auto* labels : {&rows, &columns}) product.insert(product.end(), labels->begin(), labels->end());
  for (int label : product) form.product.push_back(to.shape[to.axis_of(label)]);
  for (const auto* labels : {&stack, &rows, &inner}) {
    for (int label : *labels) form.x_order.push_back(x.axis_of(label));
  }
  for (const auto* labels : {&stack, &inner, &columns}) {
    for (int label : *labels) form.y_order.push_back(y.axis_of(label));
  }
  for (int label : to.labels) {
    form.out_order.push_back(static_cast<int>(std::find(product.begin(), product.end(), label) - product.begin()));
  }
  return form;
}

}  // namespace paddle_mini
