// Prints one line a target, `TARGET HASH`: a hash over the answers to all vectors and the memory
// files that they end in. The line `reference` is that of the plain loops, with the memory files
// that stand in the vectors. scripts/bits compares the lines of all builds.
//
// With --answers prints the answers instead, a line of JSON for each target and vector, which
// scripts/hashes compares with those of the npm module.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hash.h"
#include "kernels.h"
#include "vector_runner.h"

namespace {

using dpcache::vectors::Json;

std::vector<Json> read_vectors(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".json") paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  std::vector<Json> all;
  for (const auto& path : paths) {
    std::ifstream file(path);
    all.push_back(Json::parse(file));
    all.back()["name"] = path.stem().string();
  }
  return all;
}

dpcache::Config config_of(const Json& vector) {
  return *dpcache::config_from_json(vector["config"].dump());
}

void print(const std::string& name, const std::string& bits) {
  std::printf("%s %s\n", name.c_str(),
              dpcache::vectors::hex(dpcache::hash64(std::as_bytes(std::span(bits)), 0)).c_str());
}

// What one target answers to one vector, and the hash of the memory file that it ends in.
struct Run {
  Json answers;
  std::string snapshot_hash;
};

Run run(const Json& vector) {
  dpcache::vectors::CacheMachine machine(config_of(vector));
  Json answers = dpcache::vectors::run(machine, vector);
  return {std::move(answers), dpcache::vectors::hex(dpcache::hash64(machine.cache().save(), 0))};
}

void print_answers(const std::vector<Json>& all) {
  for (const std::string_view target : dpcache::kernels::targets()) {
    dpcache::kernels::use_target(target);
    for (const Json& vector : all) {
      const auto [answers, snapshot_hash] = run(vector);
      const Json line = {{"target", target},
                         {"vector", vector["name"]},
                         {"answers", answers},
                         {"snapshot_hash", snapshot_hash}};
      std::printf("%s\n", line.dump().c_str());
    }
  }
}

void print_hashes(const std::vector<Json>& all) {
  std::string bits;
  for (const Json& vector : all) {
    dpcache::vectors::ReferenceMachine machine(config_of(vector));
    bits += dpcache::vectors::run(machine, vector).dump();
    bits += vector["snapshot_hash"].get<std::string>() + "\n";
  }
  print("reference", bits);

  for (const std::string_view target : dpcache::kernels::targets()) {
    dpcache::kernels::use_target(target);
    bits.clear();
    for (const Json& vector : all) {
      const auto [answers, snapshot_hash] = run(vector);
      bits += answers.dump() + snapshot_hash + "\n";
    }
    print(std::string(target), bits);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const bool answers = argc > 1 && std::string_view(argv[1]) == "--answers";
  const int folder = answers ? 2 : 1;
  const std::vector<Json> all = read_vectors(argc > folder ? argv[folder] : DPCACHE_TEST_DATA);
  if (all.empty()) {
    std::fprintf(stderr, "there are no vectors\n");
    return 1;
  }
  if (answers) {
    print_answers(all);
  } else {
    print_hashes(all);
  }
  return 0;
}
