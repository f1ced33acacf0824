// hip*: stream capture and graphs.
#include <algorithm>

#include "hip/runtime.h"

using namespace amdgpu;

namespace {

// The null stream is never captured.
bool is_null_handle(hipStream_t handle) { return reinterpret_cast<uintptr_t>(handle) <= 1; }

// Does every node lead to one of the frontier?
bool joined(const Graph& graph, const std::set<int>& frontier) {
  std::vector<bool> seen(graph.nodes.size());
  std::vector<int> stack(frontier.begin(), frontier.end());
  while (!stack.empty()) {
    const int i = stack.back();
    stack.pop_back();
    if (seen[i]) continue;
    seen[i] = true;
    const auto& d = graph.nodes[i].dependencies;
    stack.insert(stack.end(), d.begin(), d.end());
  }
  return std::find(seen.begin(), seen.end(), false) == seen.end();
}

enum CaptureStatus : int { NotCapturing = 0, Capturing = 1, Invalidated = 2 };

hipError_t capture_status(const char* name, hipStream_t handle, hipStreamCaptureStatus* status,
                          unsigned long long* id) {
  return api(name, [&] {
    if (!status) return error::InvalidValue;
    std::shared_ptr<Stream> stream;
    HIP_TRY(find_stream(handle, stream));
    for (const auto& c : runtime().captures)
      if (stream->is_null && captures_beside(*stream, *c)) return error::StreamCaptureImplicit;
    const int state = !stream->capture ? NotCapturing : stream->capture->invalid ? Invalidated : Capturing;
    *status = static_cast<hipStreamCaptureStatus>(state);
    if (id && stream->capture) *id = stream->capture->id;
    return 0;
  });
}

int find_graph(hipGraph_t handle, std::shared_ptr<Graph>& graph) {
  auto it = runtime().graphs.find(handle);
  if (it == runtime().graphs.end()) return handle ? error::IllegalState : error::InvalidValue;
  graph = it->second;
  return 0;
}

int find_exec(hipGraphExec_t handle, GraphExec*& exec) {
  exec = reinterpret_cast<GraphExec*>(handle);
  return exec && runtime().execs.count(exec) ? 0 : error::InvalidValue;
}

hipGraph_t keep_graph(std::shared_ptr<Graph> graph) {
  Graph* p = graph.get();
  runtime().graphs[p] = std::move(graph);
  return reinterpret_cast<hipGraph_t>(p);
}

hipError_t instantiate(const char* name, hipGraphExec_t* handle, hipGraph_t graph_handle) {
  return api(name, [&] {
    if (!handle) return error::InvalidValue;
    std::shared_ptr<Graph> graph;
    HIP_TRY(find_graph(graph_handle, graph));
    auto* exec = new GraphExec{graph->nodes};
    runtime().execs.insert(exec);
    *handle = reinterpret_cast<hipGraphExec_t>(exec);
    return 0;
  });
}

// A launch on a stream that captures: the nodes become part of that graph.
void append(Stream& stream, const GraphExec& exec) {
  auto& nodes = stream.capture->graph->nodes;
  const int base = static_cast<int>(nodes.size());
  std::set<int> used, last;
  for (GraphNode node : exec.nodes) {
    for (int& d : node.dependencies) used.insert(d += base);
    if (node.dependencies.empty()) node.dependencies.assign(stream.frontier.begin(), stream.frontier.end());
    nodes.push_back(std::move(node));
  }
  for (int i = base; i < static_cast<int>(nodes.size()); i++)
    if (!used.count(i)) last.insert(i);
  if (!last.empty()) stream.frontier = last;
}

// The next node all of whose dependencies are done; the last such node if `reversed`.
size_t next_ready(const std::vector<GraphNode>& nodes, const std::vector<bool>& done, bool reversed) {
  size_t pick = nodes.size();
  for (size_t i = 0; i < nodes.size(); i++) {
    const auto& d = nodes[i].dependencies;
    if (done[i] || !std::all_of(d.begin(), d.end(), [&](int k) { return done[k]; })) continue;
    pick = i;
    if (!reversed) break;
  }
  return pick;
}

// With AMDEMU_ASYNC in the order that exposes missing dependencies.
int run_nodes(const std::vector<GraphNode>& nodes) {
  std::vector<bool> done(nodes.size());
  for (size_t left = nodes.size(); left; left--) {
    const size_t i = next_ready(nodes, done, runtime().settings.async);
    HIP_TRY(nodes[i].work());
    done[i] = true;
  }
  return 0;
}

}  // namespace

HIP_EXPORT hipError_t hipThreadExchangeStreamCaptureMode(hipStreamCaptureMode* mode) {
  return api(__func__, [&] {
    if (!mode || static_cast<int>(*mode) < CaptureGlobal || static_cast<int>(*mode) > CaptureRelaxed)
      return error::InvalidValue;
    const int before = thread_state.capture_mode;
    thread_state.capture_mode = static_cast<int>(*mode);
    *mode = static_cast<hipStreamCaptureMode>(before);
    return 0;
  });
}

HIP_EXPORT hipError_t hipStreamBeginCapture(hipStream_t handle, hipStreamCaptureMode mode) {
  return api(__func__, [&] {
    if (is_null_handle(handle)) return error::StreamCaptureUnsupported;
    std::shared_ptr<Stream> stream;
    HIP_TRY(find_stream(handle, stream));
    if (static_cast<int>(mode) < CaptureGlobal || static_cast<int>(mode) > CaptureRelaxed) return error::InvalidValue;
    if (stream->capture) return error::IllegalState;
    Runtime& r = runtime();
    auto capture = std::make_shared<Capture>();
    capture->origin = stream.get();
    capture->mode = static_cast<int>(mode);
    capture->thread = std::this_thread::get_id();
    capture->graph = std::make_shared<Graph>();
    capture->id = ++r.last_capture;
    capture->members.insert(stream.get());
    stream->capture = capture;
    stream->frontier.clear();
    r.captures.push_back(std::move(capture));
    return 0;
  });
}

HIP_EXPORT hipError_t hipStreamEndCapture(hipStream_t handle, hipGraph_t* graph) {
  return api(__func__, [&] {
    if (!graph) return error::InvalidValue;
    *graph = nullptr;
    if (is_null_handle(handle)) return error::IllegalState;
    std::shared_ptr<Stream> stream;
    HIP_TRY(find_stream(handle, stream));
    const auto capture = stream->capture;
    if (!capture) return error::IllegalState;
    if (capture->origin != stream.get()) return error::StreamCaptureUnmatched;
    if (capture->mode != CaptureRelaxed && capture->thread != std::this_thread::get_id())
      return error::StreamCaptureWrongThread;
    const std::set<int> frontier = stream->frontier;
    end_capture(capture);
    if (capture->invalid) return error::StreamCaptureInvalidated;
    if (!joined(*capture->graph, frontier)) return error::StreamCaptureUnjoined;
    *graph = keep_graph(capture->graph);
    return 0;
  });
}

HIP_EXPORT hipError_t hipStreamIsCapturing(hipStream_t stream, hipStreamCaptureStatus* status) {
  return capture_status(__func__, stream, status, nullptr);
}
HIP_EXPORT hipError_t hipStreamGetCaptureInfo(hipStream_t stream, hipStreamCaptureStatus* status,
                                              unsigned long long* id) {
  return capture_status(__func__, stream, status, id);
}

HIP_EXPORT hipError_t hipGraphCreate(hipGraph_t* graph, unsigned flags) {
  return api(__func__, [&] {
    HIP_TRY(need_device());
    if (!graph || flags) return error::InvalidValue;
    *graph = keep_graph(std::make_shared<Graph>());
    return 0;
  });
}

HIP_EXPORT hipError_t hipGraphDestroy(hipGraph_t handle) {
  return api_always(__func__, [&] {
    std::shared_ptr<Graph> graph;
    HIP_TRY(find_graph(handle, graph));
    runtime().graphs.erase(graph.get());
    return 0;
  });
}

HIP_EXPORT hipError_t hipGraphInstantiate(hipGraphExec_t* exec, hipGraph_t graph, hipGraphNode_t* bad_node,
                                          char* log_text, size_t log_bytes) {
  if (bad_node) *bad_node = nullptr;
  if (log_text && log_bytes) *log_text = 0;
  return instantiate(__func__, exec, graph);
}
HIP_EXPORT hipError_t hipGraphInstantiateWithFlags(hipGraphExec_t* exec, hipGraph_t graph, unsigned long long) {
  return instantiate(__func__, exec, graph);
}

HIP_EXPORT hipError_t hipGraphExecDestroy(hipGraphExec_t handle) {
  return api_always(__func__, [&] {
    GraphExec* exec;
    HIP_TRY(find_exec(handle, exec));
    drain_all();
    runtime().execs.erase(exec);
    delete exec;
    return 0;
  });
}

HIP_EXPORT hipError_t hipGraphUpload(hipGraphExec_t handle, hipStream_t) {
  return api(__func__, [&] {
    GraphExec* exec;
    return find_exec(handle, exec);
  });
}

HIP_EXPORT hipError_t hipGraphLaunch(hipGraphExec_t handle, hipStream_t stream_handle) {
  return api(__func__, [&] {
    GraphExec* exec;
    HIP_TRY(find_exec(handle, exec));
    std::shared_ptr<Stream> stream;
    HIP_TRY(find_stream(stream_handle, stream));
    HIP_TRY(check_stream(*stream));
    if (stream->capture) {
      append(*stream, *exec);
      return 0;
    }
    auto nodes = std::make_shared<const std::vector<GraphNode>>(exec->nodes);
    if (runtime().settings.async) {
      enqueue(*stream, [nodes] { return run_nodes(*nodes); });
      return 0;
    }
    // An instruction that is not emulated is reported at once and is not the device's error.
    int status = 0;
    enqueue(*stream, [&] {
      status = run_nodes(*nodes);
      return status == error::NotSupported ? 0 : status;
    });
    return status == error::NotSupported ? status : 0;
  });
}

HIP_EXPORT hipError_t hipGraphGetNodes(hipGraph_t handle, hipGraphNode_t* nodes, size_t* count) {
  return api(__func__, [&] {
    if (!count) return error::InvalidValue;
    std::shared_ptr<Graph> graph;
    HIP_TRY(find_graph(handle, graph));
    const size_t present = graph->nodes.size();
    for (size_t i = 0; nodes && i < *count; i++)
      nodes[i] = i < present ? reinterpret_cast<hipGraphNode_t>(&graph->nodes[i]) : nullptr;
    if (!nodes || *count > present) *count = present;
    return 0;
  });
}

HIP_EXPORT hipError_t hipGraphNodeGetType(hipGraphNode_t node, hipGraphNodeType* type) {
  return api(__func__, [&] {
    if (!node || !type) return error::InvalidValue;
    *type = static_cast<hipGraphNodeType>(reinterpret_cast<GraphNode*>(node)->type);
    return 0;
  });
}
