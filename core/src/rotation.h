// One fixed rotation of vectors, so that no few components carry most of a key: codes of few bits
// then lose about as much of every key.
//
// Signs, Hadamard transforms of two overlapping parts, a transposition, twice: all of them keep
// lengths and angles. In float32 the result is off by at most error(), as an angle.
#ifndef DPCACHE_SRC_ROTATION_H_
#define DPCACHE_SRC_ROTATION_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace dpcache {

class Rotation {
 public:
  // Of padded vectors. Allocates 8 bytes a component with prepare().
  explicit Rotation(std::size_t length) noexcept : length_(length) {}
  void prepare();
  // `x` in place. `room` is as long, and is overwritten.
  void rotate(float* x, float* room) const noexcept;
  // Each step that rounds changes each component by at most 2^-24 of itself, and so the vector by
  // at most 2^-24 of its length.
  double error() const noexcept;

 private:
  std::size_t length_;
  std::vector<std::uint32_t> signs_;  // (rounds, length): the sign bit, or 0
};

}  // namespace dpcache

#endif  // DPCACHE_SRC_ROTATION_H_
