// Memory that begins at multiples of kAlignment bytes, and whether there is any.
#ifndef DPCACHE_SRC_ALIGNED_H_
#define DPCACHE_SRC_ALIGNED_H_

#include <cstddef>
#include <new>
#include <vector>

#include "numerics.h"

namespace dpcache {

// Aligned memory for std::vector.
template <class T>
struct AlignedAllocator {
  using value_type = T;
  AlignedAllocator() = default;
  template <class U>
  explicit AlignedAllocator(const AlignedAllocator<U>& /*other*/) noexcept {}
  T* allocate(std::size_t n) {
    return static_cast<T*>(::operator new (n * sizeof(T), std::align_val_t{kAlignment}));
  }
  void deallocate(T* p, std::size_t /*n*/) noexcept {
    ::operator delete (p, std::align_val_t{kAlignment});
  }
  bool operator==(const AlignedAllocator&) const noexcept { return true; }
};

using AlignedFloats = std::vector<float, AlignedAllocator<float>>;

// Whether so much memory is to be had now. Asked before anything changes, because core is also
// built without exceptions, where a failed `new` ends the program.
bool room_for(std::size_t bytes) noexcept;

}  // namespace dpcache

#endif  // DPCACHE_SRC_ALIGNED_H_
