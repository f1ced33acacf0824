// Reports as JSON.
#include <nlohmann/json.hpp>

#include "cli/reports.h"

namespace hf::cli {
namespace {

using Json = nlohmann::ordered_json;

// Names and messages may hold bytes that are no UTF-8; they are replaced.
std::string text_of(const Json& json) { return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n"; }

Json of(const Dims& dims) {
  Json list = Json::array();
  for (int64_t d : dims) list.push_back(d);
  return list;
}

Json of(const ir::Shape& shape) {
  if (!shape.ranked()) return nullptr;
  Json list = Json::array();
  for (const ir::Dim& d : shape.dims()) {
    if (d.known())
      list.push_back(d.value);
    else
      list.push_back(d.symbol.empty() ? Json(nullptr) : Json(d.symbol));
  }
  return list;
}

Json of(const Latency& l) {
  return {{"min", l.min}, {"median", l.median}, {"mean", l.mean}, {"p95", l.p95}, {"p99", l.p99}, {"std", l.std}};
}

Json of(const TensorSummary& s) {
  Json json = {{"name", s.name}, {"dtype", name(s.dtype)}, {"shape", of(s.dims)}};
  if (s.numeric) json.update({{"min", s.min}, {"max", s.max}, {"mean", s.mean}});
  json.update({{"nan", s.nans}, {"infinite", s.infinities}, {"first", s.first}});
  return json;
}

Json of(const std::vector<Port>& ports) {
  Json list = Json::array();
  for (const Port& p : ports)
    list.push_back({{"name", p.name}, {"dtype", name(p.dtype)}, {"shape", of(p.shape)}, {"optional", p.optional}});
  return list;
}

Json of(const RunReport::Photo& p) {
  Json top = Json::array();
  for (const Guess& g : p.guesses)
    top.push_back({{"index", g.index}, {"label", g.label}, {"probability", g.probability}});
  return {{"file", p.file}, {"output", p.output}, {"top", top}};
}

Json of(const plan::Placement& p) {
  return {{"node", p.node}, {"op", p.op}, {"backend", p.backend}, {"kernel", p.kernel}, {"reason", p.reason}};
}

constexpr const char* kVerdicts[] = {"passed", "failed", "known failure"};

Json of(const TestReport::Case& c) {
  return {{"name", c.name},
          {"path", c.path},
          {"result", kVerdicts[static_cast<size_t>(c.verdict)]},
          {"reason", c.reason},
          {"ms", c.ms}};
}

Json of(const StepTime& s) { return {{"label", s.label}, {"op", s.op}, {"kernel", s.kernel}, {"us", s.us}}; }

Json of(const Setting& s) {
  return {{"variable", s.variable},
          {"value", s.value},
          {"default", s.default_value},
          {"from_environment", s.from_environment},
          {"meaning", s.meaning}};
}

Json of(const OperatorInfo& o) {
  Json json = {{"domain", o.domain}, {"name", o.name}, {"since", o.since}, {"cpu", o.cpu}};
  if (o.until) json["until"] = o.until;
  return json;
}

Json of(const std::optional<int64_t>& n) { return n ? Json(*n) : Json(nullptr); }

Json of(const KernelReport& k) {
  return {{"family", k.family},
          {"variant", k.variant},
          {"name", k.name},
          {"uses", k.uses},
          {"threads", k.threads},
          {"lds_bytes", k.lds_bytes},
          {"vgprs", of(k.vgprs)},
          {"agprs", of(k.agprs)},
          {"sgprs", of(k.sgprs)},
          {"spills", of(k.spills)},
          {"private_bytes", of(k.private_bytes)},
          {"waves", of(k.waves)},
          {"matrix_instructions", of(k.matrix)},
          {"code_bytes", of(k.code_bytes)}};
}

template <class Items>
Json list_of(const Items& items) {
  Json list = Json::array();
  for (const auto& item : items) list.push_back(of(item));
  return list;
}

Json of(const BenchRow& r) {
  Json json = {{"batch", r.batch},         {"precision", r.precision},        {"device", r.device},
               {"threads", r.threads},     {"latency_ms", of(r.latency)},     {"throughput", r.throughput},
               {"runs", r.runs},           {"first_ms", r.first_ms},          {"load_ms", r.load_ms},
               {"device_ms", r.device_ms}, {"device_peak_mib", r.device_mib}, {"peak_mib", r.peak_mib}};
  if (!r.steps.empty()) json["profile"] = list_of(r.steps);
  return json;
}

Json rows_of(const std::vector<BenchRow>& rows) {
  Json list = Json::array();
  for (const BenchRow& r : rows) list.push_back(of(r));
  return list;
}

}  // namespace

std::string to_json(const RunReport& r) {
  return text_of({{"model", r.model},
                  {"device", r.device},
                  {"load_ms", r.load_ms},
                  {"first_ms", r.first_ms},
                  {"latency_ms", r.repeats ? of(r.latency) : Json(nullptr)},
                  {"repeats", r.repeats},
                  {"random_inputs", r.random},
                  {"images", list_of(r.photos)},
                  {"outputs", list_of(r.outputs)}});
}

std::string to_json(const TestReport& r) {
  return text_of({{"passed", r.count(TestReport::Verdict::Passed)},
                  {"failed", r.count(TestReport::Verdict::Failed)},
                  {"skipped", r.count(TestReport::Verdict::Known)},
                  {"cases", list_of(r.cases)}});
}

std::string to_json(const InspectReport& r) {
  const ir::Model& m = r.session->model();
  Json operators = Json::object(), shapes = Json::object();
  for (const Inspection::Operator& o : r.found.operators) operators[o.name] = o.count;
  for (const auto& [name, dims] : r.shapes) shapes[name] = of(dims);
  Json json = {{"model", r.model},
               {"device", r.device},
               {"ir_version", m.ir_version},
               {"opsets", m.opsets},
               {"producer", m.producer},
               {"producer_version", m.producer_version},
               {"inputs", of(r.session->inputs())},
               {"outputs", of(r.session->outputs())},
               {"operators", operators},
               {"parameters", r.found.parameters},
               {"parameter_bytes", r.found.parameter_bytes},
               {"shapes", shapes},
               {"macs", r.found.macs},
               {"weights_bytes", r.session->memory().weights_bytes},
               {"arena_bytes", r.found.arena_bytes},
               {"scratch_bytes", r.found.scratch_bytes},
               {"split", r.found.split},
               {"placements", list_of(r.found.placements)}};
  return text_of(json);
}

std::string to_json(const std::string& model, const std::string& output, const CompileReport& r) {
  Json targets = Json::array();
  for (const TargetReport& t : r.targets)
    targets.push_back({{"target", t.target},
                       {"nodes", t.nodes},
                       {"on_cpu", t.on_cpu},
                       {"split", t.split},
                       {"seconds", t.seconds},
                       {"kernels", list_of(t.kernels)}});
  Json json = {{"model", model}, {"targets", targets}};
  if (!output.empty()) json.update({{"output", output}, {"bytes", r.file_bytes}});
  return text_of(json);
}

std::string to_json(const std::vector<Setting>& settings) { return text_of(list_of(settings)); }
std::string to_json(const std::vector<OperatorInfo>& operators) { return text_of(list_of(operators)); }

std::string to_json(const BenchReport& r) {
  return text_of({{"model", r.model}, {"device", r.device}, {"rows", rows_of(r.rows)}});
}

}  // namespace hf::cli
