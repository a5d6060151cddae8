// Who has which keys on the device, who is under way, and what becomes of faults.
#include "cuda/scorer.h"

#include <algorithm>
#include <condition_variable>
#include <map>
#include <mutex>
#include <new>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

#include "cuda/buffers.h"
#include "cuda/device.h"
#include "cuda/lane.h"
#include "cuda/resident.h"

namespace dpcache::cuda {

namespace {

std::size_t limit_of(Device& device, const ScorerOptions& options) {
  std::size_t free = 0;
  const Outcome outcome = device.free_memory(free);
  if (!outcome) throw std::runtime_error(device.name() + ": " + outcome.what);
  return options.memory > 0 ? options.memory : free / 10 * 9;
}

}  // namespace

class CudaScorer::Parts {
 public:
  Parts(std::unique_ptr<Device> device, ScorerOptions options)
      : options_(std::move(options)),
        device_(std::move(device)),
        memory_(*device_, limit_of(*device_, options_)) {
    for (unsigned i = 0; i < std::max(1U, options_.batches); ++i) {
      lanes_.push_back(std::make_unique<Lane>(*device_));
      idle_.push_back(lanes_.back().get());
    }
  }

  void changed(std::uint64_t id, std::size_t first, std::size_t last) noexcept {
    const std::lock_guard lock(mutex_);
    const auto found = memories_.find(id);
    if (found != memories_.end()) found->second->keys.changed(first, last);
  }

  void forget(std::uint64_t id) noexcept {
    std::shared_ptr<Memory> gone;  // freed outside of the lock
    const std::lock_guard lock(mutex_);
    const auto found = memories_.find(id);
    if (found == memories_.end()) return;
    gone = std::move(found->second);
    memories_.erase(found);
  }

  bool search(const KeysView& view, std::span<const float> queries, std::size_t k,
              std::span<RowMatch> out) noexcept {
    const std::size_t count = view.stride == 0 ? 0 : queries.size() / view.stride;
    if (count == 0 || !takes(view, count, k)) {
      const std::lock_guard lock(mutex_);
      ++figures_.declined;
      return false;
    }
    std::shared_ptr<Memory> memory;
    Lane* lane = nullptr;
    if (!begin(view.memory, memory, lane)) return false;
    const Outcome outcome = search_on(*lane, *memory, view, queries, k, out);
    if (!outcome) lane->settle();
    end(*memory, *lane, outcome, count);
    return static_cast<bool>(outcome);
  }

  const std::string& device_name() const noexcept { return device_->name(); }

  ScorerStatistics statistics() const {
    const std::lock_guard lock(mutex_);
    ScorerStatistics figures = figures_;
    figures.last_failure = last_failure_;
    figures.memories = static_cast<std::uint64_t>(std::count_if(
        memories_.begin(), memories_.end(), [](const auto& one) { return one.second->bytes > 0; }));
    figures.bytes = memory_.used();
    return figures;
  }

 private:
  struct Memory {
    std::mutex updating;  // held while `keys` are brought up to date; mutex_ may be taken inside
    Resident keys;        // of the one who updates; changed() comes when nobody does
    // Under mutex_:
    std::size_t bytes = 0;      // on the device
    unsigned users = 0;         // batches under way
    std::uint64_t used_at = 0;  // the later, the larger
  };

  bool takes(const KeysView& view, std::size_t count, std::size_t k) const noexcept {
    const bool has_skips = view.skip.empty() || view.skip.size() * 64 >= view.rows;
    return view.rows > 0 && view.rows <= kMostRows && view.stride <= kMostStride &&
           view.stride % 16 == 0 && k >= 1 && k <= kMostTop && has_skips &&
           view.rows * count >= options_.least_scores;
  }

  // Waits for a lane. False: the device has been given up, or there is no memory for a memory.
  bool begin(std::uint64_t id, std::shared_ptr<Memory>& memory, Lane*& lane) noexcept {
    std::unique_lock lock(mutex_);
    try {
      std::shared_ptr<Memory>& known = memories_[id];
      if (known == nullptr) known = std::make_shared<Memory>();
      memory = known;
    } catch (const std::bad_alloc&) {
      memories_.erase(id);
      ++figures_.fallbacks;
      return false;
    }
    ++memory->users;  // before the wait, so that nobody takes its place meanwhile
    freed_.wait(lock, [this] { return !idle_.empty() || figures_.has_given_up; });
    if (figures_.has_given_up) {
      --memory->users;
      ++figures_.fallbacks;
      return false;
    }
    memory->used_at = ++clock_;
    lane = idle_.back();
    idle_.pop_back();
    return true;
  }

  void end(Memory& memory, Lane& lane, const Outcome& outcome, std::size_t count) noexcept {
    bool is_new = false;
    bool gives_up = false;
    {
      const std::lock_guard lock(mutex_);
      --memory.users;
      idle_.push_back(&lane);  // has room: it came from there
      if (outcome) {
        ++figures_.batches;
        figures_.queries += count;
        faults_in_a_row_ = 0;
      } else {
        ++figures_.fallbacks;
        is_new = std::string_view(last_failure_) != outcome.what;
        last_failure_ = outcome.what;
        // A device that is full serves the memories that it has.
        if (outcome.fault == Fault::failed) ++faults_in_a_row_;
        gives_up = faults_in_a_row_ >= kFaultsInARow && !figures_.has_given_up;
        if (gives_up) figures_.has_given_up = true;
      }
    }
    freed_.notify_all();
    if (is_new || gives_up) say(outcome.what, gives_up);
  }

  void say(const char* what, bool gives_up) noexcept {
    if (!options_.say) return;
    try {
      const std::string line =
          gives_up ? device_->name() + " has failed " + std::to_string(kFaultsInARow) +
                         " times in a row (" + what + "): the CPU scores until the next start"
                   : device_->name() + ": " + what + ": the CPU scores this batch";
      const std::lock_guard one_at_a_time(saying_);
      options_.say(line);
    } catch (const std::exception&) {
      // No memory for a line: the figures have it.
    }
  }

  Outcome search_on(Lane& lane, Memory& memory, const KeysView& view,
                    std::span<const float> queries, std::size_t k,
                    std::span<RowMatch> out) noexcept {
    const Allocate allocate = [this](DeviceBuffer& buffer, std::size_t bytes) {
      return make_room(buffer, bytes);
    };
    Lane::Batch batch;
    {
      const std::lock_guard updating(memory.updating);
      Resident::Uploaded uploaded;
      const Outcome outcome = memory.keys.update(view, lane, *device_, allocate, uploaded);
      batch.rows = memory.keys.vectors(view);
      const std::lock_guard lock(mutex_);
      memory.bytes = memory.keys.bytes();
      figures_.uploaded_rows += uploaded.rows;
      if (!outcome) return outcome;
    }
    batch.skip = view.skip;
    batch.queries = queries;
    batch.margin = view.margin;
    batch.k = k;
    batch.scan_floats = options_.scan_floats;
    batch.scan_from = options_.scan_from;
    batch.tile = options_.tile;
    batch.out = out;
    return lane.search(batch, allocate);
  }

  // Takes device memory; where there is too little, from the memory that was used longest ago and
  // is not in use.
  Outcome make_room(DeviceBuffer& buffer, std::size_t bytes) noexcept {
    for (;;) {
      const Outcome outcome = buffer.allocate(memory_, bytes);
      if (outcome.fault != Fault::no_memory) return outcome;
      const std::lock_guard lock(mutex_);
      Memory* longest = nullptr;
      for (const auto& [id, memory] : memories_) {
        const bool is_idle = memory->users == 0 && memory->bytes > 0;
        if (is_idle && (longest == nullptr || memory->used_at < longest->used_at)) {
          longest = memory.get();
        }
      }
      if (longest == nullptr) return outcome;
      longest->keys.release();
      longest->bytes = 0;
      ++figures_.displaced;
    }
  }

  const ScorerOptions options_;
  const std::unique_ptr<Device> device_;
  DeviceMemory memory_;
  std::vector<std::unique_ptr<Lane>> lanes_;

  mutable std::mutex mutex_;
  std::condition_variable freed_;
  std::vector<Lane*> idle_;
  std::map<std::uint64_t, std::shared_ptr<Memory>> memories_;
  std::uint64_t clock_ = 0;
  unsigned faults_in_a_row_ = 0;
  const char* last_failure_ = "";
  ScorerStatistics figures_;
  std::mutex saying_;
};

CudaScorer::CudaScorer(std::unique_ptr<Device> device, ScorerOptions options)
    : parts_(std::make_unique<Parts>(std::move(device), std::move(options))) {}

CudaScorer::~CudaScorer() = default;

void CudaScorer::changed(std::uint64_t memory, std::size_t first, std::size_t last) noexcept {
  parts_->changed(memory, first, last);
}

void CudaScorer::forget(std::uint64_t memory) noexcept {
  parts_->forget(memory);
}

bool CudaScorer::nearest(const KeysView& view, std::span<const float> queries,
                         std::span<RowMatch> out) noexcept {
  return parts_->search(view, queries, 1, out);
}

bool CudaScorer::top(const KeysView& view, std::span<const float> queries, std::size_t k,
                     std::span<RowMatch> out) noexcept {
  return parts_->search(view, queries, k, out);
}

const std::string& CudaScorer::device_name() const noexcept {
  return parts_->device_name();
}

ScorerStatistics CudaScorer::statistics() const {
  return parts_->statistics();
}

}  // namespace dpcache::cuda
