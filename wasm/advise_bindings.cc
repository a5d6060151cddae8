// Advice on tau for JavaScript: a part of trust_bindings.cc, in the form of bindings.cc. It stands
// there because the cache that is tried, and what guards see in texts, are in that module.
#include "dpcache/advise.h"

namespace dpcache::wasm {
namespace {

Table<Advisor> advisors;

Address create_advisor(std::uint32_t /*handle*/) {
  begin();
  AdvisorOptions options;
  options.dimension = static_cast<std::uint32_t>(request.whole(UINT32_MAX - 1));
  options.sample = static_cast<std::size_t>(request.whole(UINT32_MAX - 1));
  options.seed = request.whole(kMaxInteger);
  options.max_false_merge = request.number();
  options.confidence = request.number();
  const auto taus = static_cast<std::size_t>(request.number());
  for (std::size_t i = 0; i < taus; ++i)
    options.taus.push_back(static_cast<float>(request.number()));
  Result<Advisor> advisor = Advisor::create(options);
  if (!advisor) return refuse(advisor.status);
  accept();
  reply.count(advisors.add(std::make_unique<Advisor>(std::move(*advisor))));
  return answer();
}

// A text that guards are to see; empty: none.
GuardFacts read_facts() {
  const std::string_view text = request.bytes();
  return text.empty() ? GuardFacts() : guard_facts(text);
}

// Their number; of each its label or none, its key and its text.
Address add_items(std::uint32_t handle) {
  begin();
  Advisor& advisor = advisors.at(handle);
  const auto count = static_cast<std::size_t>(request.number());
  std::vector<Status> errors;
  for (std::size_t i = 0; i < count; ++i) {
    const double label = request.number();
    const std::span<const float> key = request.floats();
    GuardFacts facts = read_facts();
    const auto known =
        label >= 0.0 ? std::optional(static_cast<std::uint64_t>(label)) : std::nullopt;
    Status status = advisor.add(key, known, std::move(facts));
    if (status) continue;
    status.index = i;
    errors.push_back(std::move(status));
  }
  return errors.empty() ? done() : refuse(errors);
}

// Their number; of each whether it is the same, its novelty (0) or two vectors (1), and two texts.
Address add_pairs(std::uint32_t handle) {
  begin();
  Advisor& advisor = advisors.at(handle);
  const auto count = static_cast<std::size_t>(request.number());
  std::vector<Status> errors;
  for (std::size_t i = 0; i < count; ++i) {
    Judged judged;
    judged.verdict = request.number() != 0.0 ? Verdict::same : Verdict::different;
    Status status;
    if (request.number() == 0.0) {
      judged.novelty = static_cast<float>(request.number());
    } else {
      const std::span<const float> a = request.floats();
      const std::span<const float> b = request.floats();
      const Result<float> novelty = novelty_between(a, b);
      status = novelty.status;
      if (novelty) judged.novelty = *novelty;
    }
    const GuardFacts a = read_facts();
    const GuardFacts b = read_facts();
    if (status) status = advisor.add_pair(judged, guards_between(a, b));
    if (status) continue;
    status.index = i;
    errors.push_back(std::move(status));
  }
  return errors.empty() ? done() : refuse(errors);
}

void write(const Valley& valley) {
  const double cells[] = {valley.tau,    valley.low,     valley.high,
                          valley.nearer, valley.farther, valley.depth,
                          valley.chance, valley.again,   valley.of_repeats ? 1.0 : 0.0};
  reply.numbers(cells);
}

void write(const TauTried& tried) {
  reply.number(tried.tau);
  reply.number(tried.wrong_bound);
  for (const std::uint64_t count :
       {tried.slots, tried.merged, tried.largest, tried.wrong, tried.guarded,
        tried.different_merged, tried.same_apart, tried.different_guarded, tried.same_guarded}) {
    reply.count(count);
  }
}

Address advise(std::uint32_t handle) {
  begin();
  const Result<std::optional<Advice>> result = advisors.at(handle).advise();
  if (!result) return refuse(result.status);
  const Advice& advice = **result;  // nobody stops it
  accept();
  for (const std::uint64_t count : {advice.seen, advice.sampled, advice.repeats, advice.labelled,
                                    advice.with_facts, advice.same, advice.different}) {
    reply.count(count);
  }
  reply.count(advice.histogram.size());
  for (const std::uint64_t count : advice.histogram) reply.count(count);
  reply.count(advice.valleys.size());
  for (const Valley& valley : advice.valleys) write(valley);
  reply.maybe(advice.tau);
  reply.number(static_cast<double>(advice.evidence));
  reply.bytes(advice.reason);
  reply.maybe(advice.wrong_share);
  reply.number(advice.bounded ? 1.0 : 0.0);
  reply.count(advice.tried.size());
  for (const TauTried& tried : advice.tried) write(tried);
  reply.count(advice.opposites.size());
  for (const std::uint64_t pair : advice.opposites) reply.count(pair);
  reply.count(advice.warnings.size());
  for (const std::string& warning : advice.warnings) reply.bytes(warning);
  return answer();
}

void free_advisor(std::uint32_t handle) {
  advisors.remove(handle);
}

EMSCRIPTEN_BINDINGS(dpcache_advise) {
  using emscripten::function;
  function("createAdvisor", &create_advisor);
  function("adviseItems", &add_items);
  function("advisePairs", &add_pairs);
  function("advise", &advise);
  function("freeAdvisor", &free_advisor);
}

}  // namespace
}  // namespace dpcache::wasm
