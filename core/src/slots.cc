// The arrays of slots, and every way in which a slot changes.
#include "slots.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <utility>

#include "kernels.h"

namespace dpcache {

namespace {

// A value moved by `rate` of the way to `target`. In double, where the way between the largest
// floats of both signs is finite; rounded once.
float moved(float value, float target, float rate) noexcept {
  const double way = static_cast<double>(target) - static_cast<double>(value);
  const double step = static_cast<double>(rate) * way;
  return static_cast<float>(static_cast<double>(value) + step);
}

// Moves the elements of the rows that live to the front, `width` elements a row.
template <class Vector>
void compact(Vector& array, std::size_t width, const std::vector<Row>& rows) {
  std::size_t to = 0;
  for (std::size_t from = 0; from < rows.size(); ++from) {
    if (!rows[from].alive) continue;
    if (to != from) {
      std::move(array.begin() + static_cast<std::ptrdiff_t>(from * width),
                array.begin() + static_cast<std::ptrdiff_t>((from + 1) * width),
                array.begin() + static_cast<std::ptrdiff_t>(to * width));
    }
    ++to;
  }
  array.resize(to * width);
}

// Appends a row of `width` numbers; zeros follow what there is.
template <class Vector, class T>
void append(Vector& array, std::span<const T> row, std::size_t width) {
#if defined(__EMSCRIPTEN__)  // a hundred bytes less
  const std::size_t begin = array.size();
  array.resize(begin + width);
  std::copy(row.begin(), row.end(), array.begin() + static_cast<std::ptrdiff_t>(begin));
#else  // writes each number once
  const std::size_t end = array.size() + width;
  array.insert(array.end(), row.begin(), row.end());
  array.resize(end);
#endif
}

}  // namespace

std::int64_t expiry_of(const Config& config, const Item& item) noexcept {
  const std::optional<std::int64_t> ttl = item.ttl_ms ? item.ttl_ms : config.ttl_ms;
  // A slot that would outlive the last time there is never goes.
  return ttl && *ttl <= kMaxInteger - item.time ? item.time + *ttl : kNever;
}

Slots::Slots(const Config& config)
    : dimension_(config.dimension),
      stride_(padded(config.dimension)),
      value_dimension_(config.value_dimension),
      value_stride_(padded(config.value_dimension)),
      margin_(snap_margin(stride_)),
      has_key_sums_(config.keep_sums || config.key_update == KeyUpdate::centroid),
      has_value_sums_(config.value_update == ValueUpdate::mean && config.value_dimension > 0),
      codes_(stride_),
      keys_stay_(config.key_update == KeyUpdate::frozen) {}

std::size_t Slots::first_after(SlotId id) const noexcept {
  const auto at = std::upper_bound(rows_.begin(), rows_.end(), id,
                                   [](SlotId wanted, const Row& row) { return wanted < row.id; });
  return static_cast<std::size_t>(at - rows_.begin());
}

std::size_t Slots::find(SlotId id) const noexcept {
  const std::size_t next = first_after(id);
  if (next == 0 || rows_[next - 1].id != id || !rows_[next - 1].alive) return kNoRow;
  return next - 1;
}

std::size_t Slots::find_exact(std::string_view exact_key) const {
  const auto at = exact_.find(exact_key);
  return at == exact_.end() ? kNoRow : find(at->second);
}

bool Slots::reserve(std::size_t count) {
  const std::size_t needed = rows_.size() + count;
  if (needed <= rows_.capacity()) return true;
  const std::size_t row_bytes = sizeof(Row) + sizeof(std::string) +
                                sizeof(std::vector<std::string>) + stride_ * sizeof(float) +
                                value_stride_ * sizeof(float) +
                                (has_key_sums_ ? stride_ * sizeof(double) : 0) +
                                (has_value_sums_ ? value_dimension_ * sizeof(double) : 0);
  constexpr std::size_t kLimit = std::numeric_limits<std::ptrdiff_t>::max();
  if (needed < count || needed > kLimit / row_bytes) return false;
  std::size_t capacity = std::max<std::size_t>(needed, 16);
  if (capacity < rows_.capacity() * 2 && rows_.capacity() * 2 <= kLimit / row_bytes) {
    capacity = rows_.capacity() * 2;
  }
  if (!room_for(capacity * row_bytes)) {
    capacity = needed;
    if (!room_for(capacity * row_bytes)) return false;
  }
  keys_.reserve(capacity * stride_);
  values_.reserve(capacity * value_stride_);
  if (has_key_sums_) key_sums_.reserve(capacity * stride_);
  if (has_value_sums_) value_sums_.reserve(capacity * value_dimension_);
  payloads_.reserve(capacity);
  exact_keys_.reserve(capacity);
  rows_.reserve(capacity);  // last: its capacity stands for all
  return true;
}

void Slots::grow_weight(const Config& config) noexcept {
  if (config.usage_decay == 1.0F) return;
  growth_ = growth_.times(1.0 / static_cast<double>(config.usage_decay));
}

void Slots::open(const Config& config, SlotId id, std::span<const float> key, const Item& item,
                 float closest) {
  Row row;
  row.id = id;
  if (closest == kUnknown) {
    forget_closest();
  } else {
    row.closest = note(closest);
    closest_opened_ = std::max(closest_opened_, closest);
  }
  row.usage = growth_;
  row.count = 1;
  row.first_time = item.time;
  row.last_time = item.time;
  row.expires = expiry_of(config, item);

  rows_.push_back(row);
  append(keys_, key, stride_);
  append(values_, item.value, value_stride_);
  if (has_key_sums_) append(key_sums_, key, stride_);
  if (has_value_sums_) append(value_sums_, item.value, value_dimension_);
  payloads_.emplace_back(item.payload);
  exact_keys_.emplace_back();
  ++live_;
  text_bytes_ += item.payload.size();
  next_expiry_ = std::min(next_expiry_, row.expires);
  if (item.exact_key) add_exact_key(rows_.size() - 1, *item.exact_key);
  key_changed(rows_.size() - 1);
}

#if DPCACHE_NIBBLES
void Slots::watch(Scorer* scorer) {
  watch_.reset();
  if (scorer != nullptr) watch_ = std::make_unique<KeyWatch>(*scorer, rows());
}
#endif

void Slots::key_changed([[maybe_unused]] std::size_t r) noexcept {
#if DPCACHE_NIBBLES
  if (watch_) watch_->changed(r, r + 1);
#endif
}

void Slots::merge(const Config& config, std::size_t r, std::span<const float> key,
                  const Item& item) {
  Row& row = rows_[r];
  row.usage = row.usage.plus(growth_);
  ++row.count;
  row.last_time = std::max(row.last_time, item.time);
  if (has_key_sums_) {
    double* sum = key_sums_.data() + r * stride_;
    for (std::size_t i = 0; i < stride_; ++i) sum[i] += static_cast<double>(key[i]);
    if (config.key_update == KeyUpdate::centroid) center(r);
  }
  take_value(config, r, item);
  if (item.exact_key) add_exact_key(r, *item.exact_key);
}

// The value and payload policies, for one more item. `row.count` counts the item already.
void Slots::take_value(const Config& config, std::size_t r, const Item& item) {
  float* value = values_.data() + r * value_stride_;
  switch (config.value_update) {
    case ValueUpdate::first:
      break;
    case ValueUpdate::last:
      std::copy(item.value.begin(), item.value.end(), value);
      break;
    case ValueUpdate::mean: {
      double* sum = value_sums_.data() + r * value_dimension_;
      const auto count = static_cast<double>(rows_[r].count);
      for (std::size_t i = 0; i < value_dimension_; ++i) {
        sum[i] += static_cast<double>(item.value[i]);
        value[i] = static_cast<float>(sum[i] / count);
      }
      break;
    }
    case ValueUpdate::ema:
      for (std::size_t i = 0; i < value_dimension_; ++i) {
        value[i] = moved(value[i], item.value[i], config.ema);
      }
      break;
  }
  const bool keep_old = config.value_update == ValueUpdate::first && !payloads_[r].empty();
  if (!item.payload.empty() && !keep_old) {
    text_bytes_ += item.payload.size();
    text_bytes_ -= payloads_[r].size();
    payloads_[r].assign(item.payload);
  }
}

// The key becomes the direction of the sum; a sum without direction leaves the key as it is.
void Slots::center(std::size_t r) noexcept {
  const double* sum = key_sums_.data() + r * stride_;
  const double squares = kernels::sum_squares(sum, stride_);
  if (!(squares > 0.0)) return;
  float* key = keys_.data() + r * stride_;
  kernels::divide(sum, std::sqrt(squares), stride_, key);
  key_moved(r);
}

// For all that remembers keys: this one is another now.
void Slots::key_moved(std::size_t r) noexcept {
  forget_closest();
  if (r < codes_.rows()) codes_.set(r, keys_.data() + r * stride_);
#if DPCACHE_NIBBLES
  key_changed(r);
  moves_.rows[moves_.counts.keys++ % moves_.rows.size()] = static_cast<std::uint32_t>(r);
#endif
}

// Above kUnknown: nothing is known, but the row was met.
constexpr float kMet = 3.0F;

std::uint64_t Slots::note(float closest) const noexcept {
  return std::uint64_t{known_since_} << 32U | std::bit_cast<std::uint32_t>(closest);
}

void Slots::forget_closest() noexcept {
  closest_opened_ = -1.0F;
  if (++known_since_ != 0) return;
  for (const Row& row : rows_) row.closest = 0;
  known_since_ = 1;
}

float Slots::closest(std::size_t r) const noexcept {
#if DPCACHE_NIBBLES
  const std::uint64_t noted = std::atomic_ref(rows_[r].closest).load(std::memory_order_relaxed);
#else  // one thread
  const std::uint64_t noted = rows_[r].closest;
#endif
  const bool holds = noted >> 32U == known_since_ && keys_stay_ && codes_.rows() == rows_.size() &&
                     codes_.all_unit();
  if (!holds) return kUnknown;
  return std::max(std::bit_cast<float>(static_cast<std::uint32_t>(noted)), closest_opened_);
}

bool Slots::meet(std::size_t r, float similarity) const noexcept {
  // Two slots are hardly ever more than a right angle apart: nothing beyond half of it is proved.
  constexpr float kHalfAngle = 0.7F;
  if (similarity < kHalfAngle || codes_.rows() != rows_.size() || !keys_stay_) return false;
  if (closest(r) == kMet) return true;
  if (closest(r) == kUnknown) learn_closest(r, kMet);
  return false;
}

void Slots::learn_closest(std::size_t r, float similarity) const noexcept {
#if DPCACHE_NIBBLES
  std::atomic_ref(rows_[r].closest).store(note(similarity), std::memory_order_relaxed);
#else
  rows_[r].closest = note(similarity);
#endif
}

bool Slots::prepare(std::size_t count) {
  if (stride_ < codes_from.length || rows() * stride_ < codes_from.floats) return true;
  for (; count > 0 && codes_.rows() < rows(); --count) {
    if (!codes_.append(keys_.data() + codes_.rows() * stride_, rows_.capacity())) return true;
  }
  return codes_.rows() == rows();
}

bool Slots::add_exact_key(std::size_t r, std::string_view exact_key) {
  if (exact_.contains(exact_key)) return false;
  exact_.emplace(exact_key, rows_[r].id);
  exact_keys_[r].emplace_back(exact_key);
  text_bytes_ += 2 * exact_key.size();
  return true;
}

void Slots::fold(const Config& config, std::size_t from, std::size_t into, FoldKey fold_key) {
  if (has_key_sums_) {
    const double* add = key_sums_.data() + from * stride_;
    double* sum = key_sums_.data() + into * stride_;
    for (std::size_t i = 0; i < stride_; ++i) sum[i] += add[i];
    if (fold_key == FoldKey::centroid || config.key_update == KeyUpdate::centroid) center(into);
  }
  fold_value(config, from, into);

  Row& row = rows_[into];
  const Row& gone = rows_[from];
  row.usage = row.usage.plus(gone.usage);
  row.count += gone.count;
  row.first_time = std::min(row.first_time, gone.first_time);
  row.last_time = std::max(row.last_time, gone.last_time);
  row.expires = std::min(row.expires, gone.expires);
  next_expiry_ = std::min(next_expiry_, row.expires);

  for (std::string& exact_key : exact_keys_[from]) {
    exact_.find(exact_key)->second = row.id;
    exact_keys_[into].push_back(std::move(exact_key));
  }
  exact_keys_[from].clear();
  remove(from);
}

// Two slots' values become one, as if the items of the earlier had come first. Which slot is
// earlier is told by the times, and by the ids where those are equal.
void Slots::fold_value(const Config& config, std::size_t from, std::size_t into) {
  const Row& a = rows_[from];
  const Row& b = rows_[into];
  const bool from_is_first = std::pair(a.first_time, a.id) < std::pair(b.first_time, b.id);
  const bool from_is_last = std::pair(a.last_time, a.id) > std::pair(b.last_time, b.id);

  const float* other = values_.data() + from * value_stride_;
  float* value = values_.data() + into * value_stride_;
  switch (config.value_update) {
    case ValueUpdate::first:
      if (from_is_first) std::copy_n(other, value_dimension_, value);
      break;
    case ValueUpdate::last:
      if (from_is_last) std::copy_n(other, value_dimension_, value);
      break;
    case ValueUpdate::mean: {
      const auto count = static_cast<double>(a.count + b.count);
      for (std::size_t i = 0; i < value_dimension_; ++i) {
        double& sum = value_sums_[into * value_dimension_ + i];
        sum += value_sums_[from * value_dimension_ + i];
        value[i] = static_cast<float>(sum / count);
      }
      break;
    }
    case ValueUpdate::ema:
      for (std::size_t i = 0; i < value_dimension_; ++i) {
        value[i] = from_is_last ? moved(value[i], other[i], config.ema)
                                : moved(other[i], value[i], config.ema);
      }
      break;
  }
  const bool take = config.value_update == ValueUpdate::first ? from_is_first : from_is_last;
  if (!payloads_[from].empty() && (take || payloads_[into].empty())) {
    std::swap(payloads_[into], payloads_[from]);
  }
}

#if DPCACHE_TRUST
void Slots::rebuild(const Config& config, std::size_t r, std::span<const Absorbed> items,
                    FoldKey fold_key) {
  for (const std::string& exact_key : exact_keys_[r]) {
    exact_.erase(exact_.find(exact_key));
    text_bytes_ -= 2 * exact_key.size();
  }
  exact_keys_[r].clear();

  const Absorbed& first = items.front();
  const auto at = static_cast<std::ptrdiff_t>(r);
  const auto begin = [at](auto& array, std::size_t width) {
    return array.begin() + at * static_cast<std::ptrdiff_t>(width);
  };
  rows_[r].count = 1;  // the mean of values divides by it; recount() says the rest
  std::copy(first.item.key.begin(), first.item.key.end(), begin(keys_, stride_));
  std::copy(first.item.value.begin(), first.item.value.end(), begin(values_, value_stride_));
  if (has_key_sums_) {
    std::copy(first.item.key.begin(), first.item.key.end(), begin(key_sums_, stride_));
  }
  if (has_value_sums_) {
    std::copy(first.item.value.begin(), first.item.value.end(),
              begin(value_sums_, value_dimension_));
  }
  text_bytes_ += first.item.payload.size();
  text_bytes_ -= payloads_[r].size();
  payloads_[r].assign(first.item.payload);
  if (first.item.exact_key) add_exact_key(r, *first.item.exact_key);
  key_moved(r);

  for (const Absorbed& absorbed : items.subspan(1)) {
    merge(config, r, absorbed.item.key, absorbed.item);
  }
  if (fold_key == FoldKey::centroid && has_key_sums_ && config.key_update == KeyUpdate::frozen) {
    center(r);
  }
  recount(r, items);
}

void Slots::open_late(const Config& config, SlotId id, const Absorbed& absorbed) {
  const WideNumber growth = std::exchange(growth_, absorbed.weight);
  open(config, id, absorbed.item.key, absorbed.item, kUnknown);
  growth_ = growth;
  rows_.back().expires = absorbed.expires;
  next_expiry_ = std::min(next_expiry_, absorbed.expires);
}

// The times are those of the slots that the items opened, as when slots are folded.
void Slots::recount(std::size_t r, std::span<const Absorbed> items) noexcept {
  Row& row = rows_[r];
  row.count = items.size();
  row.usage = items.front().weight;
  row.last_time = items.front().item.time;
  for (const Absorbed& absorbed : items.subspan(1)) {
    row.usage = row.usage.plus(absorbed.weight);
    row.last_time = std::max(row.last_time, absorbed.item.time);
  }
  const Absorbed* opener = nullptr;
  row.first_time = items.front().item.time;
  row.expires = items.front().expires;
  for (const Absorbed& absorbed : items) {
    if (!absorbed.opened) continue;
    row.first_time =
        opener == nullptr ? absorbed.item.time : std::min(row.first_time, absorbed.item.time);
    row.expires = opener == nullptr ? absorbed.expires : std::min(row.expires, absorbed.expires);
    opener = &absorbed;
  }
  next_expiry_ = std::min(next_expiry_, row.expires);
}
#endif

void Slots::remove(std::size_t r) noexcept {
  rows_[r].alive = false;
  if (r < codes_.rows()) codes_.forget(r);
  --live_;
  for (const std::string& exact_key : exact_keys_[r]) {
    exact_.erase(exact_.find(exact_key));
    text_bytes_ -= 2 * exact_key.size();
  }
  exact_keys_[r] = {};
  text_bytes_ -= payloads_[r].size();
  payloads_[r] = {};
}

void Slots::tidy() noexcept {
  const std::size_t marked = rows_.size() - live_;
  if (marked == 0 || (live_ != 0 && marked < 16) || marked * 8 < live_) return;
#if DPCACHE_NIBBLES
  ++moves_.counts.numbers;
#endif
  std::size_t coded = 0;
  for (std::size_t r = 0; r < codes_.rows(); ++r) {
    if (!rows_[r].alive) continue;
    if (coded != r) codes_.move(r, coded);
    ++coded;
  }
  codes_.truncate(coded);
  compact(keys_, stride_, rows_);
  compact(values_, value_stride_, rows_);
  if (has_key_sums_) compact(key_sums_, stride_, rows_);
  if (has_value_sums_) compact(value_sums_, value_dimension_, rows_);
  compact(payloads_, 1, rows_);
  compact(exact_keys_, 1, rows_);
  std::erase_if(rows_, [](const Row& row) { return !row.alive; });
#if DPCACHE_NIBBLES
  if (watch_) watch_->changed(0, rows_.size());
#endif
}

void Slots::refresh_expiry() noexcept {
  next_expiry_ = kNever;
  for (const Row& row : rows_) {
    if (row.alive) next_expiry_ = std::min(next_expiry_, row.expires);
  }
}

void Slots::restore(const Stored& stored) {
  rows_.push_back(stored.row);
  forget_closest();
  append(keys_, stored.key, stride_);
  append(values_, stored.value, value_stride_);
  if (has_key_sums_) append(key_sums_, stored.key_sum, stride_);
  if (has_value_sums_) append(value_sums_, stored.value_sum, value_dimension_);
  payloads_.emplace_back(stored.payload);
  exact_keys_.emplace_back();
  ++live_;
  text_bytes_ += stored.payload.size();
  next_expiry_ = std::min(next_expiry_, stored.row.expires);
}

std::size_t Slots::bytes() const noexcept {
  return rows_.capacity() * (sizeof(Row) + sizeof(std::string) + sizeof(std::vector<std::string>)) +
         keys_.capacity() * sizeof(float) + values_.capacity() * sizeof(float) +
         key_sums_.capacity() * sizeof(double) + value_sums_.capacity() * sizeof(double) +
         codes_.bytes() + text_bytes_;
}

}  // namespace dpcache
