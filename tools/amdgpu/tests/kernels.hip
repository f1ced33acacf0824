// Kernels of the API tests: compiled offline for every architecture, and by hipRTC.
extern "C" {

__device__ int g_count = 5;
__device__ float g_tab[4] = {1.0f, 2.0f, 3.0f, 4.0f};

struct Mixed {
  int a;
  double b;
  float c[3];
  unsigned char d;
};

__global__ void axpy(float a, const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] += a * x[i];
}

__global__ void fill(int* p, int v, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) p[i] = v + i;
}

__global__ void globals(float* o) {
  int t = threadIdx.x;
  if (t < 4) o[t] = g_tab[t] * g_count;
  if (t == 0) g_count = 77;
}

__global__ void dynlds(const int* a, int* o, int n) {
  extern __shared__ int s[];
  int t = threadIdx.x;
  s[t] = a[t];
  __syncthreads();
  o[t] = s[n - 1 - t];
}

// Without the barrier that dynlds has.
__global__ void nobarrier(const int* a, int* o, int n) {
  extern __shared__ int s[];
  int t = threadIdx.x;
  s[t] = a[t];
  o[t] = s[n - 1 - t];
}

__global__ void mixed(Mixed m, short s, char c, float* o) {
  if (threadIdx.x) return;
  o[0] = m.a;
  o[1] = (float)m.b;
  o[2] = m.c[2];
  o[3] = m.d;
  o[4] = s;
  o[5] = c;
}

__global__ void ids(int* o) {
  int b = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  int t = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  o[b * 24 + t] = blockIdx.x + 10 * blockIdx.y + 100 * blockIdx.z + 1000 * threadIdx.x + 10000 * threadIdx.y +
                  100000 * threadIdx.z;
}

__global__ void poke(int* p, long i, int v) {
  if (threadIdx.x == 0) p[i] = v;
}

__global__ void peek(const int* p, long i, int* o) {
  if (threadIdx.x == 0) *o = p[i];
}

__global__ void ldsoob(int* o, int i) {
  __shared__ int s[64];
  s[threadIdx.x & 63] = threadIdx.x;
  __syncthreads();
  o[threadIdx.x] = s[i + threadIdx.x];
}

__global__ __launch_bounds__(64) void bounded(int* o) { o[threadIdx.x] = threadIdx.x; }

// Indexed by data, so that the array is in scratch memory.
__global__ void scratch(const unsigned* a, unsigned* o, int n) {
  unsigned v[32];
  int t = threadIdx.x;
  for (int i = 0; i < 32; i++) v[i] = a[t] + i;
  for (int i = 0; i < n; i++) v[(a[t] >> (i & 7)) & 31] += i * t;
  unsigned s = 0;
  for (int i = 0; i < 32; i++) s = s * 3 + v[i];
  o[t] = s;
}

__global__ void count(unsigned* p) {
  if ((threadIdx.x & 7) == 3) atomicAdd(p, 1u);
}

__global__ void spin(int* p) {
  while (__hip_atomic_load(p, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT) == 0) {
  }
}

__global__ void noargs() {}
}
