// Stream capture and graphs.
#include "tests/hip.h"

namespace amdgpu::tests {
namespace {

class EachGraph : public OnEachArch {};
INSTANTIATE_TEST_SUITE_P(, EachGraph, kArchs, arch_name);
class GraphCapture : public WithKernels {};

constexpr int kCount = 256;

struct Streams {
  ModuleHandle m = load(arch());
  Function fill = function(m, "fill"), axpy = function(m, "axpy");
  Stream s = nullptr, other = nullptr;
  int* p = device_array<int>(kCount);
  float *x = device_array<float>(kCount), *y = device_array<float>(kCount);
  float* host = nullptr;

  Streams() {
    EXPECT_OK(hipStreamCreateWithFlags(&s, 1));
    EXPECT_OK(hipStreamCreateWithFlags(&other, 1));
    void* pinned;
    EXPECT_OK(hipHostMalloc(&pinned, kCount * 4, 0));
    host = static_cast<float*>(pinned);
    for (int i = 0; i < kCount; i++) host[i] = 1;
    EXPECT_OK(hipMemset(p, 0, kCount * 4));
    EXPECT_OK(hipMemset(y, 0, kCount * 4));
    EXPECT_OK(hipDeviceSynchronize());
  }
  void fill_with(Stream stream, int v) const { EXPECT_OK(run(fill, 1, kCount, 0, stream, p, v, kCount)); }
};

// A fork to a second stream and the join.
void fork_and_join() {
  Streams a;
  Event fork, join;
  EXPECT_OK(hipEventCreateWithFlags(&fork, 2));
  EXPECT_OK(hipEventCreateWithFlags(&join, 2));
  int status = 9;
  EXPECT_OK(hipStreamIsCapturing(a.s, &status));
  EXPECT_EQ(status, 0);
  EXPECT_OK(hipStreamBeginCapture(a.s, 0));
  EXPECT_OK(hipStreamIsCapturing(a.s, &status));
  EXPECT_EQ(status, 1);
  EXPECT_OK(hipMemcpyAsync(a.x, a.host, kCount * 4, HostToDevice, a.s));
  EXPECT_OK(hipEventRecord(fork, a.s));
  EXPECT_OK(hipStreamWaitEvent(a.other, fork, 0));
  EXPECT_OK(hipStreamIsCapturing(a.other, &status));
  EXPECT_EQ(status, 1);
  a.fill_with(a.other, 1000);
  EXPECT_OK(hipEventRecord(join, a.other));
  EXPECT_OK(run(a.axpy, 1, kCount, 0, a.s, 2.0f, a.x, a.y, kCount));
  EXPECT_OK(hipStreamWaitEvent(a.s, join, 0));
  EXPECT_OK(hipMemsetD32Async(a.p, 42, 1, a.s));
  GraphHandle g = nullptr;
  EXPECT_OK(hipStreamEndCapture(a.s, &g));
  EXPECT_OK(hipStreamIsCapturing(a.s, &status));
  EXPECT_EQ(status, 0);
  EXPECT_EQ(read_array(a.p, kCount)[5], 0);  // nothing ran
  size_t nodes = 0;
  EXPECT_OK(hipGraphGetNodes(g, nullptr, &nodes));
  EXPECT_EQ(nodes, 4u);
  Exec e = nullptr;
  EXPECT_OK(hipGraphInstantiate(&e, g, nullptr, nullptr, 0));
  EXPECT_OK(hipGraphDestroy(g));
  EXPECT_EQ(hipGraphDestroy(g), error::IllegalState);
  for (int round = 1; round <= 3; round++) {
    for (int i = 0; i < kCount; i++) a.host[i] = static_cast<float>(round);
    EXPECT_OK(hipGraphLaunch(e, a.s));
    EXPECT_OK(hipStreamSynchronize(a.s));
    const auto p = read_array(a.p, kCount);
    EXPECT_EQ(p[0], 42);
    EXPECT_EQ(p[5], 1005);
    EXPECT_EQ(read_array(a.y, kCount)[7], static_cast<float>(round * (round + 1)));
  }
  EXPECT_OK(hipGraphExecDestroy(e));
  EXPECT_EQ(hipGraphLaunch(e, a.s), error::InvalidValue);
}
TEST_P(EachGraph, ForkAndJoin) { on_arch(fork_and_join); }
TEST_F(GraphCapture, ForkAndJoinLate) { scenario({"AMDEMU_ARCH=gfx1201", "AMDEMU_ASYNC=1"}, fork_and_join); }

TEST_F(GraphCapture, CallsThatBreakACapture) {
  scenario({"AMDEMU_ARCH=gfx942"}, [] {
    Streams a;
    void* q;
    GraphHandle none = &q;
    auto expect_broken = [&] {
      EXPECT_EQ(hipStreamEndCapture(a.s, &none), error::StreamCaptureInvalidated);
      EXPECT_EQ(none, nullptr);
    };
    EXPECT_EQ(hipStreamBeginCapture(nullptr, 0), error::StreamCaptureUnsupported);
    EXPECT_OK(hipStreamBeginCapture(a.s, 0));
    EXPECT_EQ(hipStreamBeginCapture(a.s, 0), error::IllegalState);
    EXPECT_EQ(hipMalloc(&q, 16), error::StreamCaptureUnsupported);
    expect_broken();
    EXPECT_OK(hipMalloc(&q, 16));
    EXPECT_OK(hipStreamBeginCapture(a.s, 0));
    EXPECT_EQ(hipStreamSynchronize(a.s), error::StreamCaptureUnsupported);
    expect_broken();
    EXPECT_OK(hipStreamBeginCapture(a.s, 0));
    EXPECT_EQ(hipDeviceSynchronize(), error::StreamCaptureUnsupported);
    expect_broken();
    EXPECT_OK(hipStreamBeginCapture(a.s, 0));
    EXPECT_EQ(hipMemcpy(a.p, a.host, 4, HostToDevice), error::StreamCaptureImplicit);
    expect_broken();
  });
}

TEST_F(GraphCapture, UnmatchedAndUnjoinedCaptures) {
  scenario({"AMDEMU_ARCH=gfx942"}, [] {
    Streams a;
    Event fork;
    GraphHandle none = nullptr;
    EXPECT_OK(hipEventCreateWithFlags(&fork, 2));
    EXPECT_OK(hipStreamBeginCapture(a.s, 0));
    EXPECT_OK(hipEventRecord(fork, a.s));
    EXPECT_OK(hipStreamWaitEvent(a.other, fork, 0));
    a.fill_with(a.other, 1);
    EXPECT_EQ(hipStreamEndCapture(a.other, &none), error::StreamCaptureUnmatched);
    EXPECT_EQ(hipStreamEndCapture(a.s, &none), error::StreamCaptureUnjoined);
    EXPECT_EQ(hipStreamEndCapture(a.s, &none), error::IllegalState);
    a.fill_with(a.other, 7);  // the streams work again
    EXPECT_OK(hipStreamSynchronize(a.other));
    EXPECT_EQ(read_array(a.p, kCount)[0], 7);
  });
}

TEST_F(GraphCapture, RelaxedAndNestedCaptures) {
  scenario({"AMDEMU_ARCH=gfx942"}, [] {
    Streams a;
    void* q;
    GraphHandle g;
    Exec e;
    size_t nodes;
    EXPECT_OK(hipStreamBeginCapture(a.s, 2));
    EXPECT_OK(hipMalloc(&q, 16));
    a.fill_with(a.s, 1);
    EXPECT_OK(hipStreamEndCapture(a.s, &g));
    EXPECT_OK(hipGraphInstantiateWithFlags(&e, g, 0));
    EXPECT_OK(hipGraphLaunch(e, nullptr));
    EXPECT_EQ(read_array(a.p, kCount)[3], 4);
    EXPECT_OK(hipStreamBeginCapture(a.s, 1));
    EXPECT_OK(hipGraphLaunch(e, a.s));  // becomes part of the graph
    EXPECT_OK(run(a.axpy, 1, kCount, 0, a.s, 1.0f, a.x, a.y, kCount));
    EXPECT_OK(hipStreamEndCapture(a.s, &g));
    EXPECT_OK(hipGraphGetNodes(g, nullptr, &nodes));
    EXPECT_EQ(nodes, 2u);
  });
}

TEST_F(GraphCapture, LateGraph) {
  scenario({"AMDEMU_ARCH=gfx942", "AMDEMU_ASYNC=1"}, [] {
    Streams a;
    int* q = device_array<int>(kCount);
    EXPECT_OK(hipStreamBeginCapture(a.s, 0));
    a.fill_with(a.s, 700);
    EXPECT_OK(hipMemcpyAsync(q, a.p, kCount * 4, DeviceToDevice, a.s));
    GraphHandle g;
    Exec e;
    EXPECT_OK(hipStreamEndCapture(a.s, &g));
    EXPECT_OK(hipGraphInstantiate(&e, g, nullptr, nullptr, 0));
    EXPECT_OK(hipGraphLaunch(e, a.s));
    EXPECT_OK(hipStreamSynchronize(a.s));
    EXPECT_EQ(read_array(q, 1)[0], 700);
  });
}

}  // namespace
}  // namespace amdgpu::tests
