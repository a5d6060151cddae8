// Lists of keys under their largest components.
#include "probe.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

namespace dpcache {

bool Probe::reserve(std::size_t rows) {
  if (rows > kRowMask) return true;  // rows beyond are not guessed
  const std::size_t lists = std::bit_ceil(std::max<std::size_t>(rows, 4));
  const std::size_t more = lists > heads_.size() ? lists : 0;
  const std::size_t links = 2 * rows > links_.capacity() ? 4 * rows : 0;
  if (more + links > 0 && !room_for((more + links) * sizeof(std::uint32_t))) return false;
  row_.resize(length_);
  links_.resize(2 * rows);
  if (more > 0) {
    heads_.resize(lists);
    shift_ = 33U - static_cast<unsigned>(std::countr_zero(lists));
    clear();
  }
  return true;
}

void Probe::clear() noexcept {
  std::fill(heads_.begin(), heads_.end(), kEnd);
  linked_ = 0;
}

std::size_t Probe::bytes() const noexcept {
  return (heads_.capacity() + links_.capacity()) * sizeof(std::uint32_t);
}

Probe::Place Probe::place_of(unsigned half, std::uint16_t a, std::uint16_t b) const noexcept {
  // By the golden ratio [Knuth, The Art of Computer Programming 3, 6.4]. Rows are below 2^24, and
  // so the upper bits are for lists, the lower ones for tags.
  const std::uint32_t pair = std::uint32_t{std::max(a, b)} << 16U | std::min(a, b);
  const std::uint32_t hash = pair * 0x9E3779B1U;
  return {2 * std::size_t{hash >> shift_} + half, hash & 0xFFU};
}

Probe::Peaks Probe::peaks_of(const float* x, unsigned count, float floor) const noexcept {
  for (;; floor = -1.0F) {
    Peaks peaks{};
    std::array<float, kMostPeaks> magnitudes;
    magnitudes.fill(floor);
    unsigned found = 0;
    for (std::size_t i = 0; i < length_ / 2; ++i) {
      const float magnitude = std::abs(x[i]);
      if (!(magnitude > magnitudes[count - 1])) continue;
      ++found;
      unsigned at = count - 1;
      for (; at > 0 && magnitude > magnitudes[at - 1]; --at) {
        magnitudes[at] = magnitudes[at - 1];
        peaks[at] = peaks[at - 1];
      }
      magnitudes[at] = magnitude;
      peaks[at] = static_cast<std::uint16_t>(2 * i + (x[i] < 0.0F ? 1 : 0));
    }
    if (found >= count || floor < 0.0F) return peaks;
  }
}

std::array<Probe::Peaks, 2> Probe::both_halves(const float* x, unsigned count,
                                               float floor) const noexcept {
  return {peaks_of(x, count, floor), peaks_of(x + length_ / 2, count, floor)};
}

void Probe::link(const std::int8_t* codes, std::size_t rows) noexcept {
  if (heads_.empty()) return;
  rows = std::min(rows, links_.size() / 2);
  for (; linked_ < rows; ++linked_) {
    std::copy_n(codes + linked_ * length_, length_, row_.data());
    const std::array<Peaks, 2> peaks = both_halves(row_.data(), 2, -1.0F);
    for (unsigned half = 0; half < 2; ++half) {
      const Place place = place_of(half, peaks[half][0], peaks[half][1]);
      links_[2 * linked_ + half] = heads_[place.list];
      heads_[place.list] = place.tag << kRowBits | static_cast<std::uint32_t>(linked_);
    }
  }
}

}  // namespace dpcache
