// The shared vectors with every nearest slot and every list found by a scorer: what it finds must
// be what the vectors' decisions and answers say.
#ifndef DPCACHE_TESTS_CUDA_SCORED_MACHINE_H_
#define DPCACHE_TESTS_CUDA_SCORED_MACHINE_H_

#include <algorithm>
#include <bit>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "aligned.h"
#include "cuda/scorer.h"
#include "numerics.h"
#include "vector_runner.h"

namespace dpcache::cuda {

using vectors::Json;

// A cache beside a scorer, which gets its keys and is asked whatever the cache is asked.
class ScoredMachine {
 public:
  ScoredMachine(const Config& config, CudaScorer& scorer, std::uint64_t memory)
      : machine_(config), stride_(padded(config.dimension)), scorer_(scorer), memory_(memory) {}

  Json observe(const Item& item) {
    const std::vector<Found> found = search(item.key, 1, item.time);
    Json answer = machine_.observe(item);
    // An exact key decides before any score.
    if (item.exact_key || !answer.is_object() || found.empty()) return answer;
    if (answer["action"] == "merge") expect(answer["slot"] == found[0].slot);
    if (answer.contains("nearest")) expect(answer["nearest"][0] == found[0].slot);
    expect(answer["similarity"] == vectors::number(found[0].similarity));
    ++compared;
    return answer;
  }
  Json read(std::span<const float> query, const QueryOptions& options) {
    Json answer = machine_.read(query, options);
    const std::vector<Found> found = search(query, options.k, options.time);
    expect(answer["top"].size() == found.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
      expect(answer["top"][i][0] == found[i].slot);
      expect(answer["top"][i][1] == vectors::number(found[i].similarity));
    }
    ++compared;
    return answer;
  }
  Json nearest(std::span<const float> query, const QueryOptions& options) {
    return list(search(query, 1, options.time));
  }
  Json score(std::span<const float> query, const QueryOptions& options) {
    return list(search(query, options.k, options.time));
  }
  void erase(SlotId id, std::int64_t time) { machine_.erase(id, time); }
  Json consolidate(float similarity, std::int64_t time) {
    return machine_.consolidate(similarity, time);
  }
  void configure(const Config& config, std::int64_t time) { machine_.configure(config, time); }
  Json slots() { return machine_.slots(); }

  int compared = 0;  // answers
  int wrong = 0;     // of the scorer

 private:
  struct Found {
    SlotId slot = 0;
    float similarity = 0.0F;
  };

  void expect(bool is_right) { wrong += is_right ? 0 : 1; }

  static Json list(const std::vector<Found>& found) {
    Json json = Json::array();
    for (const Found& one : found) json.push_back({one.slot, vectors::number(one.similarity)});
    return json;
  }

  std::vector<Found> search(std::span<const float> key, std::size_t k,
                            std::optional<std::int64_t> time) {
    std::vector<SlotId> ids;
    AlignedFloats keys;
    std::vector<std::uint64_t> skip;
    for (const Slot& slot : machine_.cache().slots()) {
      const std::size_t r = ids.size();
      if (r % 64 == 0) skip.push_back(0);
      if (time && slot.expires && *slot.expires <= *time)
        skip[r / 64] |= std::uint64_t{1} << r % 64;
      ids.push_back(slot.id);
      keys.insert(keys.end(), slot.key.begin(), slot.key.end());
      keys.resize(ids.size() * stride_);
    }
    if (ids.empty() || k == 0) return {};
    tell(keys);
    keys_ = std::move(keys);
    KeysView view;
    view.keys = keys_.data();
    view.rows = ids.size();
    view.stride = stride_;
    view.margin = snap_margin(stride_);
    view.skip = skip;
    view.memory = memory_;
    view.version = version_;
    std::vector<float> query = reference::unit<float>(key);
    query.resize(stride_);
    std::vector<RowMatch> out(k);
    expect(scorer_.top(view, query, k, out));
    std::vector<Found> found;
    for (const RowMatch& match : out) {
      if (match.row != RowMatch::kNone) found.push_back({ids[match.row], match.similarity});
    }
    return found;
  }

  // The rows that differ from what the scorer has.
  void tell(const AlignedFloats& keys) {
    for (std::size_t r = 0; r * stride_ < keys.size(); ++r) {
      const auto begin = keys.begin() + static_cast<std::ptrdiff_t>(r * stride_);
      const bool is_same =
          (r + 1) * stride_ <= keys_.size() &&
          std::equal(begin, begin + static_cast<std::ptrdiff_t>(stride_),
                     keys_.begin() + static_cast<std::ptrdiff_t>(r * stride_),
                     [](float a, float b) {
                       return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b);
                     });
      if (is_same) continue;
      scorer_.changed(memory_, r, r + 1);
      ++version_;
    }
  }

  vectors::CacheMachine machine_;
  std::size_t stride_;
  CudaScorer& scorer_;
  std::uint64_t memory_;
  AlignedFloats keys_;
  std::uint64_t version_ = 1;
};

// Runs one file of `step` of a folder. What is wrong goes to `complain`; returns how many answers
// were compared.
template <class Complain>
int run_vectors(const std::string& folder, std::size_t step, CudaScorer& scorer,
                const Complain& complain) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".json") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  if (files.size() <= 30) complain("there are few vectors in " + folder);
  int compared = 0;
  for (std::size_t i = 0; i < files.size(); i += step) {
    std::ifstream file(files[i]);
    const Json script = Json::parse(file);
    ScoredMachine machine(*config_from_json(script["config"].dump()), scorer, i);
    const std::string name = files[i].filename().string();
    if (vectors::run(machine, script) != script["answers"]) complain(name + ": other answers");
    if (machine.wrong > 0) complain(name + ": " + std::to_string(machine.wrong) + " found wrong");
    compared += machine.compared;
    scorer.forget(i);
  }
  return compared;
}

}  // namespace dpcache::cuda

#endif  // DPCACHE_TESTS_CUDA_SCORED_MACHINE_H_
