// The kernels, to be run here and now on the CPU.
#ifndef DPCACHE_TESTS_CUDA_EMULATED_LAUNCH_H_
#define DPCACHE_TESTS_CUDA_EMULATED_LAUNCH_H_

#include "cuda/host_grid.h"
// After the names that it needs.
#include "cuda/kernels.cuh"

namespace dpcache::cuda {

struct LaunchHere {
  template <class Work>
  void operator()(void (*kernel)(Work), std::size_t blocks, const Work& work) const {
    host_grid::run(static_cast<unsigned>(blocks), kThreads, [&] { kernel(work); });
  }
};

inline void launch_encode_here(const EncodeWork& work) {
  launch_encode(work, LaunchHere{});
}
inline void launch_search_here(const SearchWork& work) {
  launch_search(work, LaunchHere{});
}

}  // namespace dpcache::cuda

#endif  // DPCACHE_TESTS_CUDA_EMULATED_LAUNCH_H_
