// Resizing: a thread has a few channels of one output.
#include "kernel/resize.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>

#include "base/error.h"
#include "kernel/channel_vectors.h"
#include "kernel/vector_epilogue.h"

namespace hf::kernel {
namespace {

constexpr int kThreads = 256;

// HF_LAST    channels last; else each plane is an image of one channel
// HF_COPIES  one tap along each axis, of weight 1
const char* const kSource = R"hip(
typedef element<HF_IN> in;
typedef element<HF_OUT> out;

KERNEL(HF_THREADS, 2)
resize(const in::type* __restrict__ x, out::type* __restrict__ y, const int* __restrict__ index, const float* __restrict__ weight, float filler, int batch HF_EPI_PARAMS) {
  constexpr int CHUNKS = HF_YP / HF_VEC;
  u32 at = (u32)block_x() * HF_THREADS + thread_x();
  int c = (int)(at % CHUNKS) * HF_VEC;
  at /= CHUNKS;
  int q = (int)(at % HF_Q);
  at /= HF_Q;
  int p = (int)(at % HF_P);
  at /= HF_P;
  int z = (int)(at % HF_O);
  i64 n = at / HF_O;
  if (n >= batch) return;
  x += n * (HF_D * HF_H) * (HF_W * HF_YP) + c;
  const int *iz = index + z * HF_TD, *ip = index + HF_O * HF_TD + p * HF_TH,
            *iq = index + HF_O * HF_TD + HF_P * HF_TH + q * HF_TW;
  const float *wz = weight + z * HF_TD, *wp = weight + HF_O * HF_TD + p * HF_TH,
              *wq = weight + HF_O * HF_TD + HF_P * HF_TH + q * HF_TW;
  float acc[HF_VEC], v[HF_VEC];
  for (int i = 0; i < HF_VEC; i++) acc[i] = 0.f;
  if (iz[0] < 0 || ip[0] < 0 || iq[0] < 0) {
    for (int i = 0; i < HF_VEC; i++) acc[i] = filler;
  } else {
#if HF_COPIES
    pieces<HF_VEC, HF_IN>::load(x + ((i64)iz[0] * HF_H + ip[0]) * (HF_W * HF_YP) + iq[0] * HF_YP, ~0u, acc);
#else
    for (int a = 0; a < HF_TD; a++)
      for (int b = 0; b < HF_TH; b++) {
        const in::type* line = x + ((i64)iz[a] * HF_H + ip[b]) * (HF_W * HF_YP);
        float w = wz[a] * wp[b];
        for (int d = 0; d < HF_TW; d++) {
          pieces<HF_VEC, HF_IN>::load(line + iq[d] * HF_YP, ~0u, v);
          for (int i = 0; i < HF_VEC; i++) acc[i] = fma_f32(v[i], w * wq[d], acc[i]);
        }
      }
#endif
  }
  i64 row = (n * HF_O + z) * HF_P + p;
#if HF_LAST
  finish(acc, y, row * HF_Q + q, c HF_EPI_ARGS);
#else
  epilogue(acc, row, q, HF_Q HF_EPI_ARGS);
  y[row * HF_Q + q] = out::store(acc[0]);
#endif
}
)hip";

template <class T>
std::vector<T> joined(const ResizeProblem& p, std::vector<T> ResizeTable::*part) {
  std::vector<T> all;
  for (const ResizeTable& a : p.axes) all.insert(all.end(), (a.*part).begin(), (a.*part).end());
  return all;
}

bool copies(const ResizeProblem& p) {
  return std::all_of(std::begin(p.axes), std::end(p.axes), [](const ResizeTable& a) {
    return a.taps == 1 && std::all_of(a.weight.begin(), a.weight.end(), [](float w) { return w == 1; });
  });
}

}  // namespace

std::vector<int32_t> resize_indices(const ResizeProblem& p) { return joined(p, &ResizeTable::index); }
std::vector<float> resize_weights(const ResizeProblem& p) { return joined(p, &ResizeTable::weight); }

Candidates resize(const ResizeProblem& p, const Target&) {
  const ResizeTable &d = p.axes[0], &h = p.axes[1], &w = p.axes[2];
  const int64_t vec = p.channels_last ? std::max(vector_of(p.in), vector_of(p.out)) : 1,
                pitch = p.channels_last ? (p.channels + 7) / 8 * 8 : 1,
                planes = p.channels_last ? p.batch : p.batch * p.channels;
  const int64_t threads = planes * d.output * h.output * w.output * (pitch / vec);
  if (d.input * h.input > INT32_MAX || w.input * pitch > INT32_MAX || threads > UINT32_MAX - kThreads ||
      d.output * d.taps + h.output * h.taps + w.output * w.taps > INT32_MAX)
    fail(Code::Unsupported, "resizing {} planes of {} x {} x {}", planes, d.input, h.input, w.input);
  std::vector<std::string> defines = {fmt::format("HF_IN={}", element_name(p.in)),
                                      fmt::format("HF_OUT={}", element_name(p.out))};
  const std::pair<const char*, int64_t> numbers[] = {{"THREADS", kThreads},
                                                     {"VEC", vec},
                                                     {"LAST", p.channels_last},
                                                     {"COPIES", copies(p)},
                                                     {"COLUMNS", p.channels_last ? p.channels : 1},
                                                     {"YP", pitch},
                                                     {"D", d.input},
                                                     {"H", h.input},
                                                     {"W", w.input},
                                                     {"O", d.output},
                                                     {"P", h.output},
                                                     {"Q", w.output},
                                                     {"TD", d.taps},
                                                     {"TH", h.taps},
                                                     {"TW", w.taps}};
  for (auto [name, value] : numbers) defines.push_back(fmt::format("HF_{}={}", name, value));
  KernelSpec spec{.family = "resize",
                  .variant = copies(p) ? "copies" : "sums",
                  .source = channel_vectors(p.epilogue) + kSource,
                  .entry = "resize",
                  .defines = std::move(defines),
                  .grid = {blocks_for(threads, kThreads), 1, 1},
                  .block = {kThreads, 1, 1},
                  .arguments = {Argument::input(0), Argument::output(0), Argument::packed(0), Argument::packed(1),
                                Argument::float32(p.filler), Argument::int32(planes)}};
  add_operands(spec, p.epilogue, 1);
  return {std::move(spec)};
}

}  // namespace hf::kernel
