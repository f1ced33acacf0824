// The device header: 16-byte vectors of small floats, LDS tiles, copies from global memory to LDS.
#include "kernel/device_header.h"

namespace hf::kernel {

const std::string_view kDeviceVectors = R"hip(
// MEMBER          as DEV, for a member function that uses its object
// f32x4           four floats (.x .y .z .w), as u32x4
#if HF_EMU
#define MEMBER inline __attribute__((always_inline))
struct alignas(16) f32x4 { float x, y, z, w; };
#elif HF_CUDA
#define MEMBER __device__ __forceinline__
typedef float4 f32x4;
#else
#define MEMBER __device__ inline __attribute__((always_inline))
typedef float f32x4 __attribute__((ext_vector_type(4)));
#endif

// pack2<T>(lo, hi), unpack2<T>(v, lo, hi): two floats and two elements of type HF_F16 or HF_BF16 in one word, the first
// in its low half. pack8 and unpack8: eight and 16 bytes. Rounding as element<T>.
template <int T> DEV u32 pack2(float lo, float hi) {
#if HF_CUDA && __CUDA_ARCH__ >= 800
  u32 d;
  if constexpr (T == HF_F16) asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(d) : "f"(hi), "f"(lo));
  else asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(d) : "f"(hi), "f"(lo));
  return d;
#else
  return (u32)element<T>::store(lo) | (u32)element<T>::store(hi) << 16;
#endif
}
template <int T> DEV void unpack2(u32 v, float& lo, float& hi) {
  if constexpr (T == HF_BF16) {
    lo = as_float(v << 16);
    hi = as_float(v & 0xffff0000u);
  } else {
    lo = f16_to_float((u16)v);
    hi = f16_to_float((u16)(v >> 16));
  }
}
template <int T> DEV u32x4 pack8(const float (&v)[8]) {
  u32x4 r;
  r.x = pack2<T>(v[0], v[1]); r.y = pack2<T>(v[2], v[3]); r.z = pack2<T>(v[4], v[5]); r.w = pack2<T>(v[6], v[7]);
  return r;
}
template <int T> DEV void unpack8(u32x4 r, float (&v)[8]) {
  unpack2<T>(r.x, v[0], v[1]); unpack2<T>(r.y, v[2], v[3]); unpack2<T>(r.z, v[4], v[5]); unpack2<T>(r.w, v[6], v[7]);
}
DEV u32x4 zero_u32x4() { u32x4 r; r.x = r.y = r.z = r.w = 0; return r; }
DEV f32x4 make_f32x4(float x, float y, float z, float w) { f32x4 r; r.x = x; r.y = y; r.z = z; r.w = w; return r; }
// 8 consecutive elements of any type at a 16-byte aligned address.
template <int T> DEV void load8(const typename element<T>::type* from, float (&v)[8]) {
  if constexpr (T == HF_F32) {
    f32x4 a = ((const f32x4*)from)[0], b = ((const f32x4*)from)[1];
    v[0] = a.x; v[1] = a.y; v[2] = a.z; v[3] = a.w; v[4] = b.x; v[5] = b.y; v[6] = b.z; v[7] = b.w;
  } else {
    unpack8<T>(*(const u32x4*)from, v);
  }
}
template <int T> DEV void store8(typename element<T>::type* to, const float (&v)[8]) {
  if constexpr (T == HF_F32) {
    ((f32x4*)to)[0] = make_f32x4(v[0], v[1], v[2], v[3]);
    ((f32x4*)to)[1] = make_f32x4(v[4], v[5], v[6], v[7]);
  } else {
    *(u32x4*)to = pack8<T>(v);
  }
}
)hip";

const std::string_view kDeviceCopies = R"hip(
// A tile in LDS is rows of CHUNKS 16-byte chunks, 4, 8 or a multiple of 4; its address is aligned to 1024. Within a row
// the chunks are XOR-swizzled by the row, so that eight rows' reads of one chunk touch all banks. Rows of 8 and of 4
// chunks lie as in wgmma's 128-byte and 64-byte swizzle.
template <int CHUNKS> DEV int lds_offset(int row, int chunk) {
  if constexpr (CHUNKS % 8 == 0) return row * (CHUNKS * 16) + ((chunk ^ (row & 7)) << 4);
  else return row * (CHUNKS * 16) + ((chunk ^ ((row >> 1) & 3)) << 4);
}
// Fragments begin at rows that are multiples of 8: only the lane's own row and chunk enter the swizzle, so that one
// address register serves all fragments of a step and the rest is immediate offsets.
template <int CHUNKS> DEV const u8* lds_at(const u8* tile, int row, int lane_row, int chunk) {
  return tile + row * (CHUNKS * 16) + lds_offset<CHUNKS>(lane_row, chunk);
}
template <int CHUNKS> DEV u32x4 lds_load(const u8* tile, int row, int lane_row, int chunk) {
  return *(const u32x4*)lds_at<CHUNKS>(tile, row, lane_row, chunk);
}

// copier<N, L1>: N copies of 16 bytes from global memory to LDS by each thread. fetch(i) starts copy i, of zeros if not
// `ok`; land(i) puts it in LDS where the target holds it in registers meanwhile. Both get the same address, formed from
// the LDS array each time. fetch a step's copies, copies_commit(); land() them all, without a branch around, after the
// work that they overlap; copies_wait<PENDING>() waits until at most PENDING commits of this thread are under way, and
// barrier() makes the rest visible to the block. With HF_ASYNC_COPIES 0 only one step can be in flight.
// L1: through the first cache, for sources that neighbours share.
#if HF_CUDA && __CUDA_ARCH__ >= 800
#define HF_ASYNC_COPIES 1
DEV u32 lds_address(const void* p) { return (u32)__cvta_generic_to_shared(p); }
template <int N, bool L1> struct copier {
  MEMBER void fetch(int, u8* lds, const void* from, bool ok) {
    if constexpr (L1)
      asm volatile("cp.async.ca.shared.global [%0], [%1], 16, %2;" ::"r"(lds_address(lds)), "l"(from), "r"(ok ? 16 : 0) : "memory");
    else
      asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16, %2;" ::"r"(lds_address(lds)), "l"(from), "r"(ok ? 16 : 0) : "memory");
  }
  MEMBER void land(int, u8*) {}
};
DEV void copies_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int PENDING> DEV void copies_wait() { asm volatile("cp.async.wait_group %0;" ::"n"(PENDING) : "memory"); }
#else
#define HF_ASYNC_COPIES 0
template <int N, bool L1> struct copier {
  u32x4 value[N];
  MEMBER void fetch(int i, u8*, const void* from, bool ok) {
    u32x4 v = zero_u32x4();
    if (ok) v = *(const u32x4*)from;
    value[i] = v;
  }
  MEMBER void land(int i, u8* lds) { *(u32x4*)lds = value[i]; }
};
DEV void copies_commit() {}
template <int PENDING> DEV void copies_wait() {}
#endif

// schedule_fence() keeps the compiler from moving every LDS read of an unrolled loop to its top.
#if HF_EMU
DEV void schedule_fence() {}
#elif HF_CUDA
DEV void schedule_fence() { asm volatile("" ::: "memory"); }
#else
DEV void schedule_fence() { __builtin_amdgcn_sched_barrier(0); }
#endif
// Programmatic dependent launch, with HF_DEPENDENT=1 only: what comes before grid_wait() may overlap the previous
// kernel's end and must not touch what that one writes; grid_release() lets the next kernel's blocks begin.
#if defined(HF_DEPENDENT) && HF_DEPENDENT && HF_CUDA && __CUDA_ARCH__ >= 900
DEV void grid_wait() { asm volatile("griddepcontrol.wait;" ::: "memory"); }
DEV void grid_release() { asm volatile("griddepcontrol.launch_dependents;"); }
#else
DEV void grid_wait() {}
DEV void grid_release() {}
#endif
)hip";

}  // namespace hf::kernel
