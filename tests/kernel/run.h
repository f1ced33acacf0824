// Runs a kernel specification on a device, and values of the element types.
#pragma once
#include <algorithm>
#include <cmath>
#include <random>

#include "base/dtype.h"
#include "gpu/devices.h"

namespace hf::kernel {

using gpu::DeviceBuffer;
using Bytes = std::vector<uint8_t>;

/// Floats as stored in an element type, and back.
inline Bytes stored(const std::vector<float>& values, Element type) {
  Bytes bytes(values.size() * static_cast<size_t>(size_of(type)));
  for (size_t i = 0; i < values.size(); ++i) {
    if (type == Element::F32) std::memcpy(&bytes[i * 4], &values[i], 4);
    uint16_t half = type == Element::F16 ? to_half(values[i]).raw : to_bfloat16(values[i]).raw;
    if (type != Element::F32) std::memcpy(&bytes[i * 2], &half, 2);
  }
  return bytes;
}
inline std::vector<float> floats(const Bytes& bytes, Element type) {
  std::vector<float> values(bytes.size() / static_cast<size_t>(size_of(type)));
  for (size_t i = 0; i < values.size(); ++i) {
    uint16_t half = 0;
    if (type == Element::F32)
      std::memcpy(&values[i], &bytes[i * 4], 4);
    else
      std::memcpy(&half, &bytes[i * 2], 2);
    if (type == Element::F16) values[i] = to_float(Half{half});
    if (type == Element::BF16) values[i] = to_float(BFloat16{half});
  }
  return values;
}
/// What storing rounds the values to.
inline std::vector<float> rounded(const std::vector<float>& values, Element type) {
  return floats(stored(values, type), type);
}

inline std::vector<float> random_floats(size_t count, float low, float high, unsigned seed = 1) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<float> draw(low, high);
  std::vector<float> values(count);
  for (float& v : values) v = draw(generator);
  return values;
}

/// The unit of rounding: half a unit in the last place, relative.
inline float unit_of(Element type) {
  return type == Element::F32 ? 0x1p-24f : type == Element::F16 ? 0x1p-11f : 0x1p-8f;
}

class KernelTest : public gpu::OnDevice {
 protected:
  /// Launches once; outputs are filled with 0xcd before, and one more 256 bytes behind each that must stay so.
  /// `packed` are the spec's packed data, and counters are checked to be left zero.
  std::vector<Bytes> run(const KernelSpec& spec, const std::vector<Bytes>& inputs, std::vector<size_t> output_bytes,
                         const std::vector<Bytes>& packed = {}) {
    gpu::LoadedKernel kernel(device, spec);
    std::vector<DeviceBuffer> buffers;
    std::vector<void*> in, out;
    for (const Bytes& bytes : inputs) {
      buffers.push_back(to_device(bytes));
      in.push_back(buffers.back().get());
    }
    std::vector<void*> constants;
    for (const Bytes& bytes : packed) {
      buffers.push_back(to_device(bytes));
      constants.push_back(buffers.back().get());
    }
    std::vector<DeviceBuffer> results;
    for (size_t bytes : output_bytes) {
      results.emplace_back(device, static_cast<int64_t>(bytes + 256));
      device->fill(results.back().get(), 0xcd, static_cast<int64_t>(bytes + 256), stream.get());
      out.push_back(results.back().get());
    }
    DeviceBuffer workspace, counters;
    if (spec.workspace_bytes) workspace = DeviceBuffer(device, spec.workspace_bytes);
    if (spec.workspace_bytes) device->fill(workspace.get(), 0xcd, spec.workspace_bytes, stream.get());
    if (spec.counters) {
      counters = DeviceBuffer(device, spec.counters * int64_t{4});
      device->fill(counters.get(), 0, spec.counters * int64_t{4}, stream.get());
    }
    kernel.launch(
        stream,
        {.inputs = in, .outputs = out, .packed = constants, .workspace = workspace.get(), .counters = counters.get()});
    if (spec.counters)
      for (uint8_t b : to_host<uint8_t>(counters)) EXPECT_EQ(b, 0) << "counters are left zero";
    std::vector<Bytes> all;
    for (size_t i = 0; i < results.size(); ++i) {
      all.push_back(to_host<uint8_t>(results[i]));
      for (size_t b = output_bytes[i]; b < all[i].size(); ++b)
        EXPECT_EQ(all[i][b], 0xcd) << "written beyond the output";
      all[i].resize(output_bytes[i]);
    }
    return all;
  }
  /// The first candidates of several launches that share a workspace.
  std::vector<Bytes> run_all(const std::vector<Candidates>& launches, const std::vector<Bytes>& inputs,
                             const std::vector<size_t>& output_bytes) {
    DeviceBuffer workspace;
    std::vector<DeviceBuffer> buffers;
    std::vector<void*> in, out;
    int64_t workspace_bytes = 0;
    for (const Candidates& c : launches) workspace_bytes = std::max(workspace_bytes, c[0].workspace_bytes);
    if (workspace_bytes) workspace = DeviceBuffer(device, workspace_bytes);
    if (workspace_bytes) device->fill(workspace.get(), 0xcd, workspace_bytes, stream.get());
    int counter_words = 1;
    for (const Candidates& c : launches) counter_words = std::max(counter_words, c[0].counters);
    DeviceBuffer counters = to_device(std::vector<uint32_t>(static_cast<size_t>(counter_words)));
    for (const Bytes& bytes : inputs) in.push_back(buffers.emplace_back(to_device(bytes)).get());
    const size_t first_output = buffers.size();
    for (size_t bytes : output_bytes) {
      out.push_back(buffers.emplace_back(device, static_cast<int64_t>(bytes + 256)).get());
      device->fill(out.back(), 0xcd, static_cast<int64_t>(bytes + 256), stream.get());
    }
    for (const Candidates& c : launches)
      gpu::LoadedKernel(device, c[0])
          .launch(
              stream,
              {.inputs = in, .outputs = out, .packed = {}, .workspace = workspace.get(), .counters = counters.get()});
    for (uint32_t word : to_host<uint32_t>(counters)) EXPECT_EQ(word, 0u) << "counters are left zero";
    std::vector<Bytes> all;
    for (size_t i = 0; i < output_bytes.size(); ++i) {
      all.push_back(to_host<uint8_t>(buffers[first_output + i]));
      for (size_t b = output_bytes[i]; b < all[i].size(); ++b)
        EXPECT_EQ(all[i][b], 0xcd) << "written beyond the output";
      all[i].resize(output_bytes[i]);
    }
    return all;
  }
  Target target() { return gpu::target_of(device->info()); }
};

}  // namespace hf::kernel
