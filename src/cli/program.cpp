// The table of commands, and dispatch.
#include "cli/program.h"

#include "base/error.h"
#include "base/log.h"
#include "base/settings.h"
#include "base/tensor.h"
#include "cli/terminal.h"

namespace hf::cli {
namespace {

const Command kCommands[] = {
    {"run", "Run a model on images, on tensors from files, or on made-up inputs", run_model},
    {"test", "Run ONNX backend-test folders and compare with the stored outputs", test_models},
    {"inspect", "Show what a model holds and where its nodes run", inspect_model},
    {"bench", "Measure a model's latency, throughput and memory", bench_model},
    {"compile", "Compile a model for GPUs that are not there, into one file", compile},
    {"operators", "List the operators that are supported, and the kernels that run them", list_operators},
    {"env", "List the settings that are read from the environment", list_settings},
};

void print_overview() {
  fmt::print("hipforge {}: runs ONNX models\n\nUsage: hipforge [--log LEVEL] COMMAND ...\n\nCommands:\n",
             HIPFORGE_VERSION);
  for (const Command& c : kCommands) fmt::print("  {:<11}{}\n", c.name, c.summary);
  fmt::print(
      "\nExamples:\n"
      "  hipforge run model.onnx --image photo.jpg --labels labels.txt\n"
      "  hipforge run model.onnx --input x=x.npy --output-dir out\n"
      "  hipforge bench model.onnx --batch 1,8\n"
      "  hipforge compile model.onnx --target gfx942,gfx1100 -o model.hfp\n\n"
      "'hipforge COMMAND --help' says more; 'hipforge --version' prints the version.\n");
}

}  // namespace

int run_program(const Arguments& arguments) {
  log_to_stderr();
  log::set_filter(setting("log"));
  set_tensor_limit(setting_number("max_tensor"));
  size_t at = 0;
  for (; at < arguments.size() && arguments[at].starts_with("-"); ++at) {
    const std::string& a = arguments[at];
    bool joined = a.starts_with("--log=");
    if (a == "--version") return fmt::print("hipforge {}\n", HIPFORGE_VERSION), 0;
    if (a == "--help" || a == "-h") return print_overview(), 0;
    if (a != "--log" && !joined) fail(Code::InvalidArgument, "there is no option '{}'; see 'hipforge --help'", a);
    if (!joined && at + 1 == arguments.size())
      fail(Code::InvalidArgument, "--log wants a level; see 'hipforge --help'");
    log::set_filter(joined ? a.substr(6) : arguments[++at]);
  }
  if (at == arguments.size()) return print_overview(), 0;
  for (const Command& c : kCommands)
    if (c.name == arguments[at])
      return c.run(c, Arguments(arguments.begin() + static_cast<ptrdiff_t>(at) + 1, arguments.end()));
  fail(Code::InvalidArgument, "there is no command '{}'; see 'hipforge --help'", arguments[at]);
}

}  // namespace hf::cli
