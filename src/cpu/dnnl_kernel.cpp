// DnnlKernel: calls of oneDNN primitives as data, and the weights packed for them.
#include "cpu/dnnl_kernel.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cstring>
#include <unordered_map>

namespace hf::cpu {
namespace {

dnnl::stream& stream() {
  thread_local dnnl::stream s(compat::engine());
  return s;
}

void* address_of(const Arg& a, std::span<const void* const> inputs, std::span<void* const> outputs, void* scratch) {
  auto at = static_cast<size_t>(a.at);
  switch (a.from) {
    case Arg::Input: return const_cast<void*>(inputs[at]);
    case Arg::Output: return outputs[at];
    case Arg::Scratch: return static_cast<char*>(scratch) + at;
    case Arg::Held: return const_cast<void*>(a.held->raw());
  }
  return nullptr;
}

void execute(const Call& call, std::span<const void* const> inputs, std::span<void* const> outputs, void* scratch) {
  std::unordered_map<int, memory> args;
  args.reserve(call.args.size());
  for (const Arg& a : call.args)
    args.emplace(a.id, memory(a.md, compat::engine(), address_of(a, inputs, outputs, scratch)));
  call.primitive.execute(stream(), args);
}

// A descriptor as bytes that are equal for equal descriptors.
std::string key_of(const memory::desc& md) {
  std::string key;
  auto append = [&](const memory::dims& v) {
    key.append(reinterpret_cast<const char*>(v.data()), v.size() * sizeof(v[0]));
    key += '/';
  };
  compat::Blocks b = compat::blocks_of(md);
  for (const auto* list : {&b.dims, &b.padded, &b.strides, &b.block_sizes, &b.block_axes}) append(*list);
  return key;
}

}  // namespace

dnnl::primitive_attr user_scratchpad() {
  dnnl::primitive_attr attr;
  attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attr;
}

void DnnlKernel::set_tail(PointwiseLoop tail, std::vector<int> operands) {
  tail_ = std::move(tail);
  tail_operands_ = std::move(operands);
}

int64_t DnnlKernel::add_scratch(size_t bytes) {
  int64_t at = scratch_bytes_;
  scratch_bytes_ += static_cast<int64_t>((bytes + 63) / 64 * 64);
  return at;
}

void DnnlKernel::add_scratchpad(Call& call, const memory::desc& md) {
  if (size_t bytes = md.get_size()) call.args.push_back({DNNL_ARG_SCRATCHPAD, md, Arg::Scratch, add_scratch(bytes)});
}

void DnnlKernel::run(std::span<const void* const> inputs, std::span<void* const> outputs, void* scratch) const {
  if (carry_) {
    const void* from = inputs[static_cast<size_t>(carry_->input)];
    if (from != outputs[0]) std::memcpy(outputs[0], from, static_cast<size_t>(carry_->bytes));
  }
  try {
    for (const Call& call : calls_) execute(call, inputs, outputs, scratch);
    stream().wait();
  } catch (const dnnl::error& e) {
    fail(e.status == dnnl_out_of_memory ? Code::OutOfMemory : Code::Internal, "onednn failed to run '{}': {}", text_,
         e.what());
  }
  if (!tail_) return;
  std::vector<const float*> operands = {static_cast<const float*>(outputs[0])};
  for (int i : tail_operands_) operands.push_back(static_cast<const float*>(inputs[static_cast<size_t>(i)]));
  tail_->run(operands, static_cast<float*>(outputs[0]));
}

std::unique_ptr<DnnlKernel> simple_kernel(const compat::Ready& ready, std::string name) {
  auto kernel = std::make_unique<DnnlKernel>("onednn " + name + " " + ready.implementation);
  Call call{ready.primitive, {{DNNL_ARG_SRC, ready.src, Arg::Input}, {DNNL_ARG_DST, ready.dst, Arg::Output}}};
  kernel->add_scratchpad(call, ready.scratchpad);
  kernel->add(std::move(call));
  return kernel;
}

std::shared_ptr<const Tensor> PackedWeights::get(const Tensor& constant, const memory::desc& from,
                                                 const memory::desc& to) {
  // The key is the content: an address can be another tensor's later, and equal weights of two plans are one copy.
  XXH128_hash_t hash = XXH3_128bits(constant.raw(), static_cast<size_t>(constant.size_bytes()));
  std::string key(reinterpret_cast<const char*>(&hash), sizeof hash);
  key += key_of(from) + key_of(to);
  std::lock_guard lock(mutex_);
  if (auto found = packed_[key].lock()) return found;
  std::erase_if(packed_, [&](const auto& entry) { return entry.first != key && entry.second.expired(); });
  auto packed = std::make_shared<Tensor>(DType::U8, Dims{static_cast<int64_t>(to.get_size())});
  memory source(from, compat::engine(), const_cast<void*>(constant.raw()));
  memory target(to, compat::engine(), packed->raw());
  dnnl::reorder(source, target).execute(stream(), source, target);
  stream().wait();
  packed_[key] = packed;
  return packed;
}

}  // namespace hf::cpu
