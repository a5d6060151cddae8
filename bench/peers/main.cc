// Measures dpcache beside other libraries, all in turns, and prints a line of JSON a figure.
#include <cstdio>
#include <cstring>
#include <numeric>

#include "clock.h"
#include "data.h"
#include "dpcache_index.h"
#include "stream.h"
#include "threads.h"

namespace peers {
namespace {

std::vector<Peer> found_peers() {
  std::vector<Peer> out;
  const auto take = [&out](std::vector<Peer> some) {
    out.insert(out.end(), some.begin(), some.end());
  };
#ifdef PEERS_HAVE_FAISS
  take(faiss_peers());
#endif
#ifdef PEERS_HAVE_OPENBLAS
  take(openblas_peers());
#endif
#ifdef PEERS_HAVE_EIGEN
  take(eigen_peers());
#endif
#ifdef PEERS_HAVE_HNSWLIB
  take(hnswlib_peers());
#endif
#ifdef PEERS_HAVE_USEARCH
  take(usearch_peers());
#endif
  return out;
}

void list_peers() {
  std::string missing;
#ifndef PEERS_HAVE_FAISS
  missing += " FAISS,";
#endif
#ifndef PEERS_HAVE_OPENBLAS
  missing += " OpenBLAS,";
#endif
#ifndef PEERS_HAVE_EIGEN
  missing += " Eigen,";
#endif
#ifndef PEERS_HAVE_HNSWLIB
  missing += " hnswlib,";
#endif
#ifndef PEERS_HAVE_USEARCH
  missing += " USearch,";
#endif
  if (!missing.empty()) missing.pop_back();
  std::printf("{\"section\": \"peers\", \"missing\": \"%s\"}\n", missing.c_str());
}

struct Contender {
  std::string name;
  Kind kind = Kind::exact;
  std::unique_ptr<Index> index;
  std::size_t count = 0;  // queries a round
  std::vector<double> times;
};

struct Case {
  const char* section = "";
  std::string data;
  std::string queries;
  std::size_t batch = 1;
  std::size_t k = 1;
  std::size_t rounds = 7;
};

// All contenders answer the queries, in turns; those that take one at a time only as many a round
// as about 40 ms allow. The first answers of each are checked.
void measure(const Case& what, const Vectors& keys, const Vectors& queries,
             std::vector<Contender*> all) {
  constexpr std::size_t kChecked = 64;
  const std::size_t checked = std::min(kChecked, queries.size());
  const Truth truth(keys, queries.data.data(), checked, what.k);
  std::vector<Hit> hits(queries.size() * what.k);
  std::vector<std::size_t> wrong;
  const auto answer = [&](Contender& one, std::size_t first, std::size_t count) {
    for (std::size_t i = 0; i < count; i += what.batch) {
      const std::size_t at = (first + i) % queries.size();
      one.index->search(queries.row(at), what.batch, what.k, hits.data() + at * what.k);
    }
  };
  for (Contender* one : all) {
    const double start = cpu_seconds();
    answer(*one, 0, what.batch);
    const double took = cpu_seconds() - start;
    const auto fit = static_cast<std::size_t>(0.04 / (took + 1e-9)) + 4;
    one->count = what.batch > 1 ? what.batch : std::min(queries.size(), fit);
    one->times.clear();
    if (what.batch == 1) answer(*one, 0, checked);
    wrong.push_back(truth.wrong(hits.data(), checked));
  }
  std::vector<double> reading;
  for (std::size_t round = 0; round < what.rounds; ++round) {
    for (std::size_t turn = 0; turn < all.size(); ++turn) {
      Contender& one = *all[(turn + round) % all.size()];
      const std::size_t first = what.batch > 1 ? 0 : round * one.count;
      const double start = cpu_seconds();
      answer(one, first, one.count);
      one.times.push_back((cpu_seconds() - start) / static_cast<double>(one.count) * 1e6);
    }
    // What it takes to read the keys once: the floor of every scan of them.
    const auto* words = reinterpret_cast<const std::uint32_t*>(keys.data.data());
    constexpr int kTimes = 4;
    double start = 0;
    for (int time = 0; time <= kTimes; ++time) {
      if (time == 1) start = cpu_seconds();  // the caches are as warm then as for the others
      volatile const std::uint32_t sum = std::accumulate(words, words + keys.data.size(), 0U);
      static_cast<void>(sum);
    }
    reading.push_back((cpu_seconds() - start) * 1e6 / kTimes);
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    std::printf(
        "{\"section\": \"%s\", \"data\": \"%s\", \"queries\": \"%s\", \"d\": %zu, \"n\": "
        "%zu, \"k\": %zu, \"batch\": %zu, \"who\": \"%s\", \"exact\": %s, \"us\": %.3f, "
        "\"wrong\": %zu, \"checked\": %zu, \"reading_us\": %.3f}\n",
        what.section, what.data.c_str(), what.queries.c_str(), keys.dimension, keys.size(), what.k,
        what.batch, all[i]->name.c_str(), all[i]->kind == Kind::graph ? "false" : "true",
        median(all[i]->times), wrong[i], checked, median(reading));
  }
  std::fflush(stdout);
}

std::vector<Contender> contenders(const Vectors& keys, std::size_t most_of_a_graph) {
  std::vector<Peer> all = found_peers();
  all.insert(all.begin(), {"dpcache", Kind::batching,
                           [](std::size_t d, std::size_t n) -> std::unique_ptr<Index> {
                             return std::make_unique<DpcacheIndex>(d, n);
                           }});
  std::vector<Contender> out;
  for (const Peer& peer : all) {
    if (peer.kind == Kind::graph && keys.size() > most_of_a_graph) continue;
    Contender one{peer.name, peer.kind, peer.make(keys.dimension, keys.size()), 0, {}};
    one.index->add(keys.data.data(), keys.size());
    one.index->settle();
    out.push_back(std::move(one));
  }
  return out;
}

Vectors repeats_of(const Vectors& keys, std::size_t count) {
  Random random(99);
  Vectors out{keys.dimension, {}};
  for (std::size_t i = 0; i < count; ++i) {
    append_repeat(keys.row(random() % keys.size()), random, out);
  }
  return out;
}

void run_single(const std::string& data, const Vectors& keys, const Vectors& novel,
                const std::string& novel_name, std::vector<Contender>& all) {
  std::vector<Contender*> those(all.size());
  std::transform(all.begin(), all.end(), those.begin(), [](Contender& one) { return &one; });
  measure({"single", data, "repeats"}, keys, repeats_of(keys, 256), those);
  measure({"single", data, novel_name}, keys, novel, those);
}

// Half repeats, half novel, in turns.
void run_batch(const std::string& data, const Vectors& keys, const Vectors& novel,
               std::vector<Contender>& all) {
  constexpr std::size_t kBatch = 1024;
  Vectors queries{keys.dimension, {}};
  const Vectors repeats = repeats_of(keys, kBatch / 2);
  for (std::size_t i = 0; i < kBatch / 2; ++i) {
    for (const Vectors* some : {&repeats, &novel}) {
      const float* row = some->row(i % some->size());
      queries.data.insert(queries.data.end(), row, row + keys.dimension);
    }
  }
  std::vector<Contender*> those;
  for (Contender& one : all) {
    if (one.kind == Kind::batching) those.push_back(&one);
  }
  for (const std::size_t k : {std::size_t{1}, std::size_t{10}}) {
    measure({"batch", data, "half repeats", kBatch, k, 5}, keys, queries, those);
  }
}

Vectors take_from(const Vectors& all, std::size_t first, std::size_t count) {
  const auto begin = all.data.begin() + static_cast<std::ptrdiff_t>(first * all.dimension);
  return {all.dimension, {begin, begin + static_cast<std::ptrdiff_t>(count * all.dimension)}};
}

constexpr std::size_t kNovel = 512;

int run_made(const std::string& section, const std::string& data, std::size_t dimension,
             std::size_t slots) {
  const Vectors made = data == "scattered" ? scattered(slots + kNovel, dimension, 7)
                                           : clustered(slots + kNovel, dimension, 7);
  const Vectors keys = take_from(made, 0, slots);
  const Vectors novel = take_from(made, slots, kNovel);
  std::vector<Contender> all = contenders(keys, section == "single" ? 10'000 : 0);
  if (section == "single") run_single(data, keys, novel, "novel", all);
  if (section == "batch") run_batch(data, keys, novel, all);
  return 0;
}

// Every row but some, spread over the file, is a key; those are what is asked for.
int run_real(const std::string& name, const std::string& path) {
  const Vectors read = read_int8(path);
  if (read.dimension == 0) {
    std::fprintf(stderr, "peers: cannot read int8 vectors from %s\n", path.c_str());
    return 1;
  }
  Vectors keys{read.dimension, {}};
  Vectors queries{read.dimension, {}};
  const std::size_t step = read.size() / kNovel;
  for (std::size_t i = 0; i < read.size(); ++i) {
    Vectors& to = i % step == 0 && queries.size() < kNovel ? queries : keys;
    to.data.insert(to.data.end(), read.row(i), read.row(i) + read.dimension);
  }
  std::vector<Contender> all = contenders(keys, 50'000);
  run_single(name, keys, queries, "held out", all);
  run_batch(name, keys, queries, all);
  return 0;
}

int run(const std::vector<std::string>& words) {
  const auto number = [&words](std::size_t i) { return std::stoul(words.at(i)); };
  const std::string section = words.empty() ? "" : words[0];
  if (section == "peers") {
    list_peers();
    return 0;
  }
  if ((section == "single" || section == "batch") && words.size() == 4) {
    return run_made(section, words[1], number(2), number(3));
  }
  if (section == "real" && words.size() == 3) return run_real(words[1], words[2]);
  if (section == "stream" && words.size() == 5) {
    run_stream(number(1), number(2), number(3), number(4), found_peers());
    return 0;
  }
  if (section == "growth" && words.size() == 2) {
    run_growth(number(1));
    return 0;
  }
  if (section == "threads" && words.size() == 4) {
    run_threads(number(1), number(2), number(3));
    return 0;
  }
  std::fputs(
      "usage: bench_peers peers\n"
      "       bench_peers single|batch clustered|scattered DIMENSION SLOTS\n"
      "       bench_peers real NAME FILE.i8.npy\n"
      "       bench_peers stream DIMENSION DISTINCT EVERY ROUNDS\n"
      "       bench_peers growth DIMENSION\n"
      "       bench_peers threads DIMENSION SLOTS MOST\n",
      stderr);
  return 2;
}

}  // namespace
}  // namespace peers

int main(int argc, char** argv) {
  return peers::run(std::vector<std::string>(argv + 1, argv + argc));
}
