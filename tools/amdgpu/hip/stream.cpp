// Queues and capture rules.
#include "hip/stream.h"

#include <algorithm>
#include <map>

#include "device/support.h"
#include "hip/runtime.h"

namespace amdgpu {

namespace {

void run_operation(Stream& stream, const Operation& operation) {
  for (const auto& [other, sequence] : operation.dependencies)
    if (other->head < sequence && !other->draining) drain(*other, sequence);
  const int status = operation.work ? operation.work() : 0;
  int& sticky = devices()[stream.device].sticky_error;
  if (!status || sticky) return;
  sticky = status;
  log("asynchronous error %d on device %d (sticky)", status, stream.device);
}

// The stream that HIP calls per thread.
std::shared_ptr<Stream> thread_stream(int device) {
  // Leaked on purpose: a thread may end after the library's own destructors.
  thread_local auto& streams = *new std::map<int, std::shared_ptr<Stream>>;
  auto& s = streams[device];
  if (!s) {
    s = std::make_shared<Stream>();
    s->device = device;
    runtime().streams[s.get()] = s;
  }
  return s;
}

}  // namespace

void drain(Stream& stream, uint64_t sequence) {
  const auto keep = stream.shared_from_this();
  stream.draining = true;
  while (stream.head < sequence && !stream.queue.empty()) {
    const Operation operation = std::move(stream.queue.front());
    stream.queue.pop_front();
    run_operation(stream, operation);
    stream.head++;
  }
  stream.draining = false;
}

void drain_device(int device) {
  const auto streams = runtime().streams;  // work may change it
  for (const auto& [p, s] : streams)
    if (s->device == device) drain(*s);
  drain(*runtime().null_streams[device]);
}

void drain_all() {
  for (const Device& d : devices()) drain_device(d.id);
}

void enqueue(Stream& stream, Work work, std::vector<Dependency> dependencies) {
  Runtime& r = runtime();
  if (stream.is_null) {
    for (const auto& [p, s] : r.streams)
      if (s->device == stream.device && s->blocking() && s->pending()) dependencies.emplace_back(s, s->tail);
  } else if (stream.blocking()) {
    const auto& null_stream = r.null_streams[stream.device];
    if (null_stream->pending()) dependencies.emplace_back(null_stream, null_stream->tail);
  }
  stream.queue.push_back({std::move(dependencies), std::move(work)});
  stream.tail++;
  if (!r.settings.async) drain(stream);
}

int submit(Stream& stream, int type, Work work) {
  HIP_TRY(check_stream(stream));
  if (!stream.capture) {
    enqueue(stream, std::move(work));
    return 0;
  }
  auto& nodes = stream.capture->graph->nodes;
  nodes.push_back({type, {stream.frontier.begin(), stream.frontier.end()}, std::move(work)});
  stream.frontier = {static_cast<int>(nodes.size()) - 1};
  return 0;
}

int find_stream(hipStream_t handle, std::shared_ptr<Stream>& stream) {
  HIP_TRY(need_device());
  const auto number = reinterpret_cast<uintptr_t>(handle);
  if (number <= 1) {
    stream = runtime().null_streams[thread_state.device];
    return 0;
  }
  if (number == 2) {
    stream = thread_stream(thread_state.device);
    return 0;
  }
  auto it = runtime().streams.find(reinterpret_cast<Stream*>(handle));
  if (it == runtime().streams.end()) return error::ContextIsDestroyed;
  stream = it->second;
  return 0;
}

void invalidate(Capture& capture) { capture.invalid = true; }

int refuse_in_capture() {
  if (thread_state.capture_mode == CaptureRelaxed) return 0;
  bool hit = false;
  for (const auto& c : runtime().captures) {
    const bool own = c->thread == std::this_thread::get_id();
    const bool global = thread_state.capture_mode == CaptureGlobal && c->mode == CaptureGlobal;
    if (c->mode == CaptureRelaxed || (!own && !global)) continue;
    invalidate(*c);
    hit = true;
  }
  return hit ? error::StreamCaptureUnsupported : 0;
}

int refuse_sync_in_capture(int code) {
  if (runtime().captures.empty()) return 0;
  for (const auto& c : runtime().captures) invalidate(*c);
  return code;
}

bool captures_beside(const Stream& null_stream, const Capture& capture) {
  return std::any_of(capture.members.begin(), capture.members.end(),
                     [&](const Stream* m) { return m->device == null_stream.device && m->blocking(); });
}

int check_stream(const Stream& stream) {
  if (stream.capture && stream.capture->invalid) return error::StreamCaptureInvalidated;
  if (!stream.is_null) return 0;
  for (const auto& c : runtime().captures)
    if (captures_beside(stream, *c)) {
      invalidate(*c);
      return error::StreamCaptureImplicit;
    }
  return 0;
}

void end_capture(const std::shared_ptr<Capture>& capture) {
  auto& all = runtime().captures;
  all.erase(std::remove(all.begin(), all.end(), capture), all.end());
  for (Stream* m : capture->members) {
    m->capture.reset();
    m->frontier.clear();
  }
}

}  // namespace amdgpu
