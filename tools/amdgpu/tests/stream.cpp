// Streams, events, late execution, threads.
#include <unistd.h>

#include <thread>

#include "tests/hip.h"

namespace amdgpu::tests {
namespace {

class LateStreams : public WithKernels {};

TEST(Streams, EventsTakeTime) {
  scenario({}, [] {
    Stream s, other;
    Event start, end, untimed;
    EXPECT_OK(hipStreamCreate(&s));
    EXPECT_OK(hipStreamCreateWithFlags(&other, 1));
    EXPECT_OK(hipStreamQuery(s));
    EXPECT_OK(hipEventCreate(&start));
    EXPECT_OK(hipEventCreate(&end));
    EXPECT_OK(hipEventCreateWithFlags(&untimed, 2));
    float ms = -1;
    EXPECT_EQ(hipEventElapsedTime(&ms, start, end), error::InvalidHandle);  // not recorded
    EXPECT_OK(hipEventRecord(start, s));
    usleep(20000);
    EXPECT_OK(hipEventRecord(end, s));
    EXPECT_OK(hipStreamWaitEvent(other, end, 0));
    EXPECT_OK(hipEventSynchronize(end));
    EXPECT_OK(hipEventQuery(end));
    EXPECT_OK(hipEventElapsedTime(&ms, start, end));
    EXPECT_GE(ms, 19.5f);
    EXPECT_OK(hipEventRecord(untimed, s));
    EXPECT_EQ(hipEventElapsedTime(&ms, start, untimed), error::InvalidHandle);
    EXPECT_OK(hipEventDestroy(start));
    EXPECT_EQ(hipEventRecord(start, nullptr), error::InvalidHandle);
  });
}

TEST(Streams, AsynchronousCopiesAndFills) {
  scenario({}, [] {
    Stream s;
    EXPECT_OK(hipStreamCreateWithPriority(&s, 1, -1));
    char* b = device_array<char>(8192);
    std::vector<int> h(64, 0x03030303), g(64);
    EXPECT_OK(hipMemcpyAsync(b, h.data(), 256, HostToDevice, s));
    EXPECT_OK(hipMemcpyDtoHAsync(g.data(), b, 100, s));
    EXPECT_OK(hipMemcpyHtoDAsync(b, h.data(), 64, s));
    EXPECT_OK(hipMemcpyDtoDAsync(b + 64, b, 64, s));
    EXPECT_OK(hipMemsetAsync(b, 1, 8, s));
    EXPECT_OK(hipMemsetD32Async(b + 8, 1, 2, s));
    EXPECT_OK(hipMemsetD16Async(b + 16, 1, 2, s));
    EXPECT_OK(hipMemsetD8Async(b + 20, 1, 2, s));
    EXPECT_OK(hipStreamSynchronize(s));
    EXPECT_EQ(g[24], 0x03030303);
    EXPECT_EQ(g[25], 0);
    const auto r = read_array(reinterpret_cast<int*>(b), 6);
    EXPECT_EQ(r, (std::vector<int>{0x01010101, 0x01010101, 1, 1, 0x00010001, 0x03030101}));
    int calls = 0;
    EXPECT_OK(hipLaunchHostFunc(
        s, [](void* user) { ++*static_cast<int*>(user); }, &calls));
    EXPECT_OK(hipStreamSynchronize(s));
    EXPECT_EQ(calls, 1);
    EXPECT_OK(hipStreamDestroy(s));
    EXPECT_EQ(hipStreamSynchronize(s), error::ContextIsDestroyed);
    EXPECT_EQ(hipStreamDestroy(s), error::ContextIsDestroyed);
  });
}

const Environment kLate = {"AMDEMU_ARCH=gfx942", "AMDEMU_ASYNC=1"};

TEST_F(LateStreams, LateCopies) {
  scenario(kLate, [] {
    Stream s;
    EXPECT_OK(hipStreamCreateWithFlags(&s, 1));
    int* p = device_array<int>(64);
    EXPECT_OK(hipMemset(p, 0, 256));
    void* pinned;
    EXPECT_OK(hipHostMalloc(&pinned, 256, 0));
    int* h = static_cast<int*>(pinned);
    h[0] = 1;
    EXPECT_OK(hipMemcpyAsync(p, h, 4, HostToDevice, s));
    h[0] = 2;
    EXPECT_OK(hipStreamSynchronize(s));
    EXPECT_EQ(read_array(p, 1)[0], 2);  // a pinned source is read late
    int pageable = 5;
    EXPECT_OK(hipMemcpyAsync(p, &pageable, 4, HostToDevice, s));
    pageable = 6;
    EXPECT_OK(hipStreamSynchronize(s));
    EXPECT_EQ(read_array(p, 1)[0], 5);  // a pageable one is staged
  });
}

TEST_F(LateStreams, LateKernels) {
  scenario(kLate, [] {
    Function fill = function(load(arch()), "fill");
    Stream s, t, blocking;
    EXPECT_OK(hipStreamCreateWithFlags(&s, 1));
    EXPECT_OK(hipStreamCreateWithFlags(&t, 1));
    EXPECT_OK(hipStreamCreate(&blocking));
    int *p = device_array<int>(64), *q = device_array<int>(64);
    EXPECT_OK(hipMemset(p, 0, 256));
    EXPECT_OK(hipMemset(q, 0, 256));
    auto fill_with = [&](Stream stream, int v) { EXPECT_OK(run(fill, 1, 64, 0, stream, p, v, 64)); };

    fill_with(s, 100);  // t does not wait for s
    EXPECT_OK(hipMemcpyAsync(q, p, 256, DeviceToDevice, t));
    EXPECT_OK(hipStreamSynchronize(t));
    EXPECT_EQ(read_array(q, 1)[0], 0);

    Event e;
    EXPECT_OK(hipEventCreate(&e));
    fill_with(s, 200);
    EXPECT_OK(hipEventRecord(e, s));
    EXPECT_EQ(hipEventQuery(e), error::NotReady);
    EXPECT_OK(hipEventQuery(e));
    fill_with(s, 300);
    EXPECT_OK(hipEventRecord(e, s));
    EXPECT_OK(hipStreamWaitEvent(t, e, 0));
    EXPECT_OK(hipMemcpyAsync(q, p, 256, DeviceToDevice, t));
    EXPECT_OK(hipStreamSynchronize(t));
    EXPECT_EQ(read_array(q, 1)[0], 300);

    fill_with(s, 400);
    EXPECT_EQ(hipStreamQuery(s), error::NotReady);
    EXPECT_OK(hipStreamQuery(s));
    fill_with(blocking, 500);  // the null stream waits for it
    EXPECT_EQ(read_array(p, 1)[0], 500);
    fill_with(nullptr, 600);  // and it for the null stream
    int h = 0;
    EXPECT_OK(hipMemcpyAsync(&h, p, 4, DeviceToHost, blocking));
    EXPECT_OK(hipStreamSynchronize(blocking));
    EXPECT_EQ(h, 600);

    Event f;
    float ms;
    EXPECT_OK(hipEventCreate(&f));
    EXPECT_OK(hipEventRecord(e, s));
    EXPECT_OK(hipEventRecord(f, s));
    EXPECT_EQ(hipEventElapsedTime(&ms, e, f), error::NotReady);
    EXPECT_OK(hipEventSynchronize(f));
    EXPECT_OK(hipEventElapsedTime(&ms, e, f));

    fill_with(s, 800);  // freeing waits
    EXPECT_OK(hipFreeAsync(q, s));
    EXPECT_OK(hipFree(p));
  });
}

// Four threads with a stream each.
void threads() {
  Function fill = function(load(arch()), "fill");
  int bad[4] = {};
  auto work = [&](int t) {
    constexpr int kCount = 512;
    Stream s;
    if (hipStreamCreateWithFlags(&s, 1)) bad[t]++;
    for (int round = 0; round < 20; round++) {
      void* p;
      std::vector<int> h(kCount);
      const int v = t * 1000 + round;
      if (hipMalloc(&p, kCount * 4)) bad[t]++;
      if (run(fill, 2, 128, 0, s, p, v, kCount)) bad[t]++;
      if (hipMemcpyAsync(h.data(), p, kCount * 4, DeviceToHost, s) || hipStreamSynchronize(s)) bad[t]++;
      for (int i = 0; i < kCount; i++) bad[t] += h[i] != v + i;
      if (hipFree(p)) bad[t]++;
    }
    if (hipStreamDestroy(s) || hipGetLastError()) bad[t]++;
  };
  std::vector<std::thread> all;
  for (int t = 0; t < 4; t++) all.emplace_back(work, t);
  for (auto& t : all) t.join();
  for (int b : bad) EXPECT_EQ(b, 0);
}
TEST_F(LateStreams, Threads) { scenario({"AMDEMU_ARCH=gfx90a"}, threads); }
TEST_F(LateStreams, ThreadsLate) { scenario({"AMDEMU_ARCH=gfx1100", "AMDEMU_ASYNC=1"}, threads); }

}  // namespace
}  // namespace amdgpu::tests
