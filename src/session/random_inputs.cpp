// Valid inputs for a model whose user gave none.
#include "session/random_inputs.h"

#include <algorithm>
#include <random>

#include "base/convert.h"
#include "base/error.h"

namespace hf {
namespace {

// The size of the smallest constant table that this value indexes, looking through type casts; 0 if there is none.
int64_t table_size(const ir::Value* v, int depth = 0) {
  int64_t smallest = 0;
  auto note = [&](int64_t n) {
    if (n > 0 && (!smallest || n < smallest)) smallest = n;
  };
  for (const ir::Use& u : v->uses()) {
    const ir::Node* n = u.node;
    const ir::Value* data = n->input(0);
    if (n->is("Gather") && u.index == 1 && data->shape.ranked()) {
      int axis = normalize_axis(n->i("axis"), std::max(data->shape.rank(), 1));
      if (data->shape.rank() && data->shape[axis].known()) note(data->shape[axis].value);
    } else if ((n->is("Cast") || n->is("Reshape") || n->is("Squeeze") || n->is("Unsqueeze")) && u.index == 0 &&
               depth < 4) {
      note(table_size(n->output(), depth + 1));
    }
  }
  return smallest;
}

Dims wanted_shape(const Port& p, const ShapeOverrides& overrides, int64_t batch) {
  auto whole = overrides.find(p.name);
  if (whole != overrides.end()) {
    const Dims& d = whole->second;
    bool fits = !p.shape.ranked() || d.rank() == p.shape.rank();
    for (int i = 0; fits && p.shape.ranked() && i < d.rank(); ++i)
      fits = !p.shape[i].known() || p.shape[i].value == d[i];
    if (!fits)
      fail(Code::InvalidArgument, "shape {} for input '{}' does not fit the declared {}", d.text(), p.name,
           p.shape.text());
    return d;
  }
  Dims dims;
  for (int i = 0; i < p.shape.rank(); ++i) {
    const ir::Dim& d = p.shape[i];
    auto named = overrides.find(d.symbol);
    bool is_named = !d.symbol.empty() && named != overrides.end();
    if (is_named && named->second.rank() != 1)
      fail(Code::InvalidArgument, "shape {} for extent '{}' should be one number", named->second.text(), d.symbol);
    dims.push_back(d.known() ? d.value : is_named ? named->second[0] : i == 0 ? batch : 1);
  }
  return dims;
}

}  // namespace

std::map<std::string, Dims> input_shapes(const Session& session, const ShapeOverrides& overrides, int64_t batch) {
  for (const auto& [key, dims] : overrides) {
    bool known = false;
    for (const Port& p : session.inputs()) {
      known |= p.name == key;
      for (const ir::Dim& d : p.shape.dims()) known |= d.symbol == key;
    }
    if (!known) fail(Code::NotFound, "'{}' is neither an input nor a symbolic extent of the model", key);
  }
  std::map<std::string, Dims> shapes;
  for (const Port& p : session.inputs()) shapes[p.name] = wanted_shape(p, overrides, batch);
  return shapes;
}

NamedTensors random_inputs(const Session& session, const std::map<std::string, Dims>& shapes, uint64_t seed) {
  NamedTensors tensors;
  std::mt19937_64 rng(seed);
  for (size_t k = 0; k < session.inputs().size(); ++k) {
    const Port& p = session.inputs()[k];
    if (p.optional) continue;
    Tensor t(p.dtype, shapes.at(p.name));
    if (is_float(p.dtype)) {
      std::uniform_real_distribution<float> uniform(0, 1);
      std::vector<float> values(static_cast<size_t>(t.size()));
      for (float& v : values) v = uniform(rng);
      write_elements(values.data(), t);
    } else if (is_int(p.dtype)) {
      int64_t table = table_size(session.model().graph->inputs()[k]);
      std::uniform_int_distribution<int64_t> index(0, std::max<int64_t>(table - 1, 0));
      std::vector<int64_t> values(static_cast<size_t>(t.size()));
      for (int64_t& v : values) v = table ? index(rng) : 1;
      write_elements(values.data(), t);
    } else if (p.dtype == DType::Bool) {
      std::fill_n(static_cast<uint8_t*>(t.raw()), t.size(), uint8_t{1});
    } else if (p.dtype != DType::String) {
      std::fill_n(static_cast<uint8_t*>(t.raw()), t.size_bytes(), uint8_t{0});
    }
    tensors[p.name] = std::move(t);
  }
  return tensors;
}

}  // namespace hf
