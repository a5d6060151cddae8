// Growth and upload.
#include "cuda/resident.h"

#include <algorithm>
#include <utility>

namespace dpcache::cuda {

namespace {

Vectors lay_out(Places& places, std::size_t rows, std::size_t stride) noexcept {
  Vectors arrays;
  arrays.keys = places.take<float>(rows * stride);
  arrays.codes = places.take<std::int8_t>(rows * code_stride(stride));
  arrays.steps = places.take<float>(rows);
  arrays.errors = places.take<float>(rows);
  arrays.chunk_errors = places.take<float>(chunks(rows));
  arrays.stride = static_cast<std::uint32_t>(stride);
  return arrays;
}

}  // namespace

std::size_t Resident::Block::bytes_for(std::size_t rows, std::size_t stride) noexcept {
  Places places(nullptr);
  lay_out(places, rows, stride);
  return places.bytes();
}

Vectors Resident::Block::arrays() const noexcept {
  Places places(buffer.data());
  return lay_out(places, rows, stride);
}

Vectors Resident::vectors(const KeysView& view) const noexcept {
  Vectors vectors = block_.arrays();
  vectors.count = static_cast<std::uint32_t>(view.rows);
  return vectors;
}

Outcome Resident::make_room(const KeysView& view, Lane& lane, Device& device,
                            const Allocate& allocate) noexcept {
  if (view.rows <= block_.rows && view.stride == block_.stride) return {};
  const bool grows = is_there_ && view.stride == block_.stride;
  Block next;
  next.stride = view.stride;
  next.rows = rounded_up(grows ? std::max(view.rows, block_.rows + block_.rows / 2) : view.rows,
                         kChunkRows);
  Outcome outcome;
  if (grows) {
    // Old and new beside each other for a moment, so that nothing must come from the host again.
    outcome = allocate(next.buffer, Block::bytes_for(next.rows, next.stride));
    if (outcome) {
      const Vectors from = block_.arrays();
      const Vectors to = next.arrays();
      const std::size_t rows = block_.rows;
      const Stream stream = lane.stream();
      const std::size_t lengths[] = {rows * view.stride * sizeof(float),
                                     rows * code_stride(view.stride), rows * sizeof(float),
                                     rows * sizeof(float), chunks(rows) * sizeof(float)};
      const std::pair<void*, const void*> copies[] = {{to.keys, from.keys},
                                                      {to.codes, from.codes},
                                                      {to.steps, from.steps},
                                                      {to.errors, from.errors},
                                                      {to.chunk_errors, from.chunk_errors}};
      for (std::size_t i = 0; outcome && i < std::size(copies); ++i) {
        outcome = device.copy(copies[i].first, copies[i].second, lengths[i], stream);
      }
      const Outcome waited = device.wait(stream);
      if (outcome) outcome = waited;
      if (!outcome) return outcome;
      block_ = std::move(next);
      return outcome;
    }
    if (outcome.fault != Fault::no_memory) return outcome;
    next.rows = rounded_up(view.rows, kChunkRows);
  }
  release();
  outcome = allocate(next.buffer, Block::bytes_for(next.rows, next.stride));
  if (outcome) block_ = std::move(next);
  return outcome;
}

Outcome Resident::update(const KeysView& view, Lane& lane, Device& device, const Allocate& allocate,
                         Uploaded& uploaded) noexcept {
  if (is_current(view)) return {};
  // A change that nobody has named: nothing that is there can be trusted.
  if (changed_.empty() && version_ != view.version) is_there_ = false;
  Outcome outcome = make_room(view, lane, device, allocate);
  if (!outcome) return outcome;
  RowRanges changed = changed_;
  if (!is_there_) {
    changed.clear();
    changed.add(0, view.rows);
  }
  const Vectors arrays = vectors(view);
  for (auto [first, last] : changed.ranges()) {
    last = std::min(last, view.rows);
    if (first >= last) continue;
    outcome = lane.upload(arrays.keys + first * view.stride, view.keys + first * view.stride,
                          (last - first) * view.stride * sizeof(float));
    if (outcome) {
      outcome = device.encode(
          {arrays, static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(last)},
          lane.stream());
    }
    if (!outcome) return outcome;
    uploaded.rows += last - first;
  }
  // Others use it on streams of their own.
  if (lane.stream().handle != nullptr) outcome = device.wait(lane.stream());
  if (!outcome) return outcome;
  changed_.clear();
  version_ = view.version;
  is_there_ = true;
  return {};
}

}  // namespace dpcache::cuda
