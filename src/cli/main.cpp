// The hipforge program's entry: exceptions end here, as one line on stderr and an exit status.
#include <cstdio>
#include <new>
#include <system_error>

#include "base/error.h"
#include "cli/program.h"

namespace {

int report(hf::Code code, const char* text) {
  std::fflush(stdout);
  fmt::print(stderr, "hipforge: {}\n", text);
  return hf::exit_status(code);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    int status = hf::cli::run_program(hf::cli::Arguments(argv + (argc > 0), argv + argc));
    // A full disk or a closed pipe shows only here.
    if (std::fflush(stdout) != 0) return report(hf::Code::Io, "i/o error: standard output cannot be written");
    return status;
  } catch (const hf::Error& e) {
    return report(e.code(), e.what());
  } catch (const std::system_error& e) {
    return report(hf::Code::Io, fmt::format("i/o error: {}", e.what()).c_str());
  } catch (const std::bad_alloc&) {
    return report(hf::Code::OutOfMemory, "out of memory");
  } catch (const std::exception& e) {
    return report(hf::Code::Internal, fmt::format("internal error: {}; this is a bug in hipforge", e.what()).c_str());
  }
}
