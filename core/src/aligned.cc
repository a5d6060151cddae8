// Asking the allocator.
#include "aligned.h"

#include <cstdlib>

namespace dpcache {

bool room_for(std::size_t bytes) noexcept {
  // Volatile: a compiler may take an allocation that nobody uses to succeed, and clang does.
  void* volatile probe = std::malloc(bytes);  // NOLINT(cppcoreguidelines-no-malloc)
  std::free(probe);                           // NOLINT(cppcoreguidelines-no-malloc)
  return probe != nullptr;
}

}  // namespace dpcache
