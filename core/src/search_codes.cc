// The likeliest row is scored first; then all whose codes do not rule out that they are as near.
#include "search_codes.h"

#include <array>
#include <bit>
#include <span>

#include "codes.h"

namespace dpcache {

namespace {

// Kept by each thread, so that a search allocates nothing.
struct Room {
  QueryCodes query;
  AlignedFloats cosines;
};

bool make_room(Room& room, std::size_t rows) {
  if (room.cosines.size() >= rows) return true;
  const std::size_t wanted = rows + rows / 8;
  if (!room_for(wanted * sizeof(float))) return false;
  room.cosines = AlignedFloats(wanted);
  return true;
}

}  // namespace

std::size_t search_codes(const Slots& slots, const float* query, Counted counted, Nearest& best) {
  const KeyCodes& codes = slots.codes();
  if (codes.rows() == 0) return 0;
  thread_local Room room;
  const std::size_t rows = codes.padded_rows();
  if (!make_room(room, rows) || !codes.encode(query, room.query)) return 0;
  codes.cosines(room.query, room.cosines.data());
  // The likeliest may not count: it is the query's own row, or has expired.
  std::size_t guess = 0;
  for (unsigned tries = 0;; ++tries) {
    guess = codes.likeliest(room.cosines.data());
    if (counted.counts(slots, guess)) break;
    if (tries == 8) return 0;
    room.cosines[guess] = -2.0F;
  }
  Nearest found{guess, similarity(slots, query, guess)};
  KeyCodes::Bounds bounds;
  if (!codes.bounds(room.query, found.similarity, slots.margin(), bounds)) return 0;
  const auto consider = [&](std::size_t r) {
    if (!counted.counts(slots, r)) return;
    const float s = similarity(slots, query, r);
    if (s < found.similarity || (s == found.similarity && r > found.row)) return;
    const bool is_nearer = s > found.similarity;
    found = {r, s};
    if (is_nearer) codes.bounds(room.query, s, slots.margin(), bounds);
  };
#if DPCACHE_NIBBLES
  for (std::size_t block = 0; block < rows / kernels::kBlockRows; ++block) {
    std::uint64_t left = codes.candidates(room.cosines.data(), block, bounds);
    if (left == 0) continue;
    std::array<std::uint32_t, kernels::kBlockRows> likely;
    std::size_t count = 0;
    for (; left != 0; left &= left - 1) {
      const std::size_t r =
          block * kernels::kBlockRows + static_cast<std::size_t>(std::countr_zero(left));
      if (r != guess && r < codes.rows()) likely[count++] = static_cast<std::uint32_t>(r);
    }
    count = codes.keep_candidates(room.query, std::span(likely).first(count), bounds);
    for (const std::size_t r : std::span(likely).first(count)) consider(r);
  }
#else
  for (std::size_t r = 0; r < codes.rows(); ++r) {
    if (r != guess && !(room.cosines[r] < bounds.least)) consider(r);
  }
#endif
  best = found;
  return codes.rows();
}

}  // namespace dpcache
