// hipforge test: ONNX backend-test folders, run and compared.
#include <algorithm>
#include <fstream>
#include <map>
#include <set>
#include <thread>

#include "base/error.h"
#include "cli/children.h"
#include "cli/program.h"
#include "cli/reports.h"
#include "cli/session_flags.h"
#include "cli/terminal.h"
#include "cli/test_case.h"

namespace hf::cli {
namespace {

namespace fs = std::filesystem;
using Verdict = TestReport::Verdict;

constexpr const char* kNotes =
    R"(A case is a folder with model.onnx and test_data_set_*/input_N.pb, output_N.pb; DIR is one, or holds some at any depth.
Further files in it: expect_error (it must be refused), expect_any (refused, or any result), tolerance (a number:
relative and absolute, for floats). Otherwise floats are compared by dtype (float32: 1e-3 relative, 1e-7 absolute, as
ONNX's own runner, and two roundings of the largest value), all else exactly; NaN equals NaN; of random operators only
dtypes and shapes.
Known failures are lines 'NAME  reason'; '#' starts a comment. One that passes counts as failed.
The last line is 'N passed, N failed', with ', N skipped' for known failures. Exit status 1 if one failed.)";

struct Flags {
  std::vector<std::string> folders;
  std::string known_failures;
  int jobs = 0;
  double timeout = 60;
  bool verbose = false, json = false, no_fork = false;
  SessionFlags session;
};

bool read_flags(const Command& command, const Arguments& arguments, Flags& f) {
  f.session.threads = 1;  // the jobs share the cores
  std::vector<Option> options = {
      {"DIR", "...", &f.folders, "case folders, or folders of them"},
      {"--known-failures", "FILE", &f.known_failures, "cases that are known to fail"},
      {"--jobs", "N", &f.jobs, "cases at once; 0: one a processor", 0},
      {"--timeout", "S", &f.timeout, "seconds for a case", 0.001},
      {"--verbose", "", &f.verbose, "also name the cases that pass or are known to fail"},
      {"--no-fork", "", &f.no_fork, "run the cases in this process, for debugging"},
      {"--json", "", &f.json, "report as JSON"},
  };
  add_session_options(options, f.session, false);
  return parse(command, options, arguments, kNotes);
}

// Reasons by case name.
std::map<std::string, std::string> read_known_failures(const std::string& path) {
  std::map<std::string, std::string> known;
  if (path.empty()) return known;
  std::ifstream file(path);
  if (!file || fs::is_directory(path)) fail(Code::NotFound, "known failures '{}' cannot be read", path);
  constexpr const char* kBlanks = " \t\r";
  for (std::string line; std::getline(file, line);) {
    line = line.substr(0, line.find('#'));
    size_t name = line.find_first_not_of(kBlanks);
    if (name == line.npos) continue;
    size_t name_end = std::min(line.find_first_of(kBlanks, name), line.size());
    size_t reason = line.find_first_not_of(kBlanks, name_end);
    known[line.substr(name, name_end - name)] = reason == line.npos ? "" : line.substr(reason);
  }
  return known;
}

TestReport collect(const Flags& f) {
  TestReport report;
  std::set<std::string> seen;
  for (const std::string& folder : f.folders) {
    std::vector<fs::path> cases = find_cases(folder);
    if (cases.empty()) fail(Code::NotFound, "no model.onnx in or under '{}'", folder);
    for (const fs::path& path : cases) {
      fs::path whole = fs::absolute(path).lexically_normal();
      fs::path name = whole.has_filename() ? whole.filename() : whole.parent_path().filename();
      if (seen.insert((whole / "").string()).second) report.cases.push_back({name.string(), path.string()});
    }
  }
  return report;
}

void judge(TestReport::Case& c, const std::string& reason, const std::map<std::string, std::string>& known) {
  auto it = known.find(c.name);
  c.reason = reason;
  if (it == known.end()) {
    c.verdict = reason.empty() ? Verdict::Passed : Verdict::Failed;
  } else if (reason.empty()) {
    c.verdict = Verdict::Failed;
    c.reason = fmt::format("unexpected pass; take it from the known failures ({})", it->second);
  } else {
    c.verdict = Verdict::Known;
    c.reason = it->second;
  }
}

void print(const TestReport::Case& c, bool verbose) {
  if (c.verdict == Verdict::Failed)
    fmt::print("{} {}: {}\n", coloured(Colour::Red, "FAIL"), c.name, c.reason);
  else if (verbose && c.verdict == Verdict::Known)
    fmt::print("{} {}: {}\n", coloured(Colour::Yellow, "known"), c.name, c.reason);
  else if (verbose)
    fmt::print("{} {} ({})\n", coloured(Colour::Green, "ok"), c.name, time_text(c.ms));
}

// Shows finished cases in their order, however they finish.
class Printer {
 public:
  Printer(TestReport& report, const Flags& f) : report_(report), flags_(f), finished_(report.cases.size()) {}

  void finished(size_t index) {
    finished_[index] = true;
    ++count_;
    for (; next_ < finished_.size() && finished_[next_]; ++next_) {
      const TestReport::Case& c = report_.cases[next_];
      if (flags_.json || (c.verdict != Verdict::Failed && !flags_.verbose)) continue;
      progress_.clear();
      print(c, flags_.verbose);
    }
    progress_.show(static_cast<double>(count_) / static_cast<double>(finished_.size()), report_.cases[index].name);
  }

 private:
  TestReport& report_;
  const Flags& flags_;
  std::vector<bool> finished_;
  size_t next_ = 0, count_ = 0;
  Progress progress_{"cases"};
};

}  // namespace

int TestReport::count(Verdict verdict) const {
  return static_cast<int>(
      std::count_if(cases.begin(), cases.end(), [&](const Case& c) { return c.verdict == verdict; }));
}

int test_models(const Command& command, const Arguments& arguments) {
  Flags f;
  if (!read_flags(command, arguments, f)) return 0;
  SessionOptions options = f.session.options();
  std::map<std::string, std::string> known = read_known_failures(f.known_failures);
  TestReport report = collect(f);
  auto count = static_cast<int>(report.cases.size());
  int jobs = f.jobs ? f.jobs : static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));

  Printer printer(report, f);
  auto work = [&](int i) { return run_case(report.cases[static_cast<size_t>(i)].path, options); };
  auto done = [&](int i, ChildResult result) {
    TestReport::Case& c = report.cases[static_cast<size_t>(i)];
    c.ms = result.ms;
    judge(c, result.fault.empty() ? result.text : result.fault, known);
    printer.finished(static_cast<size_t>(i));
  };
  if (!f.no_fork) run_in_children(count, jobs, f.timeout, work, done);
  for (int i = 0; f.no_fork && i < count; ++i) {
    Stopwatch watch;
    std::string reason = work(i);
    done(i, {std::move(reason), "", watch.ms()});
  }

  int failed = report.count(Verdict::Failed), skipped = report.count(Verdict::Known);
  if (f.json)
    fmt::print("{}", to_json(report));
  else
    fmt::print("{} passed, {} failed{}\n", report.count(Verdict::Passed), failed,
               skipped ? fmt::format(", {} skipped", skipped) : "");
  return failed ? 1 : 0;
}

}  // namespace hf::cli
