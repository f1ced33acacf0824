// Work in child processes: a crash or an endless loop in one piece is a report, and the others go on.
#pragma once
#include <functional>
#include <string>

namespace hf::cli {

struct ChildResult {
  std::string text;  // what the work returned
  std::string
      fault;  // empty, or why there is no text: "crashed by signal 11 (Segmentation fault)", "timed out after 60 s"
  double ms = 0;
};

/// Calls work(i) for each i in [0, count), each in a fork of this process, at most `jobs` at once, and done(i, result)
/// here as they finish, in any order. One that takes longer than `limit_s` is killed. The work's exceptions are its own
/// to catch. This process should have one thread. Throws Io if there can be no more processes.
void run_in_children(int count, int jobs, double limit_s, const std::function<std::string(int)>& work,
                     const std::function<void(int, ChildResult)>& done);

}  // namespace hf::cli
