// Einsum of two operands that is one batched matrix product.
#include <algorithm>

#include "kernel/batched_gemm.h"
#include "lower/renumber.h"
#include "lower/table.h"

namespace hf::lower {
namespace {

using kernel::BatchedGemmProblem;

// An axis of the sum by its label: its extent and its strides in both operands, -1 where one has it not.
struct Label {
  char name;
  int64_t extent, a = -1, b = -1;
};

struct Equation {
  std::vector<Label> labels;
  std::string terms[2], out;

  Label* find(char name) {
    auto at = std::find_if(labels.begin(), labels.end(), [&](const Label& l) { return l.name == name; });
    return at == labels.end() ? nullptr : &*at;
  }
};

bool repeats(const std::string& term) {
  for (char c : term)
    if (std::count(term.begin(), term.end(), c) > 1) return true;
  return false;
}

// "ab,bc->ac" with the operands' extents; none for what has no such form (ellipses, diagonals, broadcast extents).
std::optional<Equation> equation_of(const Request& r) {
  std::string text = r.node.s("equation");
  std::erase(text, ' ');
  size_t comma = text.find(','), arrow = text.find("->");
  if (comma == text.npos || arrow == text.npos || comma > arrow || text.find('.') != text.npos) return std::nullopt;
  Equation e;
  e.terms[0] = text.substr(0, comma), e.terms[1] = text.substr(comma + 1, arrow - comma - 1),
  e.out = text.substr(arrow + 2);
  if (e.terms[1].find(',') != text.npos || repeats(e.terms[0]) || repeats(e.terms[1])) return std::nullopt;
  for (int t : {0, 1}) {
    Dims dims = r.dims(t), strides = dims.strides();
    if (static_cast<size_t>(dims.rank()) != e.terms[t].size()) return std::nullopt;
    for (int i = 0; i < dims.rank(); ++i) {
      char name = e.terms[t][static_cast<size_t>(i)];
      Label* label = e.find(name);
      if (!label) label = &e.labels.emplace_back(Label{name, dims[i]});
      if (label->extent != dims[i]) return std::nullopt;
      (t ? label->b : label->a) = strides[i];
    }
  }
  return e;
}

// Several axes as one: in the order given, without gaps in the operands that have them.
std::optional<Label> joined(const std::vector<Label>& axes) {
  Label all{.name = 0, .extent = 1, .a = 0, .b = 0};
  for (const Label& l : axes) {
    if (l.extent == 1) continue;
    auto follows = [&](int64_t outer, int64_t inner) { return inner < 0 || outer == inner * l.extent; };
    if (all.extent > 1 && (!follows(all.a, l.a) || !follows(all.b, l.b))) return std::nullopt;
    all = {0, all.extent * l.extent, l.a, l.b};
  }
  return all;
}

}  // namespace

Answer lower_einsum(const Request& r) {
  if (r.empty() || r.node.epilogue || r.node.own_inputs() != 2) return Refusal{"not two operands with elements"};
  for (int i : {0, 1})
    if (!is_float_element(r.stored_input(i))) return Refusal{fmt::format("input {} is {}", i, name(r.stored_input(i)))};
  auto e = equation_of(r);
  if (!e || std::any_of(e->out.begin(), e->out.end(), [&](char c) { return !e->find(c); }))
    return Refusal{fmt::format("equation '{}'", r.node.s("equation"))};
  // The result's axes: those of both operands, then of one, then of the other.
  std::vector<Label> batch, rows, columns, summed;
  bool swapped = false;
  for (char name : e->out) {
    const Label& l = *e->find(name);
    if (l.a >= 0 && l.b >= 0) {
      if (!rows.empty() || !columns.empty()) return Refusal{"batches inside the result's matrices"};
      batch.push_back(l);
      continue;
    }
    bool first = rows.empty() && columns.empty();
    if (first) swapped = l.a < 0;
    bool of_rows = swapped ? l.b >= 0 : l.a >= 0;
    if (of_rows && !columns.empty()) return Refusal{"rows and columns mixed"};
    (of_rows ? rows : columns).push_back(l);
  }
  for (const Label& l : e->labels) {
    if (e->out.find(l.name) != std::string::npos) continue;
    if (l.a < 0 || l.b < 0) return Refusal{"a sum over one operand"};
    summed.push_back(l);
  }
  auto m = joined(rows), n = joined(columns), k = joined(summed);
  if (!m || !n || !k) return Refusal{"axes that no stride covers"};
  BatchedGemmProblem p{.m = m->extent, .n = n->extent, .k = k->extent};
  p.a_row = swapped ? m->b : m->a, p.a_col = swapped ? k->b : k->a;
  p.b_col = swapped ? n->a : n->b, p.b_row = swapped ? k->a : k->b;
  for (const Label& l : batch) p.batch.push_back({l.extent, swapped ? l.b : l.a, swapped ? l.a : l.b});
  p.a = element_of(r.stored_input(swapped)), p.b = element_of(r.stored_input(!swapped));
  p.out = element_of(r.stored_output());
  Lowered l;
  l.inputs = {r.rows(0), r.rows(1)};
  l.outputs = {r.out_rows()};
  l.text = fmt::format("batched gemm {}x{}x{}", p.m, p.n, p.k);
  l.launches.push_back(kernel::batched_gemm(p, r.target));
  renumber(l.launches, swapped ? std::vector<int>{1, 0} : std::vector<int>{0, 1});
  return l;
}

}  // namespace hf::lower
