// What the commands report, apart from how it is shown: as text by each command, as JSON here.
#pragma once
#include "base/settings.h"
#include "cli/classify.h"
#include "cli/tensor_text.h"
#include "cli/timing.h"
#include "session/compile.h"
#include "session/inspect.h"
#include "session/operators.h"

namespace hf::cli {

struct RunReport {
  struct Photo {
    std::string file;
    std::string output;  // which output the guesses come from
    std::vector<Guess> guesses;
  };
  std::string model, device;
  double load_ms = 0, first_ms = 0;
  Latency latency;  // of the runs after the first
  int repeats = 0;
  bool random = false;  // the inputs were made up
  std::vector<Photo> photos;
  std::vector<TensorSummary> outputs;
};

struct TestReport {
  enum class Verdict { Passed, Failed, Known };
  struct Case {
    std::string name, path;
    Verdict verdict = Verdict::Failed;
    std::string reason;
    double ms = 0;
  };
  std::vector<Case> cases;
  int count(Verdict verdict) const;
};

struct InspectReport {
  std::string model, device;
  const Session* session = nullptr;
  std::map<std::string, Dims> shapes;
  Inspection found;
};

struct BenchRow {
  int64_t batch = 1;
  std::string precision, device;
  int threads = 0;
  Latency latency;
  double throughput = 0;  // items a second
  int runs = 0;
  double first_ms = 0, load_ms = 0, peak_mib = 0;
  double device_ms = 0, device_mib = 0;  // on a GPU: its own time of a run, the most of its memory
  std::vector<StepTime> steps;           // of one run, if asked for
};

struct BenchReport {
  std::string model, device;
  std::vector<BenchRow> rows;
};

/// One object, ending with a line feed. Numbers that are not finite become null.
std::string to_json(const RunReport& report);
std::string to_json(const TestReport& report);
std::string to_json(const InspectReport& report);
std::string to_json(const BenchReport& report);
std::string to_json(const std::string& model, const std::string& output, const CompileReport& report);
std::string to_json(const std::vector<Setting>& settings);
std::string to_json(const std::vector<OperatorInfo>& operators);

}  // namespace hf::cli
