// Asking the allocator, and the system for large pages.
#include "aligned.h"

#include <cstdlib>
#include <new>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace dpcache {

namespace {

#if defined(__linux__)
constexpr std::size_t kPage = std::size_t{2} << 20U;
#endif

std::align_val_t alignment_of([[maybe_unused]] std::size_t bytes) noexcept {
#if defined(__linux__)
  if (bytes >= 4 * kPage) return std::align_val_t{kPage};
#endif
  return std::align_val_t{kAlignment};
}

}  // namespace

void* allocate_aligned(std::size_t bytes) {
  const std::align_val_t alignment = alignment_of(bytes);
  void* memory = ::operator new(bytes, alignment);
#if defined(__linux__)
  if (alignment == std::align_val_t{kPage}) {
    // Whole pages only; without them it is the memory that it would have been.
    static_cast<void>(madvise(memory, bytes / kPage * kPage, MADV_HUGEPAGE));
  }
#endif
  return memory;
}

void free_aligned(void* memory, std::size_t bytes) noexcept {
  ::operator delete(memory, alignment_of(bytes));
}

bool room_for(std::size_t bytes) noexcept {
  // Volatile: a compiler may take an allocation that nobody uses to succeed, and clang does.
  void* volatile probe = std::malloc(bytes);  // NOLINT(cppcoreguidelines-no-malloc)
  std::free(probe);                           // NOLINT(cppcoreguidelines-no-malloc)
  return probe != nullptr;
}

}  // namespace dpcache
