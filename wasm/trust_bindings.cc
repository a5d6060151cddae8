// The memory's calls, and those for merges one can trust: bindings.cc once more, with a library
// that has dpcache/trust.h in it. Items bring id, text and scope too, and decisions say more.
#include "bindings.cc"

namespace dpcache::wasm {
namespace {

void write_guards(Reply& out, GuardSet guards) {
  out.number(static_cast<double>(guards.bits()));
}

void write_match(const std::optional<Match>& match) {
  reply.number(match ? static_cast<double>(match->slot) : kNone);
  reply.number(match ? static_cast<double>(match->similarity) : kNone);
}

// What the decision has beside what bindings.cc writes.
void write_doubts(const Decision& decision) {
  reply.number(decision.uncertain ? 1.0 : 0.0);
  reply.number(decision.verdict ? static_cast<double>(*decision.verdict) : kNone);
  write_guards(reply, decision.guarded);
}

Status read_trusted(const Memory& memory, std::vector<float>& own, Item& item) {
  Status status = read_item(memory, own, item);
  item.id = request.bytes();
  item.text = request.bytes();
  item.scope = request.bytes();
  return status;
}

Address observe_trusted(std::uint32_t handle) {
  begin();
  Memory& memory = memories.at(handle);
  const auto count = static_cast<std::size_t>(request.number());
  std::vector<Item> items(count);
  std::vector<std::vector<float>> own(count);
  std::vector<Status> texts(count);  // what is wrong with them; their items have no key then
  for (std::size_t i = 0; i < count; ++i) texts[i] = read_trusted(memory, own[i], items[i]);
  BatchResult result = memory.cache.observe_batch(items);
  for (Status& error : result.errors) {
    Status& text = texts[error.index];
    if (text) continue;
    text.index = error.index;
    error = text;
  }
  if (!result) return refuse(result.errors);
  accept();
  for (const Decision& decision : result.decisions) {
    write(reply, decision);
    write_doubts(decision);
  }
  return answer();
}

Address lookup(std::uint32_t handle) {
  begin();
  const Memory& memory = memories.at(handle);
  static std::vector<float> own;
  std::span<const float> key;
  if (Status status = read_key(memory, own, key); !status) return refuse(status);
  LookupOptions options;
  options.time = request.time();
  options.encoder = request.bytes();
  options.exact_key = request.maybe_bytes();
  options.text = request.bytes();
  options.scope = request.bytes();
  const auto found = memory.cache.lookup(key, options);
  if (!found) return refuse(found.status);
  accept();
  reply.number(static_cast<double>(found->found));
  write_match(found->slot);
  write_match(found->other);
  reply.number(found->novelty);
  reply.number(found->tau_merge);
  reply.number(found->threshold);
  write_guards(reply, found->guarded);
  reply.count(found->reasons.size());
  for (const Reason reason : found->reasons) reply.number(static_cast<double>(reason));
  return answer();
}

Address members(std::uint32_t handle) {
  begin();
  const auto list = memories.at(handle).cache.members(request.whole(kMaxInteger));
  if (!list) return refuse(list.status);
  accept();
  reply.count(list->size());
  for (const Member& member : *list) {
    reply.count(member.seq);
    reply.bytes(member.id);
    reply.time(member.time);
    reply.number(member.opened ? 1.0 : 0.0);
    reply.number(member.similarity);
    reply.number(member.threshold);
    reply.number(member.gate);
    write_guards(reply, member.guarded);
    reply.number(member.kept ? 1.0 : 0.0);
    reply.floats(member.key);
    reply.floats(member.value);
    reply.bytes(member.payload);
    reply.maybe_bytes(member.exact_key);
    reply.bytes(member.text);
    reply.bytes(member.scope);
  }
  return answer();
}

// The member's number, the time, and with a leading 1 its item.
Address split(std::uint32_t handle) {
  begin();
  Memory& memory = memories.at(handle);
  const SlotId slot = request.whole(kMaxInteger);
  const std::uint64_t member = request.whole(kMaxInteger);
  SplitOptions options;
  options.time = *request.time();
  static std::vector<float> own;
  Item item;
  if (request.number() != 0.0) {
    if (Status status = read_trusted(memory, own, item); !status) return refuse(status);
    options.item = &item;
  }
  const auto opened = memory.cache.split(slot, member, options);
  if (!opened) return refuse(opened.status);
  accept();
  reply.count(*opened);
  return answer();
}

// The text that a slot keeps for the guards.
Address slot_text(std::uint32_t handle) {
  begin();
  const auto slot = memories.at(handle).cache.slot(request.whole(kMaxInteger));
  if (!slot) return refuse(slot.status);
  accept();
  reply.bytes(slot->text);
  return answer();
}

template <class Call>
Address change_pair(Call call) {
  begin();
  const SlotId slot = request.whole(kMaxInteger);
  const SlotId other = request.whole(kMaxInteger);
  const Status status = call(slot, other, *request.time());
  return status ? done() : refuse(status);
}

Address must_not_merge(std::uint32_t handle) {
  return change_pair([&](SlotId slot, SlotId other, std::int64_t time) {
    return memories.at(handle).cache.must_not_merge(slot, other, time);
  });
}

Address must_merge(std::uint32_t handle) {
  return change_pair([&](SlotId slot, SlotId other, std::int64_t time) {
    return memories.at(handle).cache.must_merge(slot, other, time);
  });
}

Address review(std::uint32_t handle) {
  return change_pair([&](SlotId slot, SlotId other, std::int64_t time) {
    const auto verdict = static_cast<Judgement>(request.whole(2));
    return memories.at(handle).cache.review(slot, other, verdict, time);
  });
}

Address pairs(std::uint32_t handle) {
  begin();
  const Cache& cache = memories.at(handle).cache;
  const std::vector<Review> reviews = cache.reviews();
  const std::vector<Apart> apart = cache.apart();
  accept();
  reply.count(reviews.size());
  for (const Review& one : reviews) {
    reply.count(one.slot);
    reply.count(one.other);
    reply.number(one.similarity);
  }
  reply.count(apart.size());
  for (const Apart& one : apart) {
    reply.count(one.slot);
    reply.count(one.other);
  }
  return answer();
}

EMSCRIPTEN_BINDINGS(dpcache_trust) {
  using emscripten::function;
  function("observeTrusted", &observe_trusted);
  function("lookup", &lookup);
  function("members", &members);
  function("split", &split);
  function("slotText", &slot_text);
  function("mustNotMerge", &must_not_merge);
  function("mustMerge", &must_merge);
  function("review", &review);
  function("pairs", &pairs);
}

}  // namespace
}  // namespace dpcache::wasm

#include "advise_bindings.cc"
