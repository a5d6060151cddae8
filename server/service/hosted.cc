// A cache whose changes become entries of the log.
#include "service/hosted.h"

#include <algorithm>
#include <utility>

namespace dpcache::server {

namespace {

std::optional<Encoder> encoder_of(const Config& config) {
  if (!config.encoder) return {};
  auto encoder = Encoder::from_id(*config.encoder);
  if (!encoder || encoder->config().dimension != config.dimension) return {};
  return std::move(*encoder);
}

}  // namespace

Hosted::Hosted(std::string the_id, Restored restored, PartitionLog& log, Pool& pool, Scorer* scorer,
               std::shared_ptr<std::atomic<std::uint64_t>> memory, std::function<void()> failed)
    : id(std::move(the_id)),
      name(restored.name),
      partition(partition_of_id(id)),
      dimension(restored.cache.config().dimension),
      value_dimension(restored.cache.config().value_dimension),
      encoder(encoder_of(restored.cache.config())),
      turns(pool),
      scorer_(scorer),
      log_(log),
      memory_(std::move(memory)),
      failed_(std::move(failed)) {
  replace(std::move(restored));
}

Hosted::~Hosted() {
  *memory_ -= counters.bytes;
}

bool Hosted::prepare(std::size_t slots) {
  const bool done = cache_.prepare(slots);
  count();
  return done;
}

void Hosted::replace(Restored restored) {
  cache_ = std::move(restored.cache);
  cache_.use_scorer(scorer_);
  settings_ = settings_from_json(restored.settings);
  answers_ = std::move(restored.answers);
  events_.clear();
  event_range_ = {};
  state_before_ = cache_.stats().state_hash;
  committed_ = appended = restored.position;
  snapshot = restored.snapshot;
  log_bytes = restored.log_bytes;
  {
    const std::lock_guard lock(mutex_);
    event_index_ = std::move(restored.events);
    committed_seq_ = cache_.stats().seq;
  }
  listen();
  count();
  broken_ = false;
}

void Hosted::listen() {
  cache_.on_event([this](const Event& event) {
    std::vector<std::byte> bytes;
    encode(event, bytes);
    events_.emplace_back(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    if (event_range_.first == 0) event_range_.first = event.seq;
    event_range_.last = event.seq;
  });
}

void Hosted::count() {
  const Stats stats = cache_.stats();
  counters.slots = stats.slots;
  const std::uint64_t bytes = stats.bytes + answers_.bytes();
  *memory_ += bytes;
  *memory_ -= counters.bytes.exchange(bytes);
  counters.items = stats.items;
  counters.allocations = stats.allocations;
  counters.merges = stats.merges;
  counters.evictions = stats.evictions;
  counters.folds = stats.folds;
  counters.expirations = stats.expirations;
  counters.erasures = stats.erasures;
  counters.seq = stats.seq;
}

Hosted::Closed Hosted::closed() const {
  if (removed_) return Closed::removed;
  return broken_ || log_.is_closed() ? Closed::failed : Closed::no;
}

void Hosted::commit(std::int64_t time, std::optional<Answer> answer, const Done& done,
                    std::optional<Settings> settings) {
  const Settings wanted = settings.value_or(settings_);
  const bool resets = !(wanted == settings_);
  if (events_.empty() && !answer && !resets) return done(Append::ok, "");
  Entry entry;
  entry.kind = resets ? EntryKind::settings : EntryKind::events;
  entry.cache = id;
  entry.state_before = state_before_;
  entry.time = time;
  entry.events = std::exchange(events_, {});
  entry.answer = answer;
  bool waits = settings_.durability == Durability::sync;
  if (resets) {
    settings_ = wanted;
    entry.settings = to_json(wanted);
    waits = waits || wanted.durability == Durability::sync;
  }
  Pending pending{std::exchange(event_range_, {}), 0};
  for (const std::string& event : entry.events) pending.bytes += event.size();
  state_before_ = cache_.stats().state_hash;
  count();
  Position position = 0;
  if (waits) {
    position = append(std::move(entry), pending, done);
  } else {
    position = append(std::move(entry), pending, [](Append, const std::string&) {});
    done(position > 0 ? Append::ok : Append::conflict, "the log takes no entries");
  }
  if (answer) answers_.keep(std::move(*answer), position);
}

void Hosted::begin(Entry entry, const Done& done) {
  append(std::move(entry), {}, done);
}

void Hosted::end() {
  removed_ = true;
  wake();
}

void Hosted::remove(std::int64_t time, Done done) {
  removed_ = true;
  Entry entry;
  entry.kind = EntryKind::remove;
  entry.cache = id;
  entry.state_before = state_before_;
  entry.time = time;
  append(std::move(entry), {},
         [self = shared_from_this(), done = std::move(done)](Append outcome,
                                                             const std::string& detail) {
           if (outcome != Append::ok) self->removed_ = false;
           self->wake();
           done(outcome, detail);
         });
}

Position Hosted::append(Entry entry, Pending pending, const Done& done) {
  const Position position =
      log_.append(entry, appended,
                  [self = shared_from_this(), pending, done](Append outcome, Position at,
                                                             const std::string& detail) {
                    if (outcome == Append::ok) {
                      self->committed(pending, at);
                    } else {
                      self->fail();
                    }
                    done(outcome, detail);
                  });
  if (position == 0) {
    fail();
    done(Append::conflict, "the log takes no entries");
  }
  return position;
}

void Hosted::fail() {
  if (!broken_.exchange(true)) failed_();
}

void Hosted::committed(const Pending& pending, Position position) {
  log_bytes += pending.bytes;
  {
    const std::lock_guard lock(mutex_);
    if (pending.events.first > 0) {
      event_index_.push_back({pending.events.first, pending.events.last, position});
      committed_seq_ = pending.events.last;
    }
  }
  committed_ = position;
  wake();
}

void Hosted::wake() {
  std::vector<Listener> due;
  {
    const std::lock_guard lock(mutex_);
    const auto waits = [&](const Listener& one) { return !removed_ && one.seq >= committed_seq_; };
    const auto ready = std::stable_partition(listeners_.begin(), listeners_.end(), waits);
    due.assign(std::make_move_iterator(ready), std::make_move_iterator(listeners_.end()));
    listeners_.erase(ready, listeners_.end());
  }
  for (const Listener& one : due) {
    if (const auto owner = one.owner.lock()) one.call();
  }
}

std::uint64_t Hosted::committed_seq() const {
  const std::lock_guard lock(mutex_);
  return committed_seq_;
}

std::deque<EventRange> Hosted::events_after(std::uint64_t seq, std::size_t most) const {
  const std::lock_guard lock(mutex_);
  auto at = std::upper_bound(
      event_index_.begin(), event_index_.end(), seq,
      [](std::uint64_t wanted, const EventRange& one) { return wanted < one.last; });
  std::deque<EventRange> ranges;
  for (; at != event_index_.end() && ranges.size() < most; ++at) ranges.push_back(*at);
  return ranges;
}

void Hosted::when_events(std::uint64_t seq, std::weak_ptr<const void> owner,
                         std::function<void()> call) {
  {
    const std::lock_guard lock(mutex_);
    if (!removed_ && committed_seq_ <= seq) {
      std::erase_if(listeners_, [](const Listener& one) { return one.owner.expired(); });
      listeners_.push_back({seq, std::move(owner), std::move(call)});
      return;
    }
  }
  call();
}

void Hosted::forget_events(Position upto) {
  const std::lock_guard lock(mutex_);
  while (!event_index_.empty() && event_index_.front().position <= upto) event_index_.pop_front();
}

}  // namespace dpcache::server
