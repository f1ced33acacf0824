// hipforge bench: latency, throughput and memory of a model.
#include <algorithm>

#include "base/error.h"
#include "cli/made_up.h"
#include "cli/measure.h"
#include "cli/program.h"
#include "cli/reports.h"
#include "cli/session_flags.h"
#include "cli/terminal.h"

namespace hf::cli {
namespace {

constexpr const char* kNotes =
    R"(Inputs are made up; the first extent is the batch, others that the model leaves open become 1, the sides of pictures
224; --shape sets them. For each batch the model is loaded, run once, warmed up, and run for --time seconds and until
its median is stable (at least 10 runs, fewer if they are very slow). Throughput is batch / median. On a GPU 'device ms' is the median of the device's own time, without the copies of
inputs and outputs. --precision takes several: fp32,fp16.)";

struct Flags {
  std::string model, batch;
  double seconds = 3;
  bool json = false, csv = false, markdown = false, profile = false;
  SessionFlags session;
};

bool read_flags(const Command& command, const Arguments& arguments, Flags& f) {
  std::vector<Option> options = {
      {"MODEL", "", &f.model, "an ONNX file"},
      {"--batch", "N,...", &f.batch, "batch sizes, one row each; without it, 1 or what the model fixes"},
      {"--time", "S", &f.seconds, "seconds for each row", 0.001},
      {"--profile", "", &f.profile, "also the steps that take the most time"},
      {"--json", "", &f.json, "report as JSON"},
      {"--csv", "", &f.csv, "report as comma-separated values"},
      {"--markdown", "", &f.markdown, "report as a Markdown table"},
  };
  add_session_options(options, f.session);
  if (!parse(command, options, arguments, kNotes)) return false;
  if (f.json + f.csv + f.markdown > 1) usage_error(command.name, "--json, --csv and --markdown exclude each other");
  return true;
}

// The first extent of the first input that has one.
int64_t batch_of(const Session& session, const std::map<std::string, Dims>& shapes) {
  for (const Port& p : session.inputs())
    if (!p.optional && shapes.at(p.name).rank() > 0) return std::max<int64_t>(shapes.at(p.name)[0], 1);
  return 1;
}

int thread_count(const SessionFlags& flags, const std::string& device) {
  if (flags.threads) return flags.threads;
  // The session chose: "cpu (..., 2 threads)".
  size_t end = device.rfind(" thread");
  if (end == device.npos) return 0;
  size_t before = device.find_last_not_of("0123456789", end - 1);
  return std::atoi(device.c_str() + (before == device.npos ? 0 : before + 1));
}

// The device's own times, without copies and launches, until `seconds` are used.
void time_device(const Session& session, const NamedTensors& inputs, double seconds, BenchRow& row) {
  constexpr int kAtOnce = 20, kMost = 10000;
  std::vector<double> samples;
  Stopwatch all;
  while (samples.empty() || (all.ms() < seconds * 1e3 && samples.size() < kMost))
    for (double us : session.replay(inputs, kAtOnce)) samples.push_back(us / 1e3);
  row.device_ms = describe(samples).median;
  row.device_mib = static_cast<double>(session.memory().device_peak_bytes) / (1 << 20);
}

// One row; `batch` 0: what the shapes say.
BenchRow bench(const Flags& f, const std::string& precision, int64_t batch, Progress& progress) {
  BenchRow row;
  reset_peak();
  Stopwatch load;
  SessionFlags flags = f.session;
  flags.precision = precision;
  std::unique_ptr<Session> session = Session::open(f.model, flags.options());
  row.device = session->device();
  bool on_cpu = row.device.starts_with("cpu");
  if (on_cpu && precision != "auto" && precision != "fp32")
    fail(Code::Unsupported, "--precision '{}': only fp32 is supported on the cpu", precision);
  row.load_ms = load.ms();
  if (batch) check_batch(*session, batch);
  ShapeOverrides overrides = f.session.overrides();
  std::map<std::string, Dims> shapes = made_up_shapes(*session, overrides, batch);
  NamedTensors inputs = random_inputs(*session, shapes);
  Stopwatch first;
  with_shape_hint(*session, overrides, shapes, [&] { return session->run(inputs); });
  row.first_ms = first.ms();

  row.batch = batch ? batch : batch_of(*session, shapes);
  std::string note = fmt::format("batch {}", row.batch);
  std::vector<double> samples =
      measure([&] { session->run(inputs); }, f.seconds, [&](double done) { progress.show(done, note); });
  row.latency = describe(samples);
  row.runs = static_cast<int>(samples.size());
  row.throughput = static_cast<double>(row.batch) / row.latency.median * 1e3;
  row.peak_mib = peak_mib();
  row.precision = precision_text(session->precision());
  if (!on_cpu) time_device(*session, inputs, f.seconds / 3, row);
  row.threads = thread_count(f.session, row.device);
  if (f.profile) session->profile(inputs, row.steps);
  return row;
}

struct Column {
  const char* title;
  std::string (*text)(const BenchRow&);
};

template <double Latency::*Member>
std::string latency_text(const BenchRow& r) {
  return fmt::format("{:.3f}", r.latency.*Member);
}

const Column kColumns[] = {
    {"batch", [](const BenchRow& r) { return fmt::format("{}", r.batch); }},
    {"precision", [](const BenchRow& r) { return r.precision; }},
    {"median ms", latency_text<&Latency::median>},
    {"min", latency_text<&Latency::min>},
    {"mean", latency_text<&Latency::mean>},
    {"p95", latency_text<&Latency::p95>},
    {"p99", latency_text<&Latency::p99>},
    {"std", latency_text<&Latency::std>},
    {"items/s", [](const BenchRow& r) { return fmt::format("{:.1f}", r.throughput); }},
    {"device ms", [](const BenchRow& r) { return r.device_ms > 0 ? fmt::format("{:.3f}", r.device_ms) : "-"; }},
    {"runs", [](const BenchRow& r) { return fmt::format("{}", r.runs); }},
    {"first ms", [](const BenchRow& r) { return fmt::format("{:.1f}", r.first_ms); }},
    {"load ms", [](const BenchRow& r) { return fmt::format("{:.1f}", r.load_ms); }},
    {"peak MiB", [](const BenchRow& r) { return fmt::format("{:.0f}", r.peak_mib); }},
};

// A table whose lines begin with `left`, end with `right`, and have `between` between cells; `padded` to equal widths.
void print_rows(const std::vector<BenchRow>& rows, const char* left, const char* between, const char* right,
                bool padded, bool ruled) {
  std::vector<size_t> widths;
  for (const Column& c : kColumns) {
    size_t width = std::string_view(c.title).size();
    for (const BenchRow& r : rows) width = std::max(width, c.text(r).size());
    widths.push_back(padded ? width : 0);
  }
  auto line = [&](auto cell) {
    std::string text;
    for (size_t i = 0; i < std::size(kColumns); ++i)
      text += fmt::format("{}{:>{}}", i ? between : left, cell(kColumns[i], widths[i]), widths[i]);
    fmt::print("{}{}\n", text, right);
  };
  line([](const Column& c, size_t) { return std::string(c.title); });
  if (ruled) line([](const Column&, size_t width) { return std::string(std::max<size_t>(width, 2) - 1, '-') + ":"; });
  for (const BenchRow& r : rows) line([&](const Column& c, size_t) { return c.text(r); });
}

void print_profile(const BenchRow& row) {
  constexpr size_t kShown = 15;
  std::vector<StepTime> steps = row.steps;
  double total = 0;
  for (const StepTime& s : steps) total += s.us;
  std::stable_sort(steps.begin(), steps.end(), [](const StepTime& a, const StepTime& b) { return a.us > b.us; });
  fmt::print("\n{}\n", coloured(Colour::Bold, fmt::format("batch {}: {} steps, {}; the longest:", row.batch,
                                                          steps.size(), time_text(total / 1e3))));
  for (size_t i = 0; i < std::min(kShown, steps.size()); ++i)
    fmt::print("{:>9}  {:5.1f}%  {}  {}  {}\n", time_text(steps[i].us / 1e3),
               total > 0 ? 100 * steps[i].us / total : 0.0, steps[i].op, steps[i].kernel, steps[i].label);
}

}  // namespace

int bench_model(const Command& command, const Arguments& arguments) {
  Flags f;
  if (!read_flags(command, arguments, f)) return 0;
  std::vector<int64_t> batches = {0};
  if (!f.batch.empty()) batches = parse_counts("--batch", f.batch);
  Progress progress("measuring");
  BenchReport report{.model = f.model};
  for (const std::string& precision : parse_words(f.session.precision))
    for (int64_t batch : batches) report.rows.push_back(bench(f, precision, batch, progress));
  progress.clear();
  report.device = report.rows[0].device;

  if (f.json) return fmt::print("{}", to_json(report)), 0;
  if (f.csv) return print_rows(report.rows, "", ",", "", false, false), 0;
  if (f.markdown) return print_rows(report.rows, "| ", " | ", " |", true, true), 0;
  fmt::print("{}  {}\n", coloured(Colour::Bold, f.model), report.device);
  print_rows(report.rows, "", "  ", "", true, false);
  for (const BenchRow& row : report.rows)
    if (f.profile) print_profile(row);
  return 0;
}

}  // namespace hf::cli
