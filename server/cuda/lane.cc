// Copies and searches on one stream.
#include "cuda/lane.h"

#include <algorithm>
#include <cstring>

namespace dpcache::cuda {

namespace {

// Queries that are searched for at once: fewer where the first look would have too many figures, or
// the queries too many floats.
std::size_t tile_size(const Lane::Batch& batch, std::size_t queries) noexcept {
  constexpr std::size_t kFigures = std::size_t{16} << 20U;
  constexpr std::size_t kFloats = std::size_t{4} << 20U;
  const std::size_t most =
      std::min({batch.tile, kFigures / chunks(batch.rows.count), kFloats / batch.rows.stride});
  return std::clamp<std::size_t>(most, 1, queries);
}

}  // namespace

Lane::Lane(Device& device) noexcept : device_(device), halves_{Half(device), Half(device)} {}

Lane::~Lane() {
  settle();
  for (const Half& half : halves_) {
    if (half.done.handle != nullptr) device_.drop(half.done);
  }
  if (stream_.handle != nullptr) device_.drop(stream_);
}

Outcome Lane::prepare() noexcept {
  if (stream_.handle == nullptr) {
    if (const Outcome outcome = device_.make_stream(stream_); !outcome) return outcome;
  }
  for (Half& half : halves_) {
    if (half.done.handle != nullptr) continue;
    if (const Outcome outcome = device_.make_event(half.done); !outcome) return outcome;
  }
  return {};
}

Outcome Lane::free_half(Half& half) noexcept {
  if (!half.is_under_way) return {};
  half.is_under_way = false;
  return device_.wait(half.done);
}

Outcome Lane::upload(void* to, const void* from, std::size_t bytes) noexcept {
  Outcome outcome = prepare();
  for (std::size_t done = 0; outcome && done < bytes; done += kHalf) {
    Half& half = halves_[turn_ ^= 1U];
    const std::size_t size = std::min(kHalf, bytes - done);
    outcome = free_half(half);
    if (outcome) outcome = half.in.reserve(std::min(kHalf, bytes));
    if (!outcome) break;
    std::memcpy(half.in.data(), static_cast<const std::byte*>(from) + done, size);
    outcome = device_.upload(static_cast<std::byte*>(to) + done, half.in.data(), size, stream_);
    half.is_under_way = true;
    if (outcome) outcome = device_.record(half.done, stream_);
  }
  return outcome;
}

Outcome Lane::search(const Batch& batch, const Allocate& allocate) noexcept {
  const std::size_t stride = batch.rows.stride;
  const std::size_t count = batch.queries.size() / stride;
  const std::size_t tile = tile_size(batch, count);
  Outcome outcome = prepare();
  if (!outcome) return outcome;

  const SearchShape shape = {batch.rows.count, batch.rows.stride, tile, batch.k,
                             batch.skip.empty() ? 0 : (batch.rows.count + 63) / 64 * 2};
  Places sizes(nullptr);
  lay_out(sizes, shape);
  if (scratch_.bytes() < sizes.bytes()) {
    outcome = allocate(scratch_, sizes.bytes());
    if (!outcome) return outcome;
  }
  Places real(scratch_.data());
  SearchWork work = lay_out(real, shape);
  work.way = batch.rows.count * stride <= batch.scan_floats ? Way::scan : Way::codes;
  work.scan_from = batch.scan_from;
  work.rows = batch.rows;
  work.margin = batch.margin;
  if (!batch.skip.empty()) {
    outcome = upload(const_cast<std::uint32_t*>(work.skip), batch.skip.data(),
                     (batch.rows.count + 63) / 64 * sizeof(std::uint64_t));
  }

  // While a tile is on the device, the one before it is taken from its half.
  struct Under {
    std::size_t first = 0;
    std::size_t count = 0;
  };
  std::array<Under, 2> under;
  const auto take = [&](unsigned turn) {
    const Outcome waited = free_half(halves_[turn]);
    if (!waited) return waited;
    const auto* entries = reinterpret_cast<const Entry*>(halves_[turn].out.data());
    const auto [first, taken] = under[turn];
    for (std::size_t i = 0; i < taken * batch.k; ++i) {
      const Entry entry = entries[i];
      batch.out[first * batch.k + i] =
          entry.row == RowMatch::kNone ? RowMatch{} : RowMatch{entry.row, entry.score};
    }
    under[turn].count = 0;
    return waited;
  };
  for (std::size_t first = 0; outcome && first < count; first += tile) {
    turn_ ^= 1U;
    Half& half = halves_[turn_];
    outcome = take(turn_);
    const std::size_t size = std::min(tile, count - first);
    const std::size_t bytes = size * stride * sizeof(float);
    if (outcome) outcome = half.in.reserve(bytes);
    if (outcome) outcome = half.out.reserve(size * batch.k * sizeof(Entry));
    if (!outcome) break;
    std::memcpy(half.in.data(), batch.queries.data() + first * stride, bytes);
    work.queries.count = static_cast<std::uint32_t>(size);
    outcome = device_.upload(work.queries.keys, half.in.data(), bytes, stream_);
    half.is_under_way = true;
    if (outcome) outcome = device_.search(work, stream_);
    if (outcome) {
      outcome =
          device_.download(half.out.data(), work.out, size * batch.k * sizeof(Entry), stream_);
    }
    if (outcome) outcome = device_.record(half.done, stream_);
    under[turn_] = {first, size};
  }
  for (unsigned i = 0; outcome && i < 2; ++i) {
    turn_ ^= 1U;
    outcome = take(turn_);
  }
  return outcome;
}

void Lane::settle() noexcept {
  if (stream_.handle != nullptr) static_cast<void>(device_.wait(stream_));
  for (Half& half : halves_) half.is_under_way = false;
}

}  // namespace dpcache::cuda
