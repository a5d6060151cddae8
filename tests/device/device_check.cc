// What a GPU must show: that it gives the CPU's bits, and how long it takes.
//
// usage: device_check [compare] [vectors] [time]   all of them if none is named
//
// compare  random memories of many shapes, through the scorer, against the CPU's dots
// vectors  the shared vectors through the scorer
// time     queries by rows of 384 floats: milliseconds on the device (events, the median of
// several),
//          by a scan and by codes, which must agree; beside them the least that the device could
//          need, by the bandwidth of its copies and the rate of its matrix instructions, both
//          measured here
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "aligned.h"
#include "cuda/buffers.h"
#include "cuda/scored_machine.h"
#include "cuda/scorer.h"
#include "device/workload.h"
#include "kernels.h"
#include "numerics.h"

namespace dpcache::cuda {
namespace {

void check(const Outcome& outcome) {
  if (!outcome) throw std::runtime_error(outcome.what);
}

std::unique_ptr<Workload> open() {
  std::string why;
  std::unique_ptr<Workload> workload = Workload::open(why);
  if (workload == nullptr) throw std::runtime_error(why);
  return workload;
}

// ------------------------------------------------------------------------------------- compare

struct Memory {
  Memory(std::size_t rows, std::size_t dimension, unsigned seed) : stride(padded(dimension)) {
    std::mt19937 random(seed);
    std::normal_distribution<float> normal;
    std::vector<std::vector<float>> centres(1 + rows / 4, std::vector<float>(dimension));
    for (auto& centre : centres) {
      for (float& x : centre) x = normal(random);
    }
    const auto add = [&](AlignedFloats& to) {
      std::vector<float> x = centres[random() % centres.size()];
      for (float& part : x) part += 0.3F * normal(random);
      to.resize(to.size() + stride);
      kernels::normalise(x, std::span(to).last(stride));
    };
    for (std::size_t r = 0; r < rows; ++r) add(keys);
    for (std::size_t q = 0; q < 70; ++q) add(queries);
    view.keys = keys.data();
    view.rows = rows;
    view.stride = stride;
    view.margin = snap_margin(stride);
    view.memory = seed;
    view.version = 1;
    for (std::size_t r = 0; r < rows; r += 64) skip.push_back(random() & random());
  }
  std::vector<RowMatch> by_cpu(std::size_t count, std::size_t k) const {
    std::vector<RowMatch> out;
    std::vector<float> scores(view.rows);
    for (std::size_t q = 0; q < count; ++q) {
      kernels::dots(queries.data() + q * stride, view.keys, stride, view.rows, scores.data());
      std::vector<RowMatch> all;
      for (std::uint32_t r = 0; r < view.rows; ++r) {
        const bool counts = view.skip.empty() || (view.skip[r / 64] >> r % 64 & 1U) == 0;
        if (counts) all.push_back({r, snap(scores[r], view.margin)});
      }
      std::stable_sort(all.begin(), all.end(), [](const RowMatch& a, const RowMatch& b) {
        return a.similarity > b.similarity;
      });
      all.resize(k);
      out.insert(out.end(), all.begin(), all.end());
    }
    return out;
  }

  std::size_t stride;
  AlignedFloats keys;
  AlignedFloats queries;
  std::vector<std::uint64_t> skip;
  KeysView view;
};

bool compare() {
  struct Shape {
    std::size_t rows, dimension;
  };
  int wrong = 0;
  int done = 0;
  for (const std::size_t scan_floats : {std::size_t{0}, std::size_t{1} << 40U}) {
    const std::unique_ptr<Workload> workload = open();
    ScorerOptions options;
    options.least_scores = 0;
    options.scan_floats = scan_floats;
    options.scan_from = 1;
    options.tile = 40;
    CudaScorer scorer(workload->take_device(), options);
    unsigned seed = 0;
    std::vector<Shape> shapes = {{1, 16}, {130, 3}};
    if (workload->is_real()) {
      shapes.insert(shapes.end(), {{700, 100}, {1000, 384}, {300, 1024}, {20'000, 64}});
    }
    for (const auto& [rows, dimension] : shapes) {
      Memory memory(rows, dimension, ++seed);
      for (const bool skips : {false, true}) {
        if (skips) memory.view.skip = memory.skip;
        for (const auto& [count, k] : {std::pair<std::size_t, std::size_t>{1, 1},
                                       {1, 10},
                                       {9, 64},
                                       {20, 1},
                                       {70, 1},
                                       {70, 16}}) {
          std::vector<RowMatch> found(count * k);
          const auto queries = std::span<const float>(memory.queries).first(count * memory.stride);
          ++done;
          if (scorer.top(memory.view, queries, k, found) && found == memory.by_cpu(count, k))
            continue;
          ++wrong;
          std::printf("WRONG: %zu rows of %zu, %zu queries, k = %zu: %s\n", rows, dimension, count,
                      k, scorer.statistics().last_failure.c_str());
        }
      }
    }
  }
  std::printf("compare: %d of %d batches have the CPU's bits\n", done - wrong, done);
  return wrong == 0;
}

// ------------------------------------------------------------------------------------- vectors

bool vectors() {
  int wrong = 0;
  int compared = 0;
  for (const std::size_t scan_floats : {std::size_t{0}, std::size_t{1} << 40U}) {
    const std::unique_ptr<Workload> workload = open();
    ScorerOptions options;
    options.least_scores = 0;
    options.scan_floats = scan_floats;
    options.scan_from = 1;
    CudaScorer scorer(workload->take_device(), options);
    const std::size_t step = workload->is_real() ? 1 : 9;
    compared += run_vectors(DPCACHE_TEST_DATA, step, scorer, [&](const std::string& what) {
      std::printf("WRONG: %s\n", what.c_str());
      ++wrong;
    });
  }
  std::printf("vectors: %d answers compared, %d files wrong\n", compared, wrong);
  return wrong == 0;
}

// ---------------------------------------------------------------------------------------- time

class Clock {
 public:
  Clock(Device& device, Stream stream) : device_(device), stream_(stream) {
    check(device_.make_event(from_));
    check(device_.make_event(to_));
  }
  ~Clock() {
    device_.drop(from_);
    device_.drop(to_);
  }
  Clock(const Clock&) = delete;
  Clock& operator=(const Clock&) = delete;

  // Milliseconds of what `work` puts on the stream.
  template <class Work>
  float once(const Work& work) {
    check(device_.record(from_, stream_));
    work();
    check(device_.record(to_, stream_));
    check(device_.wait(to_));
    float milliseconds = 0.0F;
    check(device_.elapsed(from_, to_, milliseconds));
    return milliseconds;
  }
  // The median of up to 15, after one that does not count; long ones are done less often.
  template <class Work>
  float median(const Work& work) {
    const float first = once(work);
    const auto times = static_cast<std::size_t>(
        std::clamp(300.0F / std::max(first, 0.01F), first > 2000.0F ? 1.0F : 3.0F, 15.0F));
    std::vector<float> all;
    for (std::size_t i = 0; i < times; ++i) all.push_back(once(work));
    std::sort(all.begin(), all.end());
    return all[all.size() / 2];
  }

 private:
  Device& device_;
  Stream stream_;
  Event from_;
  Event to_;
};

struct Peaks {
  double bytes = 0;       // a second, read and written
  double operations = 0;  // a second
};

// Room for the rows of one size.
class Rows {
 public:
  Rows(Workload& workload, DeviceMemory& memory, Stream stream, std::size_t count,
       std::size_t dimension) {
    const std::size_t stride = padded(dimension);
    for (std::byte* begin : {static_cast<std::byte*>(nullptr), static_cast<std::byte*>(nullptr)}) {
      if (vectors_.count != 0) begin = buffer_.data();
      Places places(begin);
      vectors_.keys = places.take<float>(count * stride);
      vectors_.codes =
          places.take<std::int8_t>(rounded_up(count, kChunkRows) * code_stride(stride));
      vectors_.steps = places.take<float>(count);
      vectors_.errors = places.take<float>(count);
      vectors_.chunk_errors = places.take<float>(chunks(count));
      vectors_.count = static_cast<std::uint32_t>(count);
      vectors_.stride = static_cast<std::uint32_t>(stride);
      if (begin == nullptr) check(buffer_.allocate(memory, places.bytes()));
    }
    MakeWork make;
    make.out = vectors_.keys;
    make.count = count;
    make.dimension = static_cast<std::uint32_t>(dimension);
    make.stride = vectors_.stride;
    check(workload.make(make, stream));
    check(memory.device().encode({vectors_, 0, vectors_.count}, stream));
    check(memory.device().wait(stream));
  }
  const Vectors& vectors() const { return vectors_; }

 private:
  DeviceBuffer buffer_;
  Vectors vectors_;
};

class Timing {
 public:
  Timing()
      : workload_(open()),
        device_(workload_->take_device()),
        memory_(*device_, std::size_t{1} << 50U) {
    check(device_->make_stream(stream_));
    clock_ = std::make_unique<Clock>(*device_, stream_);
  }
  ~Timing() {
    clock_.reset();
    device_->drop(stream_);
  }
  Timing(const Timing&) = delete;
  Timing& operator=(const Timing&) = delete;

  bool run() {
    const bool is_real = workload_->is_real();
    const std::size_t dimension = is_real ? 384 : 32;
    const std::vector<std::size_t> row_counts =
        is_real ? std::vector<std::size_t>{1'000, 10'000, 100'000, 1'000'000, 10'000'000}
                : std::vector<std::size_t>{100, 400};
    const std::vector<std::size_t> query_counts =
        is_real ? std::vector<std::size_t>{1, 8, 64, 256, 1024, 4096}
                : std::vector<std::size_t>{1, 8, 40};
    const Peaks peaks = measure_peaks(is_real);
    std::printf(
        "\nDevice: %s. Copies %.0f GB/s (read and written), matrix instructions %.1f "
        "TOP/s of bytes.\nkeys of %zu floats, k = 1; times in ms on the device, medians\n\n",
        device_->name().c_str(), peaks.bytes * 1e-9, peaks.operations * 1e-12, dimension);
    std::printf(
        "| rows | queries | scan | codes | of rows left | least by bytes | least by "
        "operations | codes / least | equal |\n|---|---|---|---|---|---|---|---|---|\n");
    bool is_equal = true;
    for (const std::size_t rows : row_counts) {
      const Rows all(*workload_, memory_, stream_, rows, dimension);
      for (const std::size_t count : query_counts) {
        is_equal = measure(all.vectors(), dimension, count, peaks) && is_equal;
      }
    }
    return is_equal;
  }

 private:
  Peaks measure_peaks(bool is_real) {
    Peaks peaks;
    const std::size_t bytes = std::size_t{1} << (is_real ? 30U : 20U);
    DeviceBuffer from;
    DeviceBuffer to;
    check(from.allocate(memory_, bytes));
    check(to.allocate(memory_, bytes));
    const float copy =
        clock_->median([&] { check(device_->copy(to.data(), from.data(), bytes, stream_)); });
    peaks.bytes = 2.0 * static_cast<double>(bytes) / (static_cast<double>(copy) * 1e-3);
    MultiplyWork work;
    work.out = reinterpret_cast<int*>(to.data());
    work.blocks = is_real ? 132 * 16 : 2;
    work.rounds = is_real ? 4096 : 4;
    double operations = 0;
    // Emulated work is done before the stream is: its time is not shown there.
    const float multiply =
        clock_->median([&] { check(workload_->multiply(work, stream_, operations)); });
    peaks.operations = operations / (static_cast<double>(std::max(multiply, 1e-3F)) * 1e-3);
    return peaks;
  }

  bool measure(const Vectors& rows, std::size_t dimension, std::size_t count, const Peaks& peaks) {
    // As many at once as the scorer would take.
    const std::size_t tile = std::clamp<std::size_t>((std::size_t{16} << 20U) / chunks(rows.count),
                                                     1, std::min<std::size_t>(count, 1024));
    const SearchShape shape = {rows.count, rows.stride, tile, 1, 0};
    Places sizes(nullptr);
    lay_out(sizes, shape);
    DeviceBuffer room;
    check(room.allocate(memory_, sizes.bytes()));
    DeviceBuffer queries;
    check(queries.allocate(memory_, count * rows.stride * sizeof(float)));
    DeviceBuffer answers[2];
    MakeWork make;
    make.out = reinterpret_cast<float*>(queries.data());
    make.count = count;
    make.queries_of = rows.count;
    make.dimension = static_cast<std::uint32_t>(dimension);
    make.stride = rows.stride;
    check(workload_->make(make, stream_));
    check(device_->wait(stream_));

    float milliseconds[2] = {};
    std::vector<std::uint64_t> live;
    for (const Way way : {Way::scan, Way::codes}) {
      const auto index = static_cast<std::size_t>(way);
      check(answers[index].allocate(memory_, count * sizeof(Entry)));
      Places places(room.data());
      SearchWork work = lay_out(places, shape);
      work.way = way;
      work.rows = rows;
      work.margin = snap_margin(rows.stride);
      work.out = reinterpret_cast<Entry*>(answers[index].data());
      live.assign((count + tile - 1) / tile, 0);
      std::uint64_t* const live_there = work.live;
      milliseconds[index] = clock_->median([&] {
        for (std::size_t first = 0; first < count; first += tile) {
          SearchWork part = work;
          part.queries.count = static_cast<std::uint32_t>(std::min(tile, count - first));
          part.queries.keys = reinterpret_cast<float*>(queries.data()) + first * rows.stride;
          part.out += first;
          check(device_->search(part, stream_));
        }
      });
      if (way == Way::codes) fetch(&live[0], live_there, sizeof(std::uint64_t));
    }
    std::vector<Entry> found[2];
    for (std::size_t i = 0; i < 2; ++i) {
      found[i].resize(count);
      fetch(found[i].data(), answers[i].data(), count * sizeof(Entry));
    }
    const bool is_equal = std::equal(
        found[0].begin(), found[0].end(), found[1].begin(),
        [](const Entry& a, const Entry& b) { return a.row == b.row && a.score == b.score; });
    const std::size_t last_tile = count - (count - 1) / tile * tile;
    const double share = static_cast<double>(live[0]) /
                         (static_cast<double>(chunks(rows.count)) * static_cast<double>(last_tile));
    const double pairs = static_cast<double>(rows.count) * static_cast<double>(count);
    const double by_bytes = static_cast<double>(rows.count) *
                            static_cast<double>(code_stride(rows.stride)) / peaks.bytes * 1e3;
    const double by_operations =
        2.0 * pairs * static_cast<double>(rows.stride) / peaks.operations * 1e3;
    std::printf("| %u | %zu | %.3f | %.3f | %.4f | %.4f | %.4f | %.1f | %s |\n", rows.count, count,
                static_cast<double>(milliseconds[0]), static_cast<double>(milliseconds[1]), share,
                by_bytes, by_operations,
                static_cast<double>(milliseconds[1]) / std::max(by_bytes, by_operations),
                is_equal ? "yes" : "NO");
    std::fflush(stdout);
    return is_equal;
  }

  void fetch(void* to, const void* from, std::size_t bytes) {
    PinnedBuffer pinned(*device_);
    check(pinned.reserve(bytes));
    check(device_->download(pinned.data(), from, bytes, stream_));
    check(device_->wait(stream_));
    std::memcpy(to, pinned.data(), bytes);
  }

  std::unique_ptr<Workload> workload_;
  std::unique_ptr<Device> device_;
  DeviceMemory memory_;
  Stream stream_;
  std::unique_ptr<Clock> clock_;
};

int run(const std::vector<std::string>& names) {
  bool is_right = true;
  const auto is_named = [&](const char* name) {
    return names.empty() || std::find(names.begin(), names.end(), name) != names.end();
  };
  if (is_named("compare")) is_right = compare() && is_right;
  if (is_named("vectors")) is_right = vectors() && is_right;
  if (is_named("time")) is_right = Timing().run() && is_right;
  return is_right ? 0 : 1;
}

}  // namespace
}  // namespace dpcache::cuda

int main(int argc, char** argv) {
  try {
    return dpcache::cuda::run({argv + 1, argv + argc});
  } catch (const std::exception& error) {
    std::printf("device_check: %s\n", error.what());
    return 2;
  }
}
