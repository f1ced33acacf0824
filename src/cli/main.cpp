// The hipforge program's entry: exceptions end here, as one line on stderr and an exit status.
#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <new>
#include <string>
#include <string_view>
#include <system_error>

#include "base/error.h"
#include "cli/program.h"
#include "cli/terminal.h"

namespace {

// How long an OpenMP thread spins for work before it sleeps, in libgomp's unit: about 50 us, longer than the gap
// between two kernels of a run and shorter than a scheduler's time slice. libgomp's own default spins for milliseconds
// when it believes the machine to be free, and it judges that by its own threads alone: beside another busy process a
// spinning thread takes the core that the working one waits for, and a run of 0.1 ms takes 80.
constexpr const char* kSpinCount = "20000";

// libgomp reads its variables when it is loaded, before any code of ours: so the program starts itself once more. Does
// nothing if the user has chosen, or where that is impossible.
void bound_openmp_spinning(char** argv) {
  for (const char* chosen : {"GOMP_SPINCOUNT", "OMP_WAIT_POLICY"})
    for (char** e = environ; *e; ++e)
      if (std::string_view(*e).starts_with(std::string(chosen) + "=")) return;
  if (setenv("GOMP_SPINCOUNT", kSpinCount, 0) == 0) execv("/proc/self/exe", argv);
}

// A standard stream that is closed would be the next file that is opened, and what is printed would go into that file.
// Writing to stdout still fails then, as it should: it is opened for reading.
void open_standard_streams() {
  for (int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (fcntl(descriptor, F_GETFD) < 0) static_cast<void>(open("/dev/null", O_RDONLY));
}

int report(hf::Code code, const char* text) {
  std::fflush(stdout);
  hf::cli::say(fmt::format("hipforge: {}\n", text));
  return hf::exit_status(code);
}

}  // namespace

int main(int argc, char** argv) {
  open_standard_streams();
  bound_openmp_spinning(argv);
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
