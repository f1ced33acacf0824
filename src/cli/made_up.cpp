// Shapes for inputs that nobody gave.
#include "cli/made_up.h"

#include "session/package.h"

namespace hf::cli {
namespace {

constexpr int64_t kSide = 224;

// Where height begins in the shape of a picture input; -1 if it is none.
int picture_axis(const Port& p) {
  bool pixels = is_float(p.dtype) || p.dtype == DType::U8;
  if (!pixels || p.shape.rank() != 4) return -1;
  auto channels = [&](int i) { return p.shape[i].known() && (p.shape[i].value == 1 || p.shape[i].value == 3); };
  return channels(1) ? 2 : channels(3) ? 1 : -1;
}

// True if the model leaves extent i open and the user did not set it.
bool is_open(const Port& p, int i, const ShapeOverrides& overrides) {
  const ir::Dim& d = p.shape[i];
  return !d.known() && !overrides.contains(p.name) && (d.symbol.empty() || !overrides.contains(d.symbol));
}

}  // namespace

std::map<std::string, Dims> made_up_shapes(const Session& session, const ShapeOverrides& overrides, int64_t batch) {
  const Package* package = session.package();
  if (!batch && overrides.empty() && package && !package->shapes.empty())
    return input_shapes(session, package->shapes[0]);
  std::map<std::string, Dims> shapes = input_shapes(session, overrides, batch ? batch : 1);
  std::set<std::string> symbols;
  for (const Port& p : session.inputs()) {
    int axis = picture_axis(p);
    for (int i = axis; axis >= 0 && i < axis + 2; ++i) {
      if (!is_open(p, i, overrides)) continue;
      shapes[p.name][i] = kSide;
      symbols.insert(p.shape[i].symbol);
    }
  }
  symbols.erase("");
  for (const Port& p : session.inputs())
    for (int i = 0; i < p.shape.rank(); ++i)
      if (symbols.contains(p.shape[i].symbol) && is_open(p, i, overrides)) shapes[p.name][i] = kSide;
  return shapes;
}

void check_batch(const Session& session, int64_t batch) {
  std::string fixed;
  for (const Port& p : session.inputs()) {
    if (p.optional || p.shape.rank() == 0) continue;
    if (!p.shape[0].known() || p.shape[0].value == batch) return;
    if (fixed.empty()) fixed = fmt::format("input '{}' has the shape {}", p.name, p.shape.text());
  }
  if (!fixed.empty())
    fail(Code::InvalidArgument, "--batch {}: {}, whose first extent is fixed; export the model with a free batch",
         batch, fixed);
}

std::string made_up_text(const Session& session, const ShapeOverrides& overrides,
                         const std::map<std::string, Dims>& shapes) {
  std::string text;
  std::set<std::string> said;
  for (const Port& p : session.inputs())
    for (int i = 0; i < p.shape.rank(); ++i) {
      const std::string& symbol = p.shape[i].symbol;
      std::string name = symbol.empty() ? fmt::format("{}[{}]", p.name, i) : symbol;
      if (p.optional || !is_open(p, i, overrides) || !said.insert(name).second) continue;
      text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", name, shapes.at(p.name)[i]);
    }
  return text;
}

}  // namespace hf::cli
