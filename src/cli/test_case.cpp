// Running one backend-test case.
#include "cli/test_case.h"

#include <algorithm>
#include <fstream>

#include "base/error.h"
#include "cli/compare.h"
#include "ops/op.h"
#include "session/random_inputs.h"
#include "session/tensor_file.h"

namespace hf::cli {
namespace {

namespace fs = std::filesystem;

// What is wanted of a case.
enum class Expect { Outputs, Error, Any };

Expect expectation(const fs::path& folder) {
  if (fs::exists(folder / "expect_error")) return Expect::Error;
  return fs::exists(folder / "expect_any") ? Expect::Any : Expect::Outputs;
}

std::optional<double> read_tolerance(const fs::path& folder) {
  fs::path path = folder / "tolerance";
  if (!fs::exists(path)) return std::nullopt;
  double value = -1;
  if (!(std::ifstream(path) >> value) || !(value >= 0))
    fail(Code::InvalidArgument, "the tolerance file holds no number");
  return value;
}

std::vector<fs::path> data_sets(const fs::path& folder) {
  std::vector<fs::path> sets;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.is_directory() && entry.path().filename().string().starts_with("test_data_set"))
      sets.push_back(entry.path());
  std::sort(sets.begin(), sets.end());
  return sets;
}

// input_0.pb, input_1.pb, ... up to the first that is missing.
std::vector<fs::path> numbered(const fs::path& set, const char* kind) {
  std::vector<fs::path> files;
  for (;;) {
    fs::path path = set / fmt::format("{}_{}.pb", kind, files.size());
    if (!fs::exists(path)) return files;
    files.push_back(path);
  }
}

// True if a node's results are random: stored values cannot come again, whatever the seed.
bool is_random(const ir::Graph& g) {
  for (const ir::Node* n = g.first(); n; n = n->next()) {
    if (n->def && n->def->random) return true;
    for (const auto& sub : n->subgraphs())
      if (is_random(*sub)) return true;
  }
  return false;
}

// A stored tensor for a port of this dtype. ONNX's older data has the bits of bfloat16 as uint16.
Tensor read_stored(const fs::path& path, DType wanted) {
  Tensor t = load_tensor(path);
  if (wanted != DType::BF16 || t.dtype() != DType::U16) return t;
  auto owner = std::make_shared<Tensor>(t);
  return Tensor::view(DType::BF16, t.dims(), std::as_const(*owner).raw(), owner);
}

NamedTensors read_inputs(const fs::path& set, const Session& session) {
  std::vector<fs::path> files = numbered(set, "input");
  std::vector<Port> ports = session.inputs();
  // Files may be there for the inputs without default only.
  if (files.size() < ports.size()) std::erase_if(ports, [](const Port& p) { return p.optional; });
  if (files.size() > ports.size())
    fail(Code::InvalidArgument, "{} input files for the model's {} inputs", files.size(), ports.size());
  NamedTensors inputs;
  for (size_t i = 0; i < files.size(); ++i) inputs[ports[i].name] = read_stored(files[i], ports[i].dtype);
  return inputs;
}

// Why the outputs are not the stored ones; empty if they are.
std::string check_outputs(const fs::path& set, const Session& session, const std::vector<Tensor>& outputs,
                          std::optional<double> tolerance) {
  std::vector<fs::path> files = numbered(set, "output");
  if (files.empty()) return "no output_0.pb to compare with";
  if (files.size() > outputs.size())
    return fmt::format("{} output files for the model's {} outputs", files.size(), outputs.size());
  bool random = is_random(*session.model().graph);
  for (size_t i = 0; i < files.size(); ++i) {
    Tensor wanted = read_stored(files[i], outputs[i].dtype());
    bool alike = random && wanted.dtype() == outputs[i].dtype() && wanted.dims() == outputs[i].dims();
    std::string text = alike ? "" : difference(outputs[i], wanted, tolerance);
    if (!text.empty()) return fmt::format("output '{}': {}", session.outputs()[i].name, text);
  }
  return {};
}

std::string run_sets(const fs::path& folder, const SessionOptions& options, Expect expect) {
  std::optional<double> tolerance = read_tolerance(folder);
  std::vector<fs::path> sets = data_sets(folder);
  if (sets.empty() && expect == Expect::Outputs) return "there is no test_data_set_* folder";
  std::unique_ptr<Session> session = Session::open(folder / "model.onnx", options);
  if (sets.empty()) session->run(random_inputs(*session, input_shapes(*session, {})));
  for (const fs::path& set : sets) {
    std::vector<Tensor> outputs = session->run(read_inputs(set, *session));
    if (expect != Expect::Outputs) continue;
    std::string text = check_outputs(set, *session, outputs, tolerance);
    if (!text.empty()) return sets.size() > 1 ? fmt::format("{}: {}", set.filename().string(), text) : text;
  }
  return expect == Expect::Error ? "an error was expected, and it ran" : "";
}

}  // namespace

std::vector<fs::path> find_cases(const fs::path& root) {
  std::error_code error;
  if (!fs::exists(root, error)) fail(Code::NotFound, "'{}' does not exist", root.string());
  std::vector<fs::path> cases;
  if (fs::exists(root / "model.onnx", error)) cases.push_back(root);
  fs::recursive_directory_iterator entries(root, error), end;
  for (; !error && entries != end; entries.increment(error))
    if (entries->path().filename() == "model.onnx" && entries.depth() > 0)
      cases.push_back(entries->path().parent_path());
  if (error) fail(Code::Io, "'{}' cannot be read: {}", root.string(), error.message());
  std::sort(cases.begin(), cases.end());
  return cases;
}

std::string run_case(const fs::path& folder, const SessionOptions& options) {
  Expect expect = expectation(folder);
  try {
    return run_sets(folder, options, expect);
  } catch (const Error& e) {
    bool allowed = expect != Expect::Outputs && e.code() != Code::Internal;
    return allowed ? "" : e.what();
  } catch (const std::bad_alloc&) {
    return "out of memory";
  } catch (const std::exception& e) {
    return fmt::format("internal error: {}", e.what());
  }
}

}  // namespace hf::cli
