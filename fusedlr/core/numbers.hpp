// Arrays aligned for SIMD vectors.
#pragma once

#include <algorithm>
#include <cstddef>
#include <new>
#include <utility>
#if defined(__linux__)
#include <sys/mman.h>
#endif

#include "isa.hpp"
#include "vectors.hpp"

namespace fusedlr::FUSEDLR_ISA {

inline int padded(int k) { return (k + PAD - 1) / PAD * PAD; }

// A row-major matrix aligned for vectors, zero at first. PAD more numbers follow the last row.
template <class Number>
class TableOf {
 public:
  TableOf() = default;
  TableOf(std::size_t rows, std::size_t width) { resize(rows, width); }
  TableOf(TableOf &&other) { swap(other); }
  TableOf(const TableOf &) = delete;
  TableOf &operator=(const TableOf &) = delete;
  ~TableOf() { release(); }

  void resize(std::size_t rows, std::size_t width) {
    reshape(rows, width);
    std::fill(data_, data_ + size_ + PAD, Number(0));
  }
  // The same, entries uninitialised; memory is reused if it is large enough.
  void reshape(std::size_t rows, std::size_t width) {
    width_ = width;
    size_ = rows * width;
    if (size_ <= room_ && data_) return;
    release();
    room_ = size_;
    alignment_ = std::align_val_t(size_ * sizeof(Number) < 4 * LARGE_PAGE ? 64 : LARGE_PAGE);
    data_ = static_cast<Number *>(::operator new((size_ + PAD) * sizeof(Number), alignment_));
#ifdef MADV_HUGEPAGE
    if (alignment_ == std::align_val_t(LARGE_PAGE)) madvise(data_, size_ * sizeof(Number), MADV_HUGEPAGE);
#endif
  }
  // The shape of another one, all zero.
  void match(const TableOf &other) { resize(other.width_ ? other.size_ / other.width_ : 0, other.width_); }
  void swap(TableOf &other) {
    std::swap(data_, other.data_);
    std::swap(alignment_, other.alignment_);
    std::swap(width_, other.width_);
    std::swap(size_, other.size_);
    std::swap(room_, other.room_);
  }
  void copy(const TableOf &other) { std::copy(other.data_, other.data_ + size_, data_); }
  void clear() { std::fill(data_, data_ + size_, Number(0)); }

  Number *row(std::size_t i) const { return data_ + i * width_; }
  Number *get() const { return data_; }
  Number &operator[](std::size_t i) const { return data_[i]; }
  std::size_t size() const { return size_; }
  std::size_t width() const { return width_; }
  bool empty() const { return data_ == nullptr; }

 private:
  void release() {
    if (data_) ::operator delete(data_, alignment_);
    data_ = nullptr;
  }
  static constexpr std::size_t LARGE_PAGE = std::size_t{1} << 21;  // a copy of X takes a tenth of a fit in small ones
  Number *data_ = nullptr;
  std::align_val_t alignment_{64};
  std::size_t width_ = 0, size_ = 0, room_ = 0;
};

using Table = TableOf<double>;

}  // namespace fusedlr::FUSEDLR_ISA
