// hipforge run: one model on photos, tensors from files, or made-up inputs.
#include <algorithm>
#include <cctype>
#include <filesystem>
#include <set>

#include "base/error.h"
#include "base/log.h"
#include "base/npy.h"
#include "cli/made_up.h"
#include "cli/program.h"
#include "cli/reports.h"
#include "cli/session_flags.h"
#include "cli/terminal.h"
#include "session/tensor_file.h"

namespace hf::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kNotes =
    R"(Inputs are made up if neither --input nor --image gives any; else a missing one is an error. Made-up extents are 1,
the sides of pictures 224; --shape sets them.
--preprocess is imagenet, lite, none, tf, raw, or a JSON object; without it the model's own (metadata
'hipforge.preprocess') or imagenet. Labels are --labels, MODEL's name with .labels.txt, or metadata 'labels'.
Outputs that hold NaN or infinite values are reported on stderr; the exit status stays 0 without --strict.
Without --repeat the model is run again up to 10 times within a second, to measure its latency.)";

constexpr int kRepeats = 10;
constexpr double kRepeatMs = 1000;

struct Flags {
  std::string model, labels, preprocess, output_dir;
  std::vector<std::string> images, inputs;
  int top = 5, repeat = -1;
  uint64_t seed = 0;
  bool json = false, strict = false;
  SessionFlags session;
};

bool read_flags(const Command& command, const Arguments& arguments, Flags& f) {
  std::vector<Option> options = {
      {"MODEL", "", &f.model, "an ONNX file"},
      {"--image", "FILE", &f.images, "a JPEG or PNG photo for the model; may be repeated"},
      {"--labels", "FILE", &f.labels, "class names, one a line or as JSON"},
      {"--preprocess", "HOW", &f.preprocess, "how photos become the input (see below)"},
      {"--top", "K", &f.top, "classes shown for a photo", 1},
      {"--input", "NAME=FILE", &f.inputs, "a tensor from an .npy or .pb (TensorProto) file; may be repeated"},
      {"--output-dir", "DIR", &f.output_dir, "write each output to DIR/<name>.npy"},
      {"--seed", "N", &f.seed, "for made-up inputs"},
      {"--repeat", "N", &f.repeat, "runs after the first, timed", 0},
      {"--strict", "", &f.strict, "exit with 1 if an output holds NaN or infinite values"},
      {"--json", "", &f.json, "report as JSON"},
  };
  add_session_options(options, f.session);
  return parse(command, options, arguments, kNotes);
}

NamedTensors read_inputs(const Flags& f, const Session& session) {
  NamedTensors tensors;
  for (const std::string& text : f.inputs) {
    auto [name, file] = split_pair("--input", text);
    DType wanted = DType::Undefined;
    for (const Port& p : session.inputs())
      if (p.name == name) wanted = p.dtype;
    if (tensors.contains(name)) fail(Code::InvalidArgument, "--input gives '{}' twice", name);
    tensors[name] = load_tensor(file, wanted);
  }
  return tensors;
}

// Runs for the first time, then again for the latency.
std::vector<Tensor> timed_run(const Flags& f, const Session& session, const NamedTensors& inputs, RunReport& report) {
  Stopwatch first;
  std::vector<Tensor> outputs = session.run(inputs);
  report.first_ms = first.ms();
  std::vector<double> samples;
  Progress progress("running");
  Stopwatch all;
  int most = f.repeat < 0 ? kRepeats : f.repeat;
  while (static_cast<int>(samples.size()) < most && (f.repeat >= 0 || all.ms() < kRepeatMs)) {
    Stopwatch one;
    session.run(inputs);
    samples.push_back(one.ms());
    progress.show(static_cast<double>(samples.size()) / most);
  }
  report.latency = describe(samples);
  report.repeats = static_cast<int>(samples.size());
  return outputs;
}

// Keeps the outputs' summaries, and the files asked for.
class OutputKeeper {
 public:
  OutputKeeper(const Flags& f, const Session& session) : folder_(f.output_dir), ports_(session.outputs()) {
    if (folder_.empty()) return;
    std::error_code error;
    fs::create_directories(folder_, error);
    if (error || !fs::is_directory(folder_, error))
      fail(Code::Io, "folder '{}' cannot be made: {}", folder_.string(), error ? error.message() : "it is a file");
  }

  void keep(const std::vector<Tensor>& outputs, RunReport& report) {
    for (size_t i = 0; i < outputs.size(); ++i) {
      report.outputs.push_back(summarize(ports_[i].name, outputs[i]));
      if (!folder_.empty()) write_npy(folder_ / file_name(ports_[i].name), outputs[i]);
    }
  }

 private:
  // Unique among all files of this command, on file systems that ignore case too, and no longer than they allow.
  std::string file_name(const std::string& name) {
    constexpr size_t kMost = 200;
    std::string safe, lower;
    for (char c : name.substr(0, kMost)) {
      bool plain = std::isalnum(static_cast<unsigned char>(c)) || c == '.' || c == '_' || c == '-';
      safe += plain ? c : '_';
    }
    for (int suffix = 1;; ++suffix) {
      std::string candidate = suffix == 1 ? safe : fmt::format("{}_{}", safe, suffix);
      lower = candidate;
      for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
      if (taken_.insert(lower).second) return candidate + ".npy";
    }
  }

  fs::path folder_;
  std::vector<Port> ports_;
  std::set<std::string> taken_;
};

// The best classes of each photo, from the first output that scores classes; none if no output does.
void guess(const std::vector<Tensor>& outputs, const std::vector<Port>& ports, std::span<const std::string> files,
           int64_t batch, int top, const std::vector<std::string>& labels, RunReport& report) {
  for (size_t i = 0; i < outputs.size(); ++i) {
    int64_t classes = class_count(outputs[i], batch);
    if (!classes) continue;
    if (!labels.empty() && static_cast<int64_t>(labels.size()) != classes)
      log::warn("run", "{} labels for the {} classes of output '{}'", labels.size(), classes, ports[i].name);
    for (size_t k = 0; k < files.size(); ++k)
      report.photos.push_back(
          {files[k], ports[i].name, best_classes(outputs[i], classes, static_cast<int64_t>(k), top, labels)});
    return;
  }
  for (const std::string& file : files) report.photos.push_back({file, "", {}});
}

void run_photos(const Flags& f, const Session& session, NamedTensors inputs, OutputKeeper& keeper, RunReport& report) {
  auto count = static_cast<int64_t>(f.images.size());
  ImageInput in = find_image_input(session, f.session.overrides(), inputs, f.preprocess, count);
  std::vector<std::string> labels = find_labels(f.labels, session, f.model);
  std::span<const std::string> left(f.images);
  Progress progress("photos");
  while (!left.empty()) {
    std::span<const std::string> now = left.first(std::min(left.size(), static_cast<size_t>(in.batch)));
    left = left.subspan(now.size());
    inputs[in.port.name] = load_images(in, now);
    int64_t batch = in.free ? static_cast<int64_t>(now.size()) : in.batch;
    std::vector<Tensor> outputs = report.photos.empty() ? timed_run(f, session, inputs, report) : session.run(inputs);
    guess(outputs, session.outputs(), now, batch, f.top, labels, report);
    keeper.keep(outputs, report);
    progress.show(1 - static_cast<double>(left.size()) / static_cast<double>(count), now.back());
  }
}

// Made-up inputs where there are none from files.
void run_tensors(const Flags& f, const Session& session, NamedTensors inputs, OutputKeeper& keeper, RunReport& report) {
  ShapeOverrides overrides = f.session.overrides();
  std::map<std::string, Dims> shapes = made_up_shapes(session, overrides);
  if (!inputs.empty()) return keeper.keep(timed_run(f, session, inputs, report), report);
  inputs = random_inputs(session, shapes, f.seed);
  report.random = !inputs.empty();
  auto run = [&] { return timed_run(f, session, inputs, report); };
  keeper.keep(with_shape_hint(session, overrides, shapes, run), report);
}

// How many outputs hold values that are not finite; each is named on stderr.
int warn_of_bad_values(const RunReport& report) {
  int bad = 0;
  for (const TensorSummary& s : report.outputs) {
    if (s.nans + s.infinities == 0) continue;
    ++bad;
    say(fmt::format("hipforge: warning: output '{}' holds {} NaN and {} infinite values of {}\n", printable(s.name),
                    s.nans, s.infinities, s.dims.count()));
  }
  return bad;
}

void print(const RunReport& r) {
  bool classified = false;
  for (const RunReport::Photo& p : r.photos) {
    fmt::print("{}\n", coloured(Colour::Bold, p.file));
    for (const Guess& g : p.guesses) fmt::print("  {:5.1f}%  {}\n", g.probability * 100, g.label);
    classified |= !p.guesses.empty();
  }
  if (r.random) fmt::print("no inputs given: made-up ones (see --input, --image, --seed)\n");
  if (!classified)
    for (const TensorSummary& s : r.outputs) fmt::print("{}\n", to_text(s));
  std::string latency = r.repeats ? fmt::format("{} (median of {}; first {})", time_text(r.latency.median), r.repeats,
                                                time_text(r.first_ms))
                                  : fmt::format("{} (first run)", time_text(r.first_ms));
  fmt::print("{}  latency {}  model loaded in {}\n", r.device, latency, time_text(r.load_ms));
}

}  // namespace

int run_model(const Command& command, const Arguments& arguments) {
  Flags f;
  if (!read_flags(command, arguments, f)) return 0;
  SessionOptions options = f.session.options();
  ShapeOverrides overrides = f.session.overrides();
  RunReport report{.model = f.model};
  Stopwatch load;
  std::unique_ptr<Session> session = Session::open(f.model, options);
  report.load_ms = load.ms();
  report.device = session->device();
  input_shapes(*session, overrides);  // refuses overrides of what the model lacks

  NamedTensors inputs = read_inputs(f, *session);
  OutputKeeper keeper(f, *session);
  if (f.images.empty())
    run_tensors(f, *session, std::move(inputs), keeper, report);
  else
    run_photos(f, *session, std::move(inputs), keeper, report);

  if (f.json)
    fmt::print("{}", to_json(report));
  else
    print(report);
  int bad = warn_of_bad_values(report);
  return bad && f.strict ? 1 : 0;
}

}  // namespace hf::cli
