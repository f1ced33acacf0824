// Forked children and their pipes.
#include "cli/children.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <vector>

#include "base/error.h"
#include "cli/timing.h"

namespace hf::cli {
namespace {

constexpr int kCaught = 86;  // the exit status of a child whose work let an exception out

struct Child {
  int index = 0;
  pid_t pid = 0;
  int pipe = -1;  // where its text comes from
  Stopwatch watch;
  std::string text;
  bool timed_out = false;
};

[[noreturn]] void work_and_leave(int descriptor, pid_t parent, int index, const std::function<std::string(int)>& work) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // no orphans
  if (::getppid() != parent) ::_exit(kCaught);
  int status = kCaught;
  try {
    std::string text = work(index);
    for (size_t at = 0; at < text.size();) {
      ssize_t n = ::write(descriptor, text.data() + at, text.size() - at);
      if (n < 0 && errno != EINTR) break;
      at += n > 0 ? static_cast<size_t>(n) : 0;
    }
    status = 0;
  } catch (...) {
  }
  ::_exit(status);  // without the parent's buffers and destructors
}

Child start(int index, const std::function<std::string(int)>& work) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) fail(Code::Io, "no pipe for a child process: {}", std::strerror(errno));
  std::fflush(nullptr);
  Child child;
  pid_t parent = ::getpid();
  child.index = index;
  child.pid = ::fork();
  if (child.pid < 0) fail(Code::Io, "no child process: {}", std::strerror(errno));
  if (child.pid == 0) {
    ::close(ends[0]);
    work_and_leave(ends[1], parent, index, work);
  }
  ::close(ends[1]);
  child.pipe = ends[0];
  return child;
}

// True once the child has closed its end.
bool read_some(Child& child) {
  char buffer[4096];
  ssize_t n = ::read(child.pipe, buffer, sizeof buffer);
  if (n < 0) return errno != EINTR && errno != EAGAIN;
  child.text.append(buffer, static_cast<size_t>(n));
  return n == 0;
}

ChildResult finish(Child& child, double limit_s) {
  ::close(child.pipe);
  int status = 0;
  while (::waitpid(child.pid, &status, 0) < 0 && errno == EINTR) {
  }
  ChildResult result{std::move(child.text), "", child.watch.ms()};
  if (child.timed_out)
    result.fault = fmt::format("timed out after {:g} s", limit_s);
  else if (WIFSIGNALED(status))
    result.fault = fmt::format("crashed by signal {} ({})", WTERMSIG(status), ::strsignal(WTERMSIG(status)));
  else if (WEXITSTATUS(status) != 0)
    result.fault = fmt::format("its process ended with status {}", WEXITSTATUS(status));
  return result;
}

// Waits until some child has spoken, ended or passed its time.
void wait_for_any(std::vector<Child>& children, double limit_s, std::vector<bool>& ended) {
  std::vector<pollfd> fds;
  double rest_ms = limit_s * 1e3;
  for (Child& c : children) {
    fds.push_back({c.pipe, POLLIN, 0});
    rest_ms = std::min(rest_ms, limit_s * 1e3 - c.watch.ms());
  }
  ::poll(fds.data(), fds.size(), static_cast<int>(std::clamp(rest_ms + 1, 0.0, 1e6)));
  for (size_t i = 0; i < children.size(); ++i) {
    Child& c = children[i];
    ended[i] = fds[i].revents != 0 && read_some(c);
    if (ended[i] || c.timed_out || c.watch.ms() < limit_s * 1e3) continue;
    c.timed_out = true;
    ::kill(c.pid, SIGKILL);  // its pipe closes, and the next round sees it
  }
}

}  // namespace

void run_in_children(int count, int jobs, double limit_s, const std::function<std::string(int)>& work,
                     const std::function<void(int, ChildResult)>& done) {
  std::vector<Child> children;
  int next = 0;
  while (next < count || !children.empty()) {
    while (next < count && static_cast<int>(children.size()) < jobs) children.push_back(start(next++, work));
    std::vector<bool> ended(children.size());
    wait_for_any(children, limit_s, ended);
    for (size_t i = children.size(); i-- > 0;) {
      if (!ended[i]) continue;
      Child child = std::move(children[i]);
      children.erase(children.begin() + static_cast<ptrdiff_t>(i));
      done(child.index, finish(child, limit_s));
    }
  }
}

}  // namespace hf::cli
