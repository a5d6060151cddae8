// Making codes, and the bounds on what they tell.
#include "codes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <numeric>

#include "kernels.h"
#include "numerics.h"
#include "workers.h"

namespace dpcache {

namespace {

constexpr double kRounding = 0x1p-24;  // of one float operation
constexpr float kByteMost = 127.0F;
constexpr float kShortMost = 32767.0F;

// The sine of the angle between a vector of about unit length and its code, from above: the
// distance from a line is at most that from a point on it. What a code misses of a component has
// two roundings.
double sine_of(const kernels::Quantised& code) noexcept {
  return std::min(1.0, (std::sqrt(code.missed) + 3.0 * kRounding) * (1.0 + 0x1p-16));
}

bool is_unit(const float* key, std::size_t length) noexcept {
  return std::abs(kernels::sum_squares(key, length) - 1.0) <= kUnitError;
}

// 1 / length of a code.
float inverse_of(const kernels::Quantised& code) noexcept {
  return static_cast<float>(1.0 / std::sqrt(static_cast<double>(code.squares)));
}

void narrow(const std::vector<std::int16_t>& from, std::int8_t* to) noexcept {
  for (const std::int16_t number : from) *to++ = static_cast<std::int8_t>(number);
}

std::size_t blocks_of(std::size_t rows) noexcept {
  return (rows + kernels::kBlockRows - 1) / kernels::kBlockRows;
}

}  // namespace

#if DPCACHE_NIBBLES
KeyCodes::KeyCodes(std::size_t length) noexcept
    : length_(length), probe_(length), rotation_(length) {}
#else
KeyCodes::KeyCodes(std::size_t length) noexcept : length_(length), probe_(length) {}
#endif

void KeyCodes::Rows::resize(std::size_t rows) {
  inverse.resize(rows);
#if DPCACHE_NIBBLES
  sine.resize(rows);
#endif
}

#if DPCACHE_NIBBLES
void KeyCodes::Rows::reserve(std::size_t rows) {
  inverse.reserve(rows);
  sine.reserve(rows);
}
#endif

void KeyCodes::Rows::put(std::size_t r, const kernels::Quantised& code, double more) {
  const double angle_sine = sine_of(code) + more;
  inverse[r] = inverse_of(code);
  const float rounded = std::min(1.0F, static_cast<float>(angle_sine * (1.0 + 0x1p-22)));
  most_sine = std::max(most_sine, static_cast<double>(rounded));
#if DPCACHE_NIBBLES
  sine[r] = rounded;
#endif
}

// Makes room for one more block.
bool KeyCodes::grow([[maybe_unused]] std::size_t room) {
  const std::size_t rows = rows_ + kernels::kBlockRows;
#if DPCACHE_NIBBLES
  if (rows * length_ > bytes_.capacity()) {
    room = (std::max(room, rows) + kernels::kBlockRows - 1) / kernels::kBlockRows *
           kernels::kBlockRows;
    if (!room_for(2 * room * length_)) return false;
    bytes_.reserve(room * length_);
    nibbles_.reserve(room * length_ / 2);
    byte_rows_.reserve(room);
    nibble_rows_.reserve(room);
  }
#else
  if (rows * length_ > bytes_.capacity() && !room_for(4 * rows * length_)) return false;
#endif
  if (length_ >= codes_from.guessed_length && !probe_.reserve(rows)) return false;
  bytes_.resize(rows * length_);
  byte_rows_.resize(rows);
  shorts_.resize(length_);
#if DPCACHE_NIBBLES
  nibbles_.resize(rows * length_ / 2);
  nibble_rows_.resize(rows);
  row_.resize(length_);
  rotated_.resize(length_);
  room_.resize(length_);
  rotation_.prepare();
#endif
  return true;
}

bool KeyCodes::append(const float* key, std::size_t room) {
  if (rows_ == byte_rows_.inverse.size() && !grow(room)) return false;
  set(rows_++, key);
  probe_.link(bytes_.data(), rows_);
  return true;
}

void KeyCodes::set(std::size_t r, const float* key) {
  // The score of a key that misses unit length by a thousandth, as a file may bring it, is that of
  // a key at another angle; at most acos(1 / 1.001) away, as long as the score is above -0.5.
  const bool unit = is_unit(key, length_);
  const double more = unit ? 0.0 : 0.047;
  all_unit_ = all_unit_ && unit;
#if DPCACHE_NIBBLES
  std::copy_n(key, length_, rotated_.data());
  rotation_.rotate(rotated_.data(), room_.data());
  key = rotated_.data();
  write_nibbles(r, key, more);
#endif
  const float step = kernels::largest_magnitude(key, length_) / kByteMost;
  byte_rows_.put(r, kernels::quantise(key, length_, step, kByteMost, shorts_.data()), more);
  narrow(shorts_, bytes_.data() + r * length_);
}

#if DPCACHE_NIBBLES

// Where the first four nibbles of a row stand, in one half of four bytes; the next four stand a
// group of 128 bytes behind.
struct KeyCodes::NibblePlace {
  NibblePlace(std::size_t r, std::size_t length)
      : byte(r / kernels::kBlockRows * kernels::kBlockRows * length / 2 +
             r % kernels::kBlockRows / 32 * 64 + r % 16 * 4),
        shift(static_cast<unsigned>(r % 32 / 16 * 4)) {}
  static constexpr std::size_t kGroup = std::size_t{2} * kernels::kBlockRows;
  std::size_t byte;
  unsigned shift;
};

void KeyCodes::write_nibbles(std::size_t r, const float* key, double more) {
  // The best step of 16 even levels for a normal distribution (Max 1960), in standard deviations.
  constexpr float kNibbleStep = 0.3352F;
  constexpr float kNibbleMost = 7.5F;
  const float spread = std::sqrt(1.0F / static_cast<float>(length_));
  const float most = kernels::largest_magnitude(key, length_);
  const float step = std::min(spread * kNibbleStep, most / kNibbleMost);
  nibble_rows_.put(r, kernels::quantise(key, length_, step, row_.data()), more);
  const NibblePlace place(r, length_);
  std::uint8_t* target = nibbles_.data() + place.byte;
  for (std::size_t i = 0; i < length_; i += 4, target += NibblePlace::kGroup) {
    std::uint32_t four = 0;
    std::uint32_t there = 0;
    std::memcpy(&four, row_.data() + i, 4);
    std::memcpy(&there, target, 4);
    there = (there & (0xF0F0F0F0U >> place.shift)) | four << place.shift;
    std::memcpy(target, &there, 4);
  }
}
#endif

void KeyCodes::move(std::size_t from, std::size_t to) noexcept {
  const auto take = [&](Rows& rows) {
    rows.inverse[to] = rows.inverse[from];
#if DPCACHE_NIBBLES
    rows.sine[to] = rows.sine[from];
#endif
  };
  std::copy_n(bytes_.data() + from * length_, length_, bytes_.data() + to * length_);
  take(byte_rows_);
#if DPCACHE_NIBBLES
  take(nibble_rows_);
  const NibblePlace source(from, length_);
  const NibblePlace target(to, length_);
  std::uint8_t* nibbles = nibbles_.data();
  for (std::size_t i = 0; i < length_; i += 4, nibbles += NibblePlace::kGroup) {
    std::uint32_t four = 0;
    std::uint32_t there = 0;
    std::memcpy(&four, nibbles + source.byte, 4);
    std::memcpy(&there, nibbles + target.byte, 4);
    four = four >> source.shift & 0x0F0F0F0FU;
    there = (there & (0xF0F0F0F0U >> target.shift)) | four << target.shift;
    std::memcpy(nibbles + target.byte, &there, 4);
  }
#endif
}

void KeyCodes::truncate(std::size_t rows) noexcept {
  while (rows_ > rows) forget(--rows_);
  probe_.clear();
  probe_.link(bytes_.data(), rows_);
}

void KeyCodes::forget(std::size_t r) noexcept {
  byte_rows_.inverse[r] = 0.0F;
#if DPCACHE_NIBBLES
  nibble_rows_.inverse[r] = 0.0F;
#endif
}

std::size_t KeyCodes::bytes() const noexcept {
#if DPCACHE_NIBBLES
  return probe_.bytes() + bytes_.capacity() + nibbles_.capacity() +
         4 * byte_rows_.inverse.capacity() * sizeof(float);
#else
  return probe_.bytes() + bytes_.capacity() + byte_rows_.inverse.capacity() * sizeof(float);
#endif
}

const float* KeyCodes::rotate(const float* key, QueryCodes& query) const {
  // A slot's own key may be the query, and miss unit length.
  if (!is_unit(key, length_)) return nullptr;
  if (query.shorts.size() < length_ && !room_for(18 * length_)) return nullptr;
  query.shorts.resize(length_);
#if DPCACHE_NIBBLES
  query.rotated.assign(key, key + length_);
  query.room.resize(length_);
  rotation_.rotate(query.rotated.data(), query.room.data());
  key = query.rotated.data();
#endif
  return key;
}

bool KeyCodes::encode(const float* rotated, QueryCodes& query) const {
  const float most = kernels::largest_magnitude(rotated, length_);
  if (!(most > 0.0F)) return false;
  const auto encode_to = [&](float step, float limit, QueryCodes::Code& code) {
    const auto quantised = kernels::quantise(rotated, length_, step, limit, query.shorts.data());
    const double sine = sine_of(quantised);
    code = {inverse_of(quantised), std::sqrt(1.0 - sine * sine), sine};
    return quantised.squares > 0;
  };
#if DPCACHE_NIBBLES
  query.bytes.resize(length_);
  if (!encode_to(most / kByteMost, kByteMost, query.byte_code)) return false;
  narrow(query.shorts, query.bytes.data());
  query.byte_total = std::accumulate(query.bytes.begin(), query.bytes.end(), 0);
#endif
  // The product of the codes' lengths, and so every sum on the way to their product, is below 2^31.
  const float longest = 0x1p30F / (kByteMost * std::sqrt(static_cast<float>(length_)));
  return encode_to(std::max(most / kShortMost, 1.0F / longest), kShortMost, query.short_code);
}

std::size_t KeyCodes::likeliest(const float* cosines, std::size_t rows) const noexcept {
#if DPCACHE_NIBBLES
  const std::size_t best = kernels::largest(cosines, blocks_of(rows) * kernels::kBlockRows);
  return best < rows ? best : 0;
#else
  std::size_t best = 0;
  for (std::size_t r = 1; r < rows; ++r) {
    if (cosines[r] > cosines[best]) best = r;
  }
  return best;
#endif
}

std::size_t KeyCodes::padded_rows() const noexcept {
  return blocks_of(rows_) * kernels::kBlockRows;
}

void KeyCodes::cosines(std::span<const Look> looks) const noexcept {
#if !DPCACHE_NIBBLES
  const Look& look = looks.front();  // the only one
  kernels::byte_cosines(look.query->shorts.data(), length_, look.query->short_code.inverse,
                        bytes_.data(), padded_rows(), byte_rows_.inverse.data(), look.cosines);
#else
  std::array<kernels::ByteQuery, kMostLooks> queries;
  std::size_t count = 0;
  for (const auto& [query, cosines] : looks) {
    queries[count++] = {query->bytes.data(), query->byte_total, query->byte_code.inverse, cosines};
  }
  // So many rows and products that another thread is worth its start.
  constexpr std::size_t kBlocksAPart = 64;
  constexpr std::size_t kProducts = std::size_t{1} << 23U;
  const std::size_t blocks = blocks_of(rows_);
  const bool alone = workers() == 1 || padded_rows() * length_ * count < kProducts;
  const std::size_t step = alone ? blocks : kBlocksAPart;
  divide((blocks + step - 1) / step, [&](std::size_t part) {
    const std::size_t first = part * step;
    const std::size_t row = first * kernels::kBlockRows;
    std::array<kernels::ByteQuery, kMostLooks> own = queries;
    for (kernels::ByteQuery& query : std::span(own).first(count)) query.out += row;
    kernels::nibble_cosines(std::span(own).first(count), length_,
                            nibbles_.data() + row * length_ / 2, std::min(step, blocks - first),
                            nibble_rows_.inverse.data() + row);
  });
  for (const Look& look : looks) {
    std::fill(look.cosines + rows_, look.cosines + padded_rows(), -2.0F);
  }
#endif
}

// cos and sin of the sum of two angles; the largest angle of a row must not take the sum beyond
// half a turn, where cosines rise again.
bool KeyCodes::bound(const QueryCodes::Code& code, double cosine, const Rows& rows,
                     Bounds::Angle& out) noexcept {
  const double sine = std::sqrt((1.0 - cosine) * (1.0 + cosine));
  const double sum_cosine = cosine * code.cosine - sine * code.sine;
  const double sum_sine = sine * code.cosine + cosine * code.sine;
  out = {static_cast<float>(sum_cosine), static_cast<float>(sum_sine)};
  return sum_sine >= 0.0 && sum_cosine > -std::sqrt(1.0 - rows.most_sine * rows.most_sine) + 1e-5;
}

// The cosine that a row's code may have if its angle to its key is the largest there is. All other
// rows' are above it, as long as the sum of the angles is below half a turn.
float KeyCodes::lowest(const Bounds::Angle& angle, const Rows& rows) noexcept {
  const auto sine = static_cast<float>(rows.most_sine);
  return angle.cosine * std::sqrt(1.0F - sine * sine) - angle.sine * sine;
}

bool KeyCodes::bounds(const QueryCodes& query, float similarity, float margin,
                      Bounds& out) const noexcept {
  // What snaps to 1 is equal, so that 1 - margin is as good as 1.
  const double least =
      std::min(static_cast<double>(similarity), 1.0 - static_cast<double>(margin)) -
      score_error(margin);
  if (!(least > -0.5)) return false;
  // The roundings of a cosine and its bound.
  constexpr double kSlack = 16.0 * kRounding;
#if !DPCACHE_NIBBLES
  // The angles of all rows to their codes are small and much the same: one bound serves them all.
  Bounds::Angle sum;
  if (!bound(query.short_code, least, byte_rows_, sum)) return false;
  out.least = lowest(sum, byte_rows_) - static_cast<float>(kSlack);
  return true;
#else
  out.slack = static_cast<float>(2.0 * rotation_.error() + kSlack);  // two rotations
  if (!bound(query.byte_code, least, nibble_rows_, out.first)) return false;
  out.least = lowest(out.first, nibble_rows_) - out.slack;
  return bound(query.short_code, least, byte_rows_, out.second);
#endif
}

#if DPCACHE_NIBBLES
std::uint64_t KeyCodes::candidates(const float* cosines, std::size_t block,
                                   const Bounds& bounds) const noexcept {
  const std::size_t begin = block * kernels::kBlockRows;
  const auto& [cosine, sine] = bounds.first;
  return kernels::candidates(cosines + begin, nibble_rows_.sine.data() + begin,
                             {cosine, sine, bounds.slack, bounds.least});
}

std::size_t KeyCodes::keep_candidates(const QueryCodes& query, std::span<std::uint32_t> rows,
                                      const Bounds& bounds) const noexcept {
  std::array<float, kernels::kBlockRows> cosines;
  kernels::byte_cosines_at(query.shorts.data(), length_, query.short_code.inverse, bytes_.data(),
                           rows.data(), rows.size(), byte_rows_.inverse.data(), cosines.data());
  std::size_t kept = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const float sine = byte_rows_.sine[rows[i]];
    const float least = bounds.second.cosine * std::sqrt(1.0F - sine * sine) -
                        bounds.second.sine * sine - bounds.slack;
    if (!(cosines[i] < least)) rows[kept++] = rows[i];
  }
  return kept;
}
#endif

}  // namespace dpcache
