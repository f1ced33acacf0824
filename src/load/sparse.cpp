// SparseTensorProto: coordinates and values, made dense.
#include <onnx.pb.h>

#include <cstring>

#include "base/error.h"
#include "load/tensor_data.h"

namespace hf::load {
namespace {

// The position of entry i: a linear index, or one index an axis.
int64_t position(const Tensor& indices, int64_t i, const Dims& dims, const Dims& strides) {
  const auto* at = indices.data<int64_t>();
  if (indices.rank() == 1) return at[i];
  int64_t linear = 0;
  for (int axis = 0; axis < dims.rank(); ++axis) {
    int64_t index = at[i * dims.rank() + axis];
    if (index < 0 || index >= dims[axis])
      fail(Code::InvalidModel, "index {} on axis {} is outside shape {}", index, axis, dims.text());
    linear += index * strides[axis];
  }
  return linear;
}

}  // namespace

Tensor take_sparse(pb::SparseTensorProto& p, ExternalFiles& files, int64_t& budget_bytes) {
  Tensor values = take_tensor(*p.mutable_values(), files), indices = take_tensor(*p.mutable_indices(), files);
  Dims dims(std::span<const int64_t>(p.dims().data(), static_cast<size_t>(p.dims_size())));
  if (bits(values.dtype()) < 8) fail(Code::Unsupported, "a sparse tensor of {}", name(values.dtype()));
  if (values.rank() != 1) fail(Code::InvalidModel, "sparse values have shape {}, wanted rank 1", values.dims().text());
  int64_t entries = values.size();
  Dims linear{entries}, coordinates{entries, dims.rank()};
  if (indices.dtype() != DType::I64 || (indices.dims() != linear && indices.dims() != coordinates))
    fail(Code::InvalidModel, "sparse indices are {}, wanted int64 {} or {}", indices.text(), linear.text(),
         coordinates.text());
  int64_t element = bits(values.dtype()) / 8, count = dims.count();
  if (count > budget_bytes / element)
    fail(Code::Unsupported, "a sparse tensor of shape {} is too large to be made dense", dims.text());
  budget_bytes -= count * element;
  Tensor dense(values.dtype(), dims);
  if (count) std::memset(dense.raw(), 0, static_cast<size_t>(dense.size_bytes()));
  Dims strides = dims.strides();
  for (int64_t i = 0, last = -1; i < entries; ++i) {
    int64_t at = position(indices, i, dims, strides);
    if (at <= last || at >= count)
      fail(Code::InvalidModel, "sparse index {} is not ascending or is outside shape {}", at, dims.text());
    last = at;
    std::memcpy(static_cast<char*>(dense.raw()) + at * element, static_cast<const char*>(values.raw()) + i * element,
                static_cast<size_t>(element));
  }
  return dense;
}

}  // namespace hf::load
