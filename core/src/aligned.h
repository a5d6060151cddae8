// Memory that begins at multiples of kAlignment bytes, and whether there is any.
#ifndef DPCACHE_SRC_ALIGNED_H_
#define DPCACHE_SRC_ALIGNED_H_

#include <cstddef>
#include <vector>

#include "numerics.h"

namespace dpcache {

// Large arrays ask Linux for pages of 2 MiB: they are there sooner, and a scan misses fewer.
void* allocate_aligned(std::size_t bytes);
void free_aligned(void* memory, std::size_t bytes) noexcept;

// Aligned memory for std::vector.
template <class T>
struct AlignedAllocator {
  using value_type = T;
  AlignedAllocator() = default;
  template <class U>
  explicit AlignedAllocator(const AlignedAllocator<U>& /*other*/) noexcept {}
  T* allocate(std::size_t n) { return static_cast<T*>(allocate_aligned(n * sizeof(T))); }
  void deallocate(T* p, std::size_t n) noexcept { free_aligned(p, n * sizeof(T)); }
  bool operator==(const AlignedAllocator&) const noexcept { return true; }
};

using AlignedFloats = std::vector<float, AlignedAllocator<float>>;

// Whether so much memory is to be had now. Asked before anything changes, because core is also
// built without exceptions, where a failed `new` ends the program.
bool room_for(std::size_t bytes) noexcept;

}  // namespace dpcache

#endif  // DPCACHE_SRC_ALIGNED_H_
