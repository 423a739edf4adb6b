// Einstein summation: operands are brought to one order of the labels and multiplied from left to right with bmm; a label is summed as
// soon as no later operand and not the result needs it.
#include <algorithm>
#include <array>
#include <cctype>
#include <string>

#include "trine/kernels.h"

namespace trine::composite {
namespace {

constexpr int kEllipsis = 52;  // labels 0..51 are letters; dimensions of the ellipsis follow

int label_of(char c) { return std::islower(static_cast<unsigned char>(c)) ? c - 'a' + 26 : c - 'A'; }

using Labels = SmallVector<int, 8>;

// Labels of one operand; the ellipsis stands for `covered` dimensions counted from the right.
Labels parse(std::string_view text, int64_t covered, int64_t total, std::string_view equation) {
  Labels out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == ' ') continue;
    if (text.substr(i, 3) == "...") {
      for (int64_t d = total - covered; d < total; ++d) out.push_back(kEllipsis + static_cast<int>(d));
      i += 2;
      continue;
    }
    TRINE_CHECK(std::isalpha(static_cast<unsigned char>(text[i])), "einsum: invalid subscript given at '", text[i], "' in the equation '", equation, "', subscripts must be in [a-zA-Z]");
    out.push_back(label_of(text[i]));
  }
  return out;
}

int64_t letters(std::string_view text) { return std::count_if(text.begin(), text.end(), [](char c) { return std::isalpha(static_cast<unsigned char>(c)); }); }

bool contains(const Labels& l, int label) { return std::find(l.begin(), l.end(), label) != l.end(); }

// Repeated labels of one operand become its diagonal.
Tensor take_diagonals(Tensor t, Labels& labels) {
  for (size_t i = 0; i < labels.size(); ++i)
    for (size_t j = i + 1; j < labels.size(); ++j)
      if (labels[i] == labels[j]) {
        TRINE_CHECK(t.sizes()[i] == t.sizes()[j], "einsum: a repeated subscript has different sizes ", t.sizes()[i], " and ", t.sizes()[j], " in an operand of shape ", t.sizes());
        t = trine::movedim(diagonal(t, 0, static_cast<int64_t>(i), static_cast<int64_t>(j)), Dims{-1}, Dims{static_cast<int64_t>(i)});
        labels.erase(j--);
      }
  return t;
}

struct Operand {
  Tensor tensor;
  Labels labels;
  int64_t size(int label) const {
    auto at = std::find(labels.begin(), labels.end(), label);
    return at == labels.end() ? 1 : tensor.sizes()[static_cast<size_t>(at - labels.begin())];
  }
};

void sum_out(Operand& o, const std::array<bool, kEllipsis + 64>& keep) {
  Dims dims;
  Labels left;
  for (size_t i = 0; i < o.labels.size(); ++i) {
    if (keep[static_cast<size_t>(o.labels[i])]) left.push_back(o.labels[i]);
    else dims.push_back(static_cast<int64_t>(i));
  }
  if (dims.empty()) return;
  o.tensor = sum(o.tensor, DimsRef(dims));
  o.labels = left;
}

// Dimensions in the order of `order`; missing ones get size 1, and groups are merged by the caller's reshape.
Tensor arranged(const Operand& o, const Labels& order) {
  Dims perm, missing;
  for (size_t i = 0; i < order.size(); ++i) {
    auto at = std::find(o.labels.begin(), o.labels.end(), order[i]);
    if (at == o.labels.end()) missing.push_back(static_cast<int64_t>(i));
    else perm.push_back(at - o.labels.begin());
  }
  Tensor t = trine::permute(o.tensor, perm);
  for (int64_t d : missing) t = trine::unsqueeze(t, d);
  return t;
}

Operand multiply(const Operand& a, const Operand& b, const std::array<bool, kEllipsis + 64>& keep) {
  Labels batch, only_a, only_b, contracted;
  for (int l : a.labels) {
    if (!contains(b.labels, l)) only_a.push_back(l);
    else if (keep[static_cast<size_t>(l)] || a.size(l) != b.size(l)) batch.push_back(l);
    else contracted.push_back(l);
  }
  for (int l : b.labels)
    if (!contains(a.labels, l)) only_b.push_back(l);
  auto sizes_of = [&](const Labels& l) {
    Dims d;
    for (int x : l) d.push_back(std::max(a.size(x), b.size(x)) == 1 ? std::min(a.size(x), b.size(x)) : a.size(x) == 1 ? b.size(x) : a.size(x));
    return d;
  };
  Dims sb = sizes_of(batch), sa = sizes_of(only_a), sc = sizes_of(only_b), sk = sizes_of(contracted);
  auto matrix = [&](const Operand& o, const Labels& first, const Labels& second, DimsRef n1, DimsRef n2) {
    Labels order(batch);
    for (int l : first) order.push_back(l);
    for (int l : second) order.push_back(l);
    Tensor t = arranged(o, order);
    Dims full(t.sizes());
    for (size_t i = 0; i < batch.size(); ++i) full[i] = sb[i];
    return trine::reshape(expand(t, full), Dims{product(sb), product(n1), product(n2)});
  };
  Operand r;
  for (const Labels* l : {&batch, &only_a, &only_b})
    for (int x : *l) r.labels.push_back(x);
  Dims sizes = sb;
  for (int64_t n : sa) sizes.push_back(n);
  for (int64_t n : sc) sizes.push_back(n);
  r.tensor = trine::reshape(bmm(matrix(a, only_a, contracted, sa, sk), matrix(b, contracted, only_b, sk, sc)), sizes);
  // Broadcast labels that are not wanted further on are summed after the product.
  sum_out(r, keep);
  return r;
}

}  // namespace

Tensor einsum(std::string_view equation, TensorList tensors) {
  TRINE_CHECK(!tensors.empty(), "einsum: must provide at least one operand");
  const size_t arrow = equation.find("->");
  std::string_view left = equation.substr(0, arrow);
  std::vector<std::string_view> terms;
  for (size_t begin = 0;;) {
    size_t comma = left.find(',', begin);
    terms.push_back(left.substr(begin, comma == std::string_view::npos ? comma : comma - begin));
    if (comma == std::string_view::npos) break;
    begin = comma + 1;
  }
  TRINE_CHECK(terms.size() == tensors.size(), "einsum: the equation '", equation, "' has ", terms.size(), " operands, but ", tensors.size(), " were given");
  int64_t ellipsis = 0;
  for (size_t i = 0; i < terms.size(); ++i) {
    int64_t rest = tensors[i].dim() - letters(terms[i]);
    bool has = terms[i].find("...") != std::string_view::npos;
    TRINE_CHECK(has ? rest >= 0 : rest == 0, "einsum: the number of subscripts in '", terms[i], "' does not match the number of dimensions of operand ", i, " of shape ", tensors[i].sizes());
    if (has) ellipsis = std::max(ellipsis, rest);
  }
  TRINE_CHECK(ellipsis < 64, "einsum: too many dimensions");
  std::vector<Operand> operands;
  std::array<int, kEllipsis + 64> uses{};
  for (size_t i = 0; i < terms.size(); ++i) {
    Operand o{tensors[i], parse(terms[i], tensors[i].dim() - letters(terms[i]), ellipsis, equation)};
    for (int l : o.labels) uses[static_cast<size_t>(l)]++;
    o.tensor = take_diagonals(o.tensor, o.labels);
    operands.push_back(std::move(o));
  }
  Labels result;
  if (arrow != std::string_view::npos) {
    result = parse(equation.substr(arrow + 2), ellipsis, ellipsis, equation);
    for (int l : result) TRINE_CHECK(uses[static_cast<size_t>(l)] > 0 || l >= kEllipsis, "einsum: an output subscript does not appear in the inputs of '", equation, "'");
    for (size_t i = 0; i < result.size(); ++i)
      for (size_t j = i + 1; j < result.size(); ++j) TRINE_CHECK(result[i] != result[j], "einsum: an output subscript appears more than once in '", equation, "'");
  } else {
    for (int64_t d = 0; d < ellipsis; ++d) result.push_back(kEllipsis + static_cast<int>(d));
    for (int l = 0; l < kEllipsis; ++l)
      if (uses[static_cast<size_t>(l)] == 1) result.push_back(l);
  }
  for (int l = 0; l < kEllipsis + static_cast<int>(ellipsis); ++l) {
    int64_t size = 1;
    for (const Operand& o : operands) {
      int64_t n = o.size(l);
      TRINE_CHECK(n == 1 || size == 1 || n == size, "einsum: operands do not broadcast with remapped shapes: a subscript of '", equation, "' has sizes ", size, " and ", n);
      if (n != 1) size = n;
    }
  }
  auto needed = [&](size_t from) {
    std::array<bool, kEllipsis + 64> keep{};
    for (int l : result) keep[static_cast<size_t>(l)] = true;
    for (size_t i = from; i < operands.size(); ++i)
      for (int l : operands[i].labels) keep[static_cast<size_t>(l)] = true;
    return keep;
  };
  Operand total = operands[0];
  sum_out(total, needed(1));
  for (size_t i = 1; i < operands.size(); ++i) {
    // Labels that only this operand has and nobody needs are summed before the product.
    auto keep = needed(i + 1), own = keep;
    for (int l : total.labels) own[static_cast<size_t>(l)] = true;
    sum_out(operands[i], own);
    auto others = keep;
    for (int l : operands[i].labels) others[static_cast<size_t>(l)] = true;
    sum_out(total, others);
    total = multiply(total, operands[i], keep);
  }
  return arranged(total, result);
}

}  // namespace trine::composite
