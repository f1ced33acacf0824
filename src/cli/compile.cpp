// hipforge compile: a model and its kernels for GPUs that are not there, in one file.
#include "session/compile.h"

#include <algorithm>

#include "base/error.h"
#include "cli/made_up.h"
#include "cli/program.h"
#include "cli/reports.h"
#include "cli/session_flags.h"
#include "cli/terminal.h"

namespace hf::cli {
namespace {

constexpr const char* kNotes =
    R"(FILE holds the model with its external data, and its kernels for the targets. 'hipforge run FILE' needs no compiler on a
machine with one of these GPUs; with other GPUs or shapes it compiles as for an ONNX file, and where there is no compiler
either, nodes without a kernel run on the cpu. An .hfp file holds programs: run only those that you trust.
Targets are gfx90a, gfx942, gfx1100, sm_90 and so on; emu:gfx942 is for tests. AMD's need clang-19 and lld-19 or ROCm,
NVIDIA's NVRTC; neither needs a GPU. Extents that the model leaves open become 1, the sides of pictures 224; --batch and
--shape set them.
The report: uses is the number of launches; registers and spills are a lane's; private is stack and spills in bytes; waves
are those that a SIMD holds at once, by registers and LDS; matrix counts instructions that multiply matrices.)";

struct Flags {
  std::string model, output, targets, batch;
  bool report = false, json = false;
  SessionFlags session;
};

bool read_flags(const Command& command, const Arguments& arguments, Flags& f) {
  std::vector<Option> options = {
      {"MODEL", "", &f.model, "an ONNX file, or an .hfp file"},
      {"--target", "ARCH,...", &f.targets, "the GPUs to compile for, such as gfx942,gfx1100"},
      {"-o,--output", "FILE", &f.output, "the .hfp file to write"},
      {"--batch", "N,...", &f.batch, "batch sizes to compile for; without it, 1 or what the model fixes"},
      {"--report", "", &f.report, "also what each kernel takes: registers, spills, LDS, waves, matrix instructions"},
      {"--json", "", &f.json, "report as JSON"},
  };
  add_model_options(options, f.session);
  if (!parse(command, options, arguments, kNotes)) return false;
  if (f.targets.empty()) usage_error(command.name, "--target is required");
  if (f.output.empty() && !f.report && !f.json)
    usage_error(command.name, "nothing to do: give -o FILE, --report or --json");
  return true;
}

std::string number_text(const std::optional<int64_t>& n) { return n ? fmt::format("{}", *n) : "-"; }

struct Column {
  const char* title;
  std::string (*text)(const KernelReport&);
};

const Column kColumns[] = {
    {"uses", [](const KernelReport& k) { return k.uses ? fmt::format("{}", k.uses) : "-"; }},
    {"VGPRs", [](const KernelReport& k) { return number_text(k.vgprs); }},
    {"AGPRs", [](const KernelReport& k) { return number_text(k.agprs); }},
    {"SGPRs", [](const KernelReport& k) { return number_text(k.sgprs); }},
    {"spills", [](const KernelReport& k) { return number_text(k.spills); }},
    {"private", [](const KernelReport& k) { return number_text(k.private_bytes); }},
    {"LDS", [](const KernelReport& k) { return fmt::format("{}", k.lds_bytes); }},
    {"threads", [](const KernelReport& k) { return fmt::format("{}", k.threads); }},
    {"waves", [](const KernelReport& k) { return number_text(k.waves); }},
    {"matrix", [](const KernelReport& k) { return number_text(k.matrix); }},
    {"code", [](const KernelReport& k) { return number_text(k.code_bytes); }},
};

std::string label_of(const KernelReport& k) { return k.variant.empty() ? k.family : k.family + " " + k.variant; }

void print_kernels(const TargetReport& target) {
  size_t first = 6;
  for (const KernelReport& k : target.kernels) first = std::max(first, label_of(k).size());
  std::vector<size_t> widths;
  for (const Column& c : kColumns) {
    widths.push_back(std::string_view(c.title).size());
    for (const KernelReport& k : target.kernels) widths.back() = std::max(widths.back(), c.text(k).size());
  }
  auto line = [&](const std::string& label, auto cell) {
    std::string text = fmt::format("  {:<{}}", label, first);
    for (size_t i = 0; i < std::size(kColumns); ++i) text += fmt::format("  {:>{}}", cell(kColumns[i]), widths[i]);
    fmt::print("{}\n", text);
  };
  line("kernel", [](const Column& c) { return std::string(c.title); });
  for (const KernelReport& k : target.kernels) line(label_of(k), [&](const Column& c) { return c.text(k); });
}

void print(const Flags& f, const CompileReport& report) {
  for (const TargetReport& t : report.targets) {
    int64_t spills = 0;
    for (const KernelReport& k : t.kernels) spills += k.spills.value_or(0);
    fmt::print("{}  {} kernels in {}  {} of {} nodes on the GPU{}{}\n", coloured(Colour::Bold, t.target),
               t.kernels.size(), time_text(t.seconds * 1e3), t.nodes - t.on_cpu, t.nodes,
               spills ? fmt::format("  {} registers spilled", spills) : "",
               t.split ? "  (data decides shapes: what comes after is not compiled)" : "");
    if (f.report) print_kernels(t);
  }
  if (!f.output.empty())
    fmt::print("{}  {}\n", coloured(Colour::Bold, f.output), bytes_text(static_cast<double>(report.file_bytes)));
}

}  // namespace

int compile(const Command& command, const Arguments& arguments) {
  Flags f;
  if (!read_flags(command, arguments, f)) return 0;
  std::vector<int64_t> batches = {0};
  if (!f.batch.empty()) batches = parse_counts("--batch", f.batch);
  ShapeOverrides overrides = f.session.overrides();
  Progress progress("compiling");
  CompileRequest request{
      .model = f.model, .output = f.output, .targets = parse_words(f.targets), .options = f.session.options()};
  request.progress = [&](const std::string& target, size_t done, size_t all) {
    progress.show(static_cast<double>(done) / static_cast<double>(all),
                  fmt::format("{}: kernel {} of {}", target, done, all));
  };
  request.for_each_shapes = [&](const Session& session, const auto& plan) {
    for (int64_t batch : batches) {
      if (batch) check_batch(session, batch);
      std::map<std::string, Dims> shapes = made_up_shapes(session, overrides, batch);
      with_shape_hint(session, overrides, shapes, [&] { plan(shapes); });
    }
  };
  CompileReport report = compile_model(request);
  progress.clear();
  if (f.json)
    fmt::print("{}", to_json(f.model, f.output, report));
  else
    print(f, report);
  return 0;
}

}  // namespace hf::cli
