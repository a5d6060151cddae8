// The program behind scripts/paper: runs one study and prints its figures as tab-separated lines.
#include <cstddef>
#include <exception>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include "paper/data.h"
#include "paper/table.h"

namespace {

using Study = void (*)();

// The longest first, for two that run at a time.
const std::vector<std::pair<std::string, Study>>& all_studies() {
  static const std::vector<std::pair<std::string, Study>> kList = {
      {"real_frontier", dpcache::paper::real_frontier},
      {"real_retail", dpcache::paper::real_retail},
      {"real_texts", dpcache::paper::real_texts},
      {"plateau", dpcache::paper::plateau_study},
      {"overlap", dpcache::paper::overlap},
      {"real_ids", dpcache::paper::real_ids},
      {"real_budgets", dpcache::paper::real_budgets},
      {"frontier", dpcache::paper::frontier},
      {"hybrid", dpcache::paper::hybrid},
      {"gate", dpcache::paper::gate_study},
      {"gate_ablations", dpcache::paper::gate_ablations},
      {"table1", dpcache::paper::table_one},
      {"budgets", dpcache::paper::budgets},
      {"growth", dpcache::paper::growth},
      {"noise", dpcache::paper::noise},
      {"fixed_state", dpcache::paper::fixed_state},
      {"clustering", dpcache::paper::clustering},
      {"choices", dpcache::paper::choices},
      {"weaknesses", dpcache::paper::weaknesses},
      {"pairs", dpcache::paper::alike_pairs},
      {"cost", dpcache::paper::read_cost},
  };
  return kList;
}

int run(const std::string& name) {
  for (const auto& [known, study] : all_studies()) {
    if (name == "--list") {
      std::cout << known << '\n';
    } else if (name == known) {
      study();
      return 0;
    }
  }
  if (name == "--list") return 0;
  std::cerr << "paper: no study is called " << name << "; see paper --list\n";
  return 2;
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) {
    std::cerr << "usage: paper STUDY | --list\n";
    return 2;
  }
  try {
    return run(arguments[1]);
  } catch (const dpcache::paper::Missing& missing) {
    std::cerr << "paper: SKIPPED " << arguments[1] << ": " << missing.what() << '\n';
    return 77;
  } catch (const std::exception& failure) {
    std::cerr << "paper: " << failure.what() << '\n';
    return 1;
  }
}
