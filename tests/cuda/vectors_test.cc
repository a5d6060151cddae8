// The shared vectors once more, with every nearest slot and every list found by the kernels: what
// they find must be what the vectors' decisions and answers say.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "aligned.h"
#include "cuda/emulated_device.h"
#include "cuda/scorer.h"
#include "numerics.h"
#include "vector_runner.h"

namespace dpcache::cuda {
namespace {

using vectors::Json;

// A cache beside a scorer, which gets its keys and is asked whatever the cache is asked.
class ScoredMachine {
 public:
  ScoredMachine(const Config& config, std::size_t scan_floats)
      : machine_(config), stride_(padded(config.dimension)) {
    ScorerOptions options;
    options.least_scores = 0;
    options.scan_floats = scan_floats;
    scorer_ = std::make_unique<CudaScorer>(std::make_unique<EmulatedDevice>(control_), options);
  }

  Json observe(const Item& item) {
    const std::vector<Found> found = search(item.key, 1, item.time);
    Json answer = machine_.observe(item);
    // An exact key decides before any score.
    if (item.exact_key || !answer.is_object() || found.empty()) return answer;
    if (answer["action"] == "merge") {
      EXPECT_EQ(answer["slot"], found[0].slot);
    }
    if (answer.contains("nearest")) {
      EXPECT_EQ(answer["nearest"][0], found[0].slot);
    }
    EXPECT_EQ(answer["similarity"], vectors::number(found[0].similarity));
    ++compared;
    return answer;
  }
  Json read(std::span<const float> query, const QueryOptions& options) {
    Json answer = machine_.read(query, options);
    const std::vector<Found> found = search(query, options.k, options.time);
    EXPECT_EQ(answer["top"].size(), found.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
      EXPECT_EQ(answer["top"][i][0], found[i].slot);
      EXPECT_EQ(answer["top"][i][1], vectors::number(found[i].similarity));
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

  int compared = 0;

 private:
  struct Found {
    SlotId slot = 0;
    float similarity = 0.0F;
  };

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
    view.version = version_;
    std::vector<float> query = reference::unit<float>(key);
    query.resize(stride_);
    std::vector<RowMatch> out(k);
    EXPECT_TRUE(scorer_->top(view, query, k, out));
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
      scorer_->changed(0, r, r + 1);
      ++version_;
    }
  }

  vectors::CacheMachine machine_;
  std::size_t stride_;
  EmulatedDevice::Control control_;
  std::unique_ptr<CudaScorer> scorer_;
  AlignedFloats keys_;
  std::uint64_t version_ = 1;
};

// One file of `step`, as emulation takes its time.
int run_all(std::size_t scan_floats, std::size_t step) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(DPCACHE_TEST_DATA)) {
    if (entry.path().extension() == ".json") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  EXPECT_GT(files.size(), 30U);
  int compared = 0;
  for (std::size_t i = 0; i < files.size(); i += step) {
    SCOPED_TRACE(files[i].filename());
    std::ifstream file(files[i]);
    const Json script = Json::parse(file);
    ScoredMachine machine(*config_from_json(script["config"].dump()), scan_floats);
    EXPECT_EQ(vectors::run(machine, script), script["answers"]);
    compared += machine.compared;
  }
  return compared;
}

TEST(CudaVectors, SearchesByCodesFindWhatTheVectorsSay) {
  EXPECT_GT(run_all(0, 1), 1000);
}

TEST(CudaVectors, ScansFindWhatTheVectorsSay) {
  EXPECT_GT(run_all(std::size_t{1} << 30U, 4), 200);
}

}  // namespace
}  // namespace dpcache::cuda
