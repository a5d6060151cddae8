// Which instruction sets the kernels are compiled for; included before Highway.
//
// The sets that differ enough to matter: SSE2 is what a plain x86-64 build starts from, AVX3_DL has
// products of bytes. Every file of kernels must have the same ones, as one choice serves them all.
#ifndef DPCACHE_SRC_KERNELS_TARGETS_H_
#define DPCACHE_SRC_KERNELS_TARGETS_H_

#if defined(__x86_64__)
#define HWY_WANT_AVX3_DL
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_AVX3_ZEN4 | HWY_AVX3_SPR)
#endif

#endif  // DPCACHE_SRC_KERNELS_TARGETS_H_
