// Einsum: a chain of matrix products, each of operands arranged by their labels.
#include <algorithm>
#include <map>

#include "ops/matmul.h"

namespace hf::ops {
namespace {

constexpr AttrDef attrs[] = {required_attr("equation", AttrType::String)};

// A label: a letter, or the axis of an ellipsis counted from its first, as a negative number.
using Labels = std::vector<int>;

bool contains(const Labels& labels, int label) {
  return std::find(labels.begin(), labels.end(), label) != labels.end();
}

struct Equation {
  std::vector<std::string> terms;  // of the operands; "." stands for the ellipsis
  std::string output;
  bool is_explicit = false;
};

// One term without spaces, its ellipsis as one ".".
std::string read_term(std::string_view text, std::string_view equation) {
  std::string term;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) {
      term += c;
    } else if (text.substr(i, 3) == "..." && term.find('.') == std::string::npos) {
      term += '.';
      i += 2;
    } else {
      fail(Code::InvalidModel, "equation '{}' has an unexpected '{}'", equation, c);
    }
  }
  return term;
}

Equation read_equation(const std::string& equation) {
  std::string text = equation;
  text.erase(std::remove(text.begin(), text.end(), ' '), text.end());
  Equation e;
  const size_t arrow = text.find("->");
  e.is_explicit = arrow != std::string::npos;
  std::string_view left = std::string_view(text).substr(0, arrow);
  for (size_t comma = left.find(','); comma != std::string_view::npos; comma = left.find(',')) {
    e.terms.push_back(read_term(left.substr(0, comma), equation));
    left.remove_prefix(comma + 1);
  }
  e.terms.push_back(read_term(left, equation));
  if (e.is_explicit) {
    e.output = read_term(std::string_view(text).substr(arrow + 2), equation);
  } else {  // the ellipsis, then the letters that occur once, in the order of their codes
    std::map<char, int> counts;
    for (const std::string& term : e.terms)
      for (char c : term) ++counts[c];
    for (auto [c, count] : counts)
      if (c == '.' || count == 1) e.output += c;  // '.' is before the letters
  }
  return e;
}

// A term's labels, one an axis, when its ellipsis is `ellipsis` axes.
Labels labels_of(const std::string& term, int ellipsis) {
  Labels labels;
  for (char c : term) {
    if (c != '.')
      labels.push_back(c);
    else
      for (int i = 0; i < ellipsis; ++i) labels.push_back(i - ellipsis);
  }
  return labels;
}

// How many axes the ellipses are, -1 if no shape tells. All must be as many.
int ellipsis_rank(const Equation& eq, std::span<const int> ranks) {
  int found = -1;
  for (size_t i = 0; i < eq.terms.size(); ++i) {
    if (ranks[i] < 0) continue;
    const bool dots = eq.terms[i].find('.') != std::string::npos;
    const int rest = ranks[i] - static_cast<int>(eq.terms[i].size()) + (dots ? 1 : 0);
    if (rest < 0 || (!dots && rest))
      fail(Code::InvalidModel, "operand {} has rank {}, its term is '{}'", i, ranks[i], eq.terms[i]);
    if (!dots) continue;
    if (found >= 0 && found != rest)
      fail(Code::InvalidModel, "the ellipsis is {} axes of one operand and {} of another", found, rest);
    found = rest;
  }
  return found;
}

void infer(Infer& in) {
  const Equation eq = read_equation(in.node.s("equation"));
  in.require(static_cast<int>(eq.terms.size()) == in.inputs(), "equation '{}' has {} terms, the node {} inputs",
             in.node.s("equation"), eq.terms.size(), in.inputs());
  std::vector<int> ranks;
  for (int i = 0; i < in.inputs(); ++i) ranks.push_back(in.rank(i));
  const int ellipsis = ellipsis_rank(eq, ranks);
  std::map<int, Dim> extents;
  for (size_t i = 0; i < eq.terms.size(); ++i) {
    const Labels labels = labels_of(eq.terms[i], std::max(ellipsis, 0));
    for (size_t axis = 0; axis < labels.size(); ++axis) {
      const Dim d = ranks[i] < 0 ? Dim() : in.shape(static_cast<int>(i))[static_cast<int>(axis)];
      auto [at, fresh] = extents.emplace(labels[axis], d);
      if (!fresh) at->second = broadcast_shapes(std::vector<Dim>{at->second}, std::vector<Dim>{d})[0];
    }
  }
  for (size_t i = 0; i < eq.output.size(); ++i) {
    const char c = eq.output[i];
    in.require(c == '.' || extents.count(c), "label '{}' of the output is of no operand", c);
    in.require(eq.output.find(c) == i, "label '{}' occurs twice in the output", c);
  }
  const bool dots = eq.output.find('.') != std::string::npos;
  if (dots && ellipsis < 0) {
    const bool any = std::any_of(eq.terms.begin(), eq.terms.end(),
                                 [](const std::string& t) { return t.find('.') != std::string::npos; });
    in.require(any, "the output has an ellipsis, no operand has");
    return in.set(0, in.dtype(0));
  }
  std::vector<Dim> out;
  for (int label : labels_of(eq.output, std::max(ellipsis, 0))) out.push_back(extents.at(label));
  in.set(0, in.dtype(0), out);
}

// A dense tensor whose axes have labels, each once. Axes of extent 1 are left out: nothing depends on them.
template <class T>
struct Operand {
  Labels labels;
  Dims dims;
  Tensor values;

  int64_t extent(int label) const {
    for (size_t i = 0; i < labels.size(); ++i)
      if (labels[i] == label) return dims[static_cast<int>(i)];
    return 1;
  }
};

// The elements of x at `axes` (label to extent and stride) in the order `to`; labels not in `to` are summed over.
struct Axis {
  int label;
  int64_t extent, stride;
};
template <class T>
Operand<T> arrange(const T* x, const std::vector<Axis>& axes, const Labels& to) {
  Operand<T> out;
  std::vector<Axis> order;
  auto take = [&](bool kept, int label) {
    for (const Axis& a : axes)
      if (a.label == label && contains(to, label) == kept) order.push_back(a);
  };
  for (int label : to) take(true, label);
  for (const Axis& a : order) out.labels.push_back(a.label), out.dims.push_back(a.extent);
  const size_t kept = order.size();
  for (const Axis& a : axes) take(false, a.label);
  out.values = Tensor(dtype_of<T>(), out.dims);
  int64_t inner = 1;
  for (size_t i = kept; i < order.size(); ++i) inner *= order[i].extent;
  T* y = out.values.template data<T>();
  parallel_for(out.values.size(), static_cast<double>(inner) * 5, [&](int64_t from, int64_t end) {
    for (int64_t i = from; i < end; ++i) {
      int64_t base = 0, left = i;
      for (size_t d = kept; d-- > 0; left /= order[d].extent) base += left % order[d].extent * order[d].stride;
      T sum = 0;
      for (int64_t j = 0; j < inner; ++j) {
        int64_t at = base;
        left = j;
        for (size_t d = order.size(); d-- > kept; left /= order[d].extent)
          at += left % order[d].extent * order[d].stride;
        sum = add_wrapped(sum, x[at]);
      }
      y[i] = sum;
    }
  });
  return out;
}

template <class T>
Operand<T> arrange(const Operand<T>& x, const Labels& to) {
  const Dims strides = x.dims.strides();
  std::vector<Axis> axes;
  for (size_t i = 0; i < x.labels.size(); ++i)
    axes.push_back({x.labels[i], x.dims[static_cast<int>(i)], strides[static_cast<int>(i)]});
  return arrange(x.values.template data<T>(), axes, to);
}

// An input by its term: the axes of a repeated label become their diagonal.
template <class T>
Operand<T> load(const Tensor& t, const Labels& labels) {
  const Dims strides = t.dims().strides();
  std::vector<Axis> axes;
  Labels order;
  for (size_t i = 0; i < labels.size(); ++i) {
    const int64_t extent = t.dims()[static_cast<int>(i)], stride = strides[static_cast<int>(i)];
    if (extent == 1) continue;
    auto same = std::find_if(axes.begin(), axes.end(), [&](const Axis& a) { return a.label == labels[i]; });
    if (same != axes.end())
      same->stride += stride;
    else
      axes.push_back({labels[i], extent, stride}), order.push_back(labels[i]);
  }
  ReadAs<T> x(t);
  return arrange(x.data(), axes, order);
}

// The product of two operands, with the labels that are still needed.
template <class T>
Operand<T> contract(const Operand<T>& a, const Operand<T>& b, const Labels& needed) {
  Labels batch, rows, columns, inner;
  for (int label : a.labels) {
    if (contains(b.labels, label))
      (contains(needed, label) ? batch : inner).push_back(label);
    else if (contains(needed, label))
      rows.push_back(label);
  }
  for (int label : b.labels)
    if (!contains(a.labels, label) && contains(needed, label)) columns.push_back(label);
  Operand<T> out;
  Dims sizes{1, 1, 1, 1};
  int at = 0;
  for (const Labels* group : {&batch, &rows, &columns, &inner}) {
    for (int label : *group) {
      const int64_t extent = contains(a.labels, label) ? a.extent(label) : b.extent(label);
      sizes[at] *= extent;
      if (group != &inner) out.labels.push_back(label), out.dims.push_back(extent);
    }
    ++at;
  }
  auto joined = [](Labels x, const Labels& y, const Labels& z) {
    x.insert(x.end(), y.begin(), y.end());
    x.insert(x.end(), z.begin(), z.end());
    return x;
  };
  const Operand<T> left = arrange(a, joined(batch, rows, inner)), right = arrange(b, joined(batch, inner, columns));
  out.values = Tensor(dtype_of<T>(), out.dims);
  matmul({sizes[0], sizes[1], sizes[3]}, left.values.template data<T>(), {sizes[0], sizes[3], sizes[2]},
         right.values.template data<T>(), out.values.template data<T>());
  return out;
}

template <class T>
void run(Eval& e) {
  const Equation eq = read_equation(e.node.s("equation"));
  std::vector<int> ranks;
  for (size_t i = 0; i < eq.terms.size(); ++i) ranks.push_back(e.in(static_cast<int>(i)).rank());
  const int ellipsis = std::max(ellipsis_rank(eq, ranks), 0);
  auto term = [&](size_t i) { return labels_of(eq.terms[i], ellipsis); };
  const Labels output = labels_of(eq.output, ellipsis);
  Operand<T> result = load<T>(e.in(0), term(0));
  for (size_t i = 1; i < eq.terms.size(); ++i) {
    Labels needed = output;
    for (size_t j = i + 1; j < eq.terms.size(); ++j)
      for (int label : term(j)) needed.push_back(label);
    result = contract(result, load<T>(e.in(static_cast<int>(i)), term(i)), needed);
  }
  result = arrange(result, output);
  WriteAs<T> y(e.out());
  std::copy_n(result.values.template data<T>(), e.out().size(), y.data());
  y.commit();
}

void reference(Eval& e) {
  dispatch_product(e.in(0).dtype(), [&]<class T>(T) { run<T>(e); });
}

constexpr OpDef defs[] = {
    {.name = "Einsum", .since = 12, .max_inputs = -1, .attrs = attrs, .infer = infer, .reference = reference},
};

}  // namespace

std::span<const OpDef> einsum_ops() { return defs; }

}  // namespace hf::ops
