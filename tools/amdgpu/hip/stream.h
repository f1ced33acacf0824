// Streams, their queues, events, graphs, and the rules of stream capture.
#pragma once
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "hip/abi.h"

namespace amdgpu {

struct Stream;

/// Work of a stream up to a sequence number.
using Dependency = std::pair<std::shared_ptr<Stream>, uint64_t>;
/// Work: returns an error code, which becomes the device's sticky error.
using Work = std::function<int()>;

struct Operation {
  std::vector<Dependency> dependencies;
  Work work;
};

/// The node types of HIP's graphs.
enum NodeType : int { KernelNode = 0, CopyNode = 1, FillNode = 2, HostNode = 3, FreeNode = 11 };

struct GraphNode {
  int type;
  std::vector<int> dependencies;
  Work work;
};
struct Graph {
  std::vector<GraphNode> nodes;
};

enum CaptureMode : int { CaptureGlobal = 0, CaptureThreadLocal = 1, CaptureRelaxed = 2 };

struct Capture {
  Stream* origin = nullptr;
  int mode = CaptureGlobal;
  std::thread::id thread;
  bool invalid = false;
  std::shared_ptr<Graph> graph;
  uint64_t id = 0;
  std::set<Stream*> members;
};

struct Stream : std::enable_shared_from_this<Stream> {
  int device = 0, priority = 0;
  unsigned flags = 0;
  bool is_null = false, draining = false;
  std::deque<Operation> queue;
  uint64_t head = 0, tail = 0;  // operations run, operations enqueued
  std::shared_ptr<Capture> capture;
  std::set<int> frontier;  // of the capture: the nodes that the next one depends on

  /// Does it wait for the null stream, and the null stream for it?
  bool blocking() const { return is_null || !(flags & 1); }
  bool pending() const { return tail > head; }
};

struct Event {
  unsigned flags = 0;
  int device = 0;
  bool recorded = false;
  std::shared_ptr<Stream> stream;
  uint64_t sequence = 0;
  std::shared_ptr<double> time;
  std::shared_ptr<Capture> capture;
  std::set<int> frontier;

  bool pending() const { return stream->head < sequence; }
};

/// Runs the stream's work up to a sequence number, first what it depends on.
void drain(Stream& stream, uint64_t sequence);
inline void drain(Stream& stream) { drain(stream, stream.tail); }
void drain_device(int device);
void drain_all();
/// Appends work; runs it at once unless AMDEMU_ASYNC is set.
void enqueue(Stream& stream, Work work, std::vector<Dependency> dependencies = {});
/// Records the work as a graph node if the stream is capturing, else enqueues it.
int submit(Stream& stream, int type, Work work);

/// The stream of a handle: null and 1 are the null stream of the thread's device, 2 is the thread's own.
int find_stream(hipStream_t handle, std::shared_ptr<Stream>& stream);

// ---- capture: each returns an error code and invalidates the captures that the call breaks

void invalidate(Capture& capture);
/// Calls that are unsafe while a capture goes on that is not relaxed.
int refuse_in_capture();
/// Synchronous calls on the null stream or the device.
int refuse_sync_in_capture(int code);
/// Asynchronous work on a stream whose capture is invalid, or on the null stream beside a blocking stream that
/// captures.
int check_stream(const Stream& stream);
/// Is the null stream's work made implicit by a blocking stream of the device that captures?
bool captures_beside(const Stream& null_stream, const Capture& capture);
void end_capture(const std::shared_ptr<Capture>& capture);

}  // namespace amdgpu
