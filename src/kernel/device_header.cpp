// The device header: target and threads. Numbers, mathematics and reductions are in device_math.cpp.
#include "kernel/device_header.h"

#include "kernel/emu_abi.h"

namespace hf::kernel {

const std::string_view kDeviceTarget = R"hip(
// No system header is included: hipRTC, clang without ROCm, NVRTC and the host's compiler must all agree on this text.
#if defined(HF_EMU)
#define HF_CUDA 0
#define HF_AMD 0
#elif defined(__CUDACC__) || defined(__CUDACC_RTC__)
#define HF_CUDA 1
#define HF_AMD 0
#define HF_EMU 0
#else
#define HF_CUDA 0
#define HF_AMD 1
#define HF_EMU 0
#endif

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long i64;

// DEV             a function of the device, always inlined
// KERNEL(T, B)    a kernel for blocks of exactly T threads, B of which should fit a compute unit at once
// LDS(name, N)    the block's N bytes of LDS, aligned to 1024. One to a kernel; the launch must ask for as many where
//                 DeviceInfo::lds_at_launch. Never keep a pointer into it in an array: it would become a flat pointer.
// WAVE            lanes of a wave, 32 or 64
#if HF_EMU
#define DEV static inline __attribute__((always_inline))
#define KERNEL(threads, blocks) extern "C" void
#define LDS(name, bytes) u8* const name = hf_self->lds
struct alignas(16) u32x4 { u32 x, y, z, w; };
#define WAVE HF_EMU_WAVE
#elif HF_CUDA
#define DEV static __device__ __forceinline__
#define KERNEL(threads, blocks) extern "C" __global__ void __launch_bounds__(threads, blocks)
#define LDS(name, bytes) extern __shared__ __align__(1024) u8 name[]
typedef uint4 u32x4;
#define WAVE 32
#else
#ifndef __global__
#define __global__ __attribute__((global))
#endif
#ifndef __device__
#define __device__ __attribute__((device))
#endif
#ifndef __shared__
#define __shared__ __attribute__((shared))
#endif
#define DEV static __device__ inline __attribute__((always_inline))
// The second argument of __launch_bounds__ means something else on AMD; occupancy is left to the register count.
#define KERNEL(threads, blocks) \
  extern "C" __global__ __attribute__((amdgpu_flat_work_group_size(threads, threads))) void
#define LDS(name, bytes) __shared__ __attribute__((aligned(1024))) u8 name[bytes]
typedef u32 u32x4 __attribute__((ext_vector_type(4)));
#if defined(__GFX6__) || defined(__GFX7__) || defined(__GFX8__) || defined(__GFX9__)
#define WAVE 64
#else
#define WAVE 32
#endif
#endif

#if HF_CUDA
DEV u32 as_u32(float x) { return __float_as_uint(x); }
DEV float as_float(u32 x) { return __uint_as_float(x); }
#else
DEV u32 as_u32(float x) { return __builtin_bit_cast(u32, x); }
DEV float as_float(u32 x) { return __builtin_bit_cast(float, x); }
#endif
)hip";

// On AMD thread ids are builtins, so that hipRTC's own headers and plain clang mean the same. The size of the grid is
// not among them: where a kernel needs it, it is an argument.
const std::string_view kDeviceThreads = R"hip(
#if HF_EMU
static thread_local HfEmuThread* hf_self;
extern "C" {
HfEmuThread** hf_emu_self() { return &hf_self; }
extern const int hf_emu_abi = HF_EMU_ABI_VERSION;
extern const int hf_emu_wave = WAVE;
}
DEV int thread_x() { return (int)hf_self->thread[0]; }
DEV int thread_y() { return (int)hf_self->thread[1]; }
DEV int block_x() { return (int)hf_self->block[0]; }
DEV int block_y() { return (int)hf_self->block[1]; }
DEV int block_z() { return (int)hf_self->block[2]; }
DEV int lane_id() { return (int)hf_self->lane; }
DEV void barrier() { hf_self->barrier(); }
DEV u32 shuffle(u32 value, int lane) { return hf_self->shuffle(value, (u32)lane); }
DEV u32 atomic_add(u32* p, u32 v) { return __atomic_fetch_add(p, v, __ATOMIC_RELAXED); }
DEV void fence_device() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
#elif HF_CUDA
DEV int thread_x() { return threadIdx.x; }
DEV int thread_y() { return threadIdx.y; }
DEV int block_x() { return blockIdx.x; }
DEV int block_y() { return blockIdx.y; }
DEV int block_z() { return blockIdx.z; }
DEV int lane_id() { int lane; asm("mov.u32 %0, %%laneid;" : "=r"(lane)); return lane; }
DEV void barrier() { __syncthreads(); }
DEV u32 shuffle(u32 value, int lane) { return __shfl_sync(0xffffffffu, value, lane); }
DEV u32 atomic_add(u32* p, u32 v) { return atomicAdd(p, v); }
DEV void fence_device() { __threadfence(); }
#else
DEV int thread_x() { return __builtin_amdgcn_workitem_id_x(); }
DEV int thread_y() { return __builtin_amdgcn_workitem_id_y(); }
DEV int block_x() { return __builtin_amdgcn_workgroup_id_x(); }
DEV int block_y() { return __builtin_amdgcn_workgroup_id_y(); }
DEV int block_z() { return __builtin_amdgcn_workgroup_id_z(); }
#if WAVE == 64
DEV int lane_id() { return __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0)); }
#else
DEV int lane_id() { return __builtin_amdgcn_mbcnt_lo(~0u, 0); }
#endif
// Orders LDS only. The fence builtins would also drain the global loads in flight, and drop the L0 cache on RDNA: what
// one thread writes to global memory another may read after barrier() only with fence_device() before it.
#if defined(__GFX12__)
DEV void barrier() { asm volatile("s_wait_dscnt 0x0\n\ts_barrier_signal -1\n\ts_barrier_wait -1" ::: "memory"); }
#else
DEV void barrier() { asm volatile("s_waitcnt lgkmcnt(0)\n\ts_barrier" ::: "memory"); }
#endif
DEV u32 shuffle(u32 value, int lane) { return (u32)__builtin_amdgcn_ds_bpermute(lane << 2, (int)value); }
DEV u32 atomic_add(u32* p, u32 v) {
  return __hip_atomic_fetch_add(p, v, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}
DEV void fence_device() { __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "agent"); }
#endif
// shuffle(value, lane): the value that `lane` of the wave gave. All lanes of the wave must take part.
DEV float shuffle(float value, int lane) { return as_float(shuffle(as_u32(value), lane)); }
DEV float shuffle_xor(float value, int mask) { return shuffle(value, lane_id() ^ mask); }
)hip";

std::string device_header() {
  std::string emu = "#ifdef HF_EMU\n" + std::string(kEmuAbiText) + "\n#define HF_EMU_ABI_VERSION " +
                    std::to_string(kEmuAbi) + "\n#endif\n";
  std::string text = "#line 1 \"hipforge_device.h\"\n" + emu;
  for (std::string_view part :
       {kDeviceTarget, kDeviceThreads, kDeviceFloats, kDeviceMath, kDeviceElementary, kDevicePointwise, kDeviceGroups,
        kDeviceVectors, kDeviceCopies, kDeviceMatrix, kDeviceMatrixCuda, kDeviceMatrixAmd})
    text += part;
  return text;
}

}  // namespace hf::kernel
