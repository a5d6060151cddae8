// The global operators new and delete, replaced by ones that count. In a file of its own, so that
// no compiler sees through one half of a pair.
#include "native/allocation_watch.h"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace dpcache::testing {

AllocationTotals& allocation_totals() {
  static AllocationTotals totals;
  return totals;
}

}  // namespace dpcache::testing

namespace {

void* counted(void* memory, std::size_t size) {
  if (memory == nullptr) std::abort();
  auto& totals = dpcache::testing::allocation_totals();
  ++totals.count;
  totals.bytes += size;
  std::uint64_t largest = totals.largest;
  while (size > largest && !totals.largest.compare_exchange_weak(largest, size)) {
  }
  return memory;
}

void* counted_aligned(std::size_t size, std::align_val_t alignment) {
  const auto unit = std::max(static_cast<std::size_t>(alignment), sizeof(void*));
  return counted(std::aligned_alloc(unit, (size + unit - 1) / unit * unit), size);
}

}  // namespace

void* operator new(std::size_t size) {
  return counted(std::malloc(std::max<std::size_t>(size, 1)), size);
}
void* operator new[](std::size_t size) {
  return ::operator new(size);
}
void* operator new(std::size_t size, std::align_val_t alignment) {
  return counted_aligned(size, alignment);
}
void* operator new[](std::size_t size, std::align_val_t alignment) {
  return counted_aligned(size, alignment);
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete[](void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t /*size*/) noexcept {
  std::free(memory);
}
void operator delete[](void* memory, std::size_t /*size*/) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::align_val_t /*alignment*/) noexcept {
  std::free(memory);
}
void operator delete[](void* memory, std::align_val_t /*alignment*/) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t /*size*/, std::align_val_t /*alignment*/) noexcept {
  std::free(memory);
}
void operator delete[](void* memory, std::size_t /*size*/,
                       std::align_val_t /*alignment*/) noexcept {
  std::free(memory);
}
