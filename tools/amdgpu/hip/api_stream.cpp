// hip*: streams, events, host functions.
#include <algorithm>

#include "device/support.h"
#include "hip/runtime.h"

using namespace amdgpu;

namespace {

constexpr unsigned kEventFlags = 0xe0000007u, kDisableTiming = 2;

hipError_t create_stream(const char* name, hipStream_t* handle, unsigned flags, int priority) {
  return api(name, [&] {
    HIP_TRY(need_device());
    if (!handle || flags > 1) return error::InvalidValue;
    auto s = std::make_shared<Stream>();
    s->device = thread_state.device;
    s->flags = flags;
    s->priority = std::clamp(priority, -1, 1);
    runtime().streams[s.get()] = s;
    *handle = reinterpret_cast<hipStream_t>(s.get());
    return 0;
  });
}

// A stream that is destroyed while it captures: the origin ends the capture, a member leaves it.
void leave_capture(Stream& stream) {
  const auto capture = stream.capture;
  invalidate(*capture);
  if (capture->origin == &stream) {
    end_capture(capture);
    return;
  }
  capture->members.erase(&stream);
  stream.capture.reset();
}

// With AMDEMU_ASYNC the first query of pending work says that it is not ready.
hipError_t synchronize_stream(const char* name, hipStream_t handle, bool query) {
  return api(name, [&] {
    std::shared_ptr<Stream> stream;
    HIP_TRY(find_stream(handle, stream));
    if (stream->capture) {
      invalidate(*stream->capture);
      return error::StreamCaptureUnsupported;
    }
    HIP_TRY(check_stream(*stream));
    bool pending = stream->pending();
    const auto streams = runtime().streams;  // work may change it
    for (const auto& [p, s] : streams) {
      if (!stream->is_null || s->device != stream->device || !s->blocking()) continue;
      pending |= s->pending();
      drain(*s);
    }
    drain(*stream);
    if (const int sticky = devices()[stream->device].sticky_error) return sticky;
    return query && pending ? error::NotReady : 0;
  });
}

template <class F>
hipError_t with_stream(const char* name, hipStream_t handle, F f) {
  return api(name, [&] {
    std::shared_ptr<Stream> stream;
    HIP_TRY(find_stream(handle, stream));
    return f(*stream);
  });
}

// The event of a handle.
int find_event(hipEvent_t handle, Event*& event) {
  event = reinterpret_cast<Event*>(handle);
  return event && runtime().events.count(event) ? 0 : error::InvalidHandle;
}

bool is_going_on(const std::shared_ptr<Capture>& capture) {
  const auto& all = runtime().captures;
  return std::find(all.begin(), all.end(), capture) != all.end();
}

// An event that was recorded in a capture cannot be waited for by the host.
int find_ordinary_event(hipEvent_t handle, Event*& event) {
  HIP_TRY(find_event(handle, event));
  if (!event->capture) return 0;
  if (is_going_on(event->capture)) invalidate(*event->capture);
  return error::CapturedEvent;
}

// A stream that waits for an event of a capture joins it.
int wait_for_captured(Stream& stream, const Event& event) {
  if (!is_going_on(event.capture)) {
    if (!stream.capture) return error::CapturedEvent;
    invalidate(*stream.capture);
    return error::StreamCaptureIsolation;
  }
  if (stream.is_null) {
    invalidate(*event.capture);
    return error::StreamCaptureImplicit;
  }
  if (stream.capture && stream.capture != event.capture) {
    invalidate(*stream.capture);
    invalidate(*event.capture);
    return error::StreamCaptureMerge;
  }
  if (!stream.capture) {
    stream.capture = event.capture;
    stream.frontier.clear();
    event.capture->members.insert(&stream);
  }
  stream.frontier.insert(event.frontier.begin(), event.frontier.end());
  return 0;
}

hipError_t create_event(const char* name, hipEvent_t* handle, unsigned flags) {
  return api(name, [&] {
    HIP_TRY(need_device());
    if (!handle || (flags & ~kEventFlags)) return error::InvalidValue;
    auto* e = new Event;
    e->flags = flags;
    e->device = thread_state.device;
    runtime().events.insert(e);
    *handle = reinterpret_cast<hipEvent_t>(e);
    return 0;
  });
}

}  // namespace

HIP_EXPORT hipError_t hipStreamCreate(hipStream_t* stream) { return create_stream(__func__, stream, 0, 0); }
HIP_EXPORT hipError_t hipStreamCreateWithFlags(hipStream_t* stream, unsigned flags) {
  return create_stream(__func__, stream, flags, 0);
}
HIP_EXPORT hipError_t hipStreamCreateWithPriority(hipStream_t* stream, unsigned flags, int priority) {
  return create_stream(__func__, stream, flags, priority);
}

HIP_EXPORT hipError_t hipStreamDestroy(hipStream_t handle) {
  return api_always(__func__, [&] {
    if (reinterpret_cast<uintptr_t>(handle) <= 2) return error::InvalidHandle;  // the streams that always exist
    std::shared_ptr<Stream> stream;
    HIP_TRY(find_stream(handle, stream));
    if (stream->capture) leave_capture(*stream);
    drain(*stream);
    runtime().streams.erase(stream.get());
    return 0;
  });
}

HIP_EXPORT hipError_t hipStreamSynchronize(hipStream_t stream) { return synchronize_stream(__func__, stream, false); }
HIP_EXPORT hipError_t hipStreamQuery(hipStream_t stream) { return synchronize_stream(__func__, stream, true); }

HIP_EXPORT hipError_t hipStreamGetFlags(hipStream_t handle, unsigned* flags) {
  return with_stream(__func__, handle, [&](const Stream& s) {
    if (!flags) return error::InvalidValue;
    *flags = s.flags;
    return 0;
  });
}
HIP_EXPORT hipError_t hipStreamGetPriority(hipStream_t handle, int* priority) {
  return with_stream(__func__, handle, [&](const Stream& s) {
    if (!priority) return error::InvalidValue;
    *priority = s.priority;
    return 0;
  });
}
HIP_EXPORT hipError_t hipStreamGetDevice(hipStream_t handle, hipDevice_t* device) {
  return with_stream(__func__, handle, [&](const Stream& s) {
    if (!device) return error::InvalidValue;
    *device = s.device;
    return 0;
  });
}

HIP_EXPORT hipError_t hipStreamWaitEvent(hipStream_t handle, hipEvent_t event_handle, unsigned flags) {
  return with_stream(__func__, handle, [&](Stream& stream) {
    if (flags) return error::InvalidValue;
    Event* event;
    HIP_TRY(find_event(event_handle, event));
    if (event->capture) return wait_for_captured(stream, *event);
    if (!event->recorded) return 0;
    if (stream.capture) {
      invalidate(*stream.capture);
      return error::StreamCaptureIsolation;
    }
    enqueue(stream, nullptr, {{event->stream, event->sequence}});
    return 0;
  });
}

HIP_EXPORT hipError_t hipLaunchHostFunc(hipStream_t handle, hipHostFn_t function, void* user) {
  return with_stream(__func__, handle, [&](Stream& stream) {
    if (!function) return error::InvalidValue;
    return submit(stream, HostNode, [=] {
      function(user);
      return 0;
    });
  });
}
HIP_EXPORT hipError_t hipStreamAddCallback(hipStream_t handle, hipStreamCallback_t function, void* user,
                                           unsigned flags) {
  return with_stream(__func__, handle, [&](Stream& stream) {
    if (!function || flags) return error::InvalidValue;
    return submit(stream, HostNode, [=] {
      function(handle, static_cast<hipError_t>(0), user);
      return 0;
    });
  });
}

// ---- events

HIP_EXPORT hipError_t hipEventCreate(hipEvent_t* event) { return create_event(__func__, event, 0); }
HIP_EXPORT hipError_t hipEventCreateWithFlags(hipEvent_t* event, unsigned flags) {
  return create_event(__func__, event, flags);
}

HIP_EXPORT hipError_t hipEventRecord(hipEvent_t event_handle, hipStream_t handle) {
  return api(__func__, [&] {
    Event* event;
    HIP_TRY(find_event(event_handle, event));
    std::shared_ptr<Stream> stream;
    HIP_TRY(find_stream(handle, stream));
    HIP_TRY(check_stream(*stream));
    if (stream->capture) {
      event->capture = stream->capture;
      event->frontier = stream->frontier;
      event->recorded = true;
      return 0;
    }
    if (event->device != stream->device) return error::InvalidHandle;
    auto time = std::make_shared<double>(0);
    event->capture.reset();
    event->recorded = true;
    event->stream = stream;
    event->time = time;
    event->sequence = stream->tail + 1;
    enqueue(*stream, [time] {
      *time = now();
      return 0;
    });
    return 0;
  });
}

HIP_EXPORT hipError_t hipEventSynchronize(hipEvent_t handle) {
  return api(__func__, [&] {
    Event* event;
    HIP_TRY(find_ordinary_event(handle, event));
    if (!event->recorded) return 0;
    drain(*event->stream, event->sequence);
    return devices()[event->device].sticky_error;
  });
}

HIP_EXPORT hipError_t hipEventQuery(hipEvent_t handle) {
  return api(__func__, [&] {
    Event* event;
    HIP_TRY(find_ordinary_event(handle, event));
    if (!event->recorded) return 0;
    const bool pending = event->pending();
    drain(*event->stream, event->sequence);
    if (const int sticky = devices()[event->device].sticky_error) return sticky;
    return pending ? error::NotReady : 0;
  });
}

HIP_EXPORT hipError_t hipEventElapsedTime(float* milliseconds, hipEvent_t start, hipEvent_t end) {
  return api(__func__, [&] {
    if (!milliseconds) return error::InvalidValue;
    Event *a, *b;
    HIP_TRY(find_ordinary_event(start, a));
    HIP_TRY(find_ordinary_event(end, b));
    const bool timed = !((a->flags | b->flags) & kDisableTiming);
    if (!a->recorded || !b->recorded || !timed || a->device != b->device) return error::InvalidHandle;
    if (a->pending() || b->pending()) return error::NotReady;
    *milliseconds = static_cast<float>((*b->time - *a->time) * 1e3);
    return 0;
  });
}

HIP_EXPORT hipError_t hipEventDestroy(hipEvent_t handle) {
  return api_always(__func__, [&] {
    auto* event = reinterpret_cast<Event*>(handle);
    if (!event) return error::InvalidHandle;
    if (!runtime().events.erase(event)) return error::ContextIsDestroyed;
    delete event;
    return 0;
  });
}
