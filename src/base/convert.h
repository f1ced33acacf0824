// Elements of any dtype as the one type an algorithm computes in: what lets an operator have one body and not one a
// type.
#pragma once
#include <vector>

#include "base/error.h"
#include "base/tensor.h"

namespace hf {

/// Converts all elements of `from` (any numeric or bool dtype, sub-byte included) into `to[0..size)`. T is float,
/// double, int64_t, uint64_t, int32_t, uint8_t or bool. Throws Unsupported for strings and complex.
template <class T>
void read_elements(const Tensor& from, T* to);

/// Converts `from[0..size)` to `to`'s dtype. Floats to narrower floats round to nearest even; floats to integers
/// truncate toward zero, out of range as a C++ cast through int64 would (ONNX leaves it undefined); anything to bool is
/// != 0.
template <class T>
void write_elements(const T* from, Tensor& to);

/// The elements of a tensor as T: a view where the dtype is T already, else a converted copy.
template <class T>
class ReadAs {
 public:
  explicit ReadAs(const Tensor& t) : size_(t.size()) {
    if (t.dtype() == dtype_of<T>()) {
      data_ = static_cast<const T*>(t.raw());
    } else {
      copy_.reset(new T[static_cast<size_t>(size_)]);
      read_elements(t, copy_.get());
      data_ = copy_.get();
    }
  }
  const T* data() const { return data_; }
  const T& operator[](int64_t i) const { return data_[i]; }
  int64_t size() const { return size_; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }

 private:
  int64_t size_;
  const T* data_;
  std::unique_ptr<T[]> copy_;
};

/// A place to write a tensor's elements as T; converted into the tensor by commit(), which must be called once.
template <class T>
class WriteAs {
 public:
  explicit WriteAs(Tensor& t) : tensor_(t) {
    if (t.dtype() != dtype_of<T>()) copy_.reset(new T[static_cast<size_t>(t.size())]);
    data_ = copy_ ? copy_.get() : static_cast<T*>(t.raw());
  }
  T* data() { return data_; }
  T& operator[](int64_t i) { return data_[i]; }
  void commit() {
    if (copy_) write_elements(data_, tensor_);
  }

 private:
  Tensor& tensor_;
  T* data_;
  std::unique_ptr<T[]> copy_;
};

/// The elements as int64, for shapes, axes and indices.
std::vector<int64_t> to_ints(const Tensor& t);
/// The only element of a tensor of size 1, as float or int64. Throws InvalidArgument if the size is not 1.
double to_number(const Tensor& t);
int64_t to_int(const Tensor& t);

/// Calls f with a value of the type that computation in `dtype` uses: double for F64, else float (for all float types).
template <class F>
decltype(auto) dispatch_float(DType dtype, F&& f) {
  if (dtype == DType::F64) return f(double{});
  return f(float{});
}

/// Calls f with a value of the compute type of any numeric dtype: double for F64, float for the other floats, uint64_t
/// for U64, int64_t for the other integers and bool.
template <class F>
decltype(auto) dispatch_number(DType dtype, F&& f) {
  if (dtype == DType::F64) return f(double{});
  if (is_float(dtype)) return f(float{});
  if (dtype == DType::U64) return f(uint64_t{});
  return f(int64_t{});
}

}  // namespace hf
