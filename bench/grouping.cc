// Groups twelve labelled system logs with one setting, and prints how many lines are grouped right.
//
// Grouping accuracy: the share of lines whose group is exactly equal, as a set of lines, to one of
// the labels' groups. It is measured on the messages, as others do, and on the raw lines with their
// headers, which is what `dpcache distinct` is given. With --time, what a line of a log costs; with
// --pairs, how alike the encoder finds pairs of texts that mean the same, or do not.
#include <zlib.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dpcache/dpcache.h"

namespace {

struct Log {
  std::string name;
  std::vector<std::string> messages;
  std::vector<std::string> lines;  // with header; empty if there is no raw file
  std::vector<std::uint64_t> labels;
};

struct Groups {
  std::size_t slots = 0;
  double accuracy = 0.0;
};

[[noreturn]] void fail(const std::string& why) {
  std::fprintf(stderr, "grouping: %s\n", why.c_str());
  std::exit(1);
}

// The whole file, plain or gzip; nothing if it cannot be opened.
std::optional<std::string> read_file(const std::string& path) {
  gzFile file = gzopen(path.c_str(), "rb");
  if (file == nullptr) return std::nullopt;
  std::string text;
  std::vector<char> buffer(1U << 16U);
  int size = 0;
  while ((size = gzread(file, buffer.data(), static_cast<unsigned>(buffer.size()))) > 0) {
    text.append(buffer.data(), static_cast<std::size_t>(size));
  }
  gzclose(file);
  if (size < 0) fail(path + ": cannot be read");
  return text;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(separator), text.size());
    parts.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

std::string unescaped(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 == text.size()) {
      out += text[i];
      continue;
    }
    const char c = text[++i];
    out += c == 't' ? '\t' : c == 'n' ? '\n' : c;
  }
  return out;
}

// loghub2k.tsv(.gz): dataset, line, three columns of labels (the second is used), message.
std::vector<Log> read_logs(const std::string& folder) {
  auto table = read_file(folder + "/loghub2k.tsv.gz");
  if (!table) table = read_file(folder + "/loghub2k.tsv");
  if (!table) fail(folder + ": there is no loghub2k.tsv");
  std::vector<Log> logs;
  std::map<std::string, std::uint64_t, std::less<>> labels;
  bool header = true;
  for (const std::string_view row : split(*table, '\n')) {
    if (std::exchange(header, false)) continue;
    const auto fields = split(row, '\t');
    if (fields.size() < 5) fail("a row has fewer than five columns");
    if (logs.empty() || logs.back().name != fields[0]) {
      logs.emplace_back().name = fields[0];
      labels.clear();
    }
    logs.back().labels.push_back(labels.emplace(fields[3], labels.size()).first->second);
    logs.back().messages.push_back(fields.size() > 5 ? unescaped(fields[5]) : "");
  }
  for (Log& log : logs) {
    const auto raw = read_file(folder + "/raw/" + log.name + "_2k.log");
    if (!raw) continue;
    for (std::string_view line : split(*raw, '\n')) {
      if (line.ends_with('\r')) line.remove_suffix(1);
      log.lines.emplace_back(line);
    }
    if (log.lines.size() != log.labels.size()) fail(log.name + ": the raw file has other lines");
  }
  return logs;
}

double accuracy(const std::vector<std::uint64_t>& found, const std::vector<std::uint64_t>& labels) {
  std::map<std::uint64_t, std::size_t> of_found;
  std::map<std::uint64_t, std::size_t> of_label;
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::size_t> of_both;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    ++of_found[found[i]];
    ++of_label[labels[i]];
    ++of_both[{found[i], labels[i]}];
  }
  std::size_t right = 0;
  for (const auto& [both, count] : of_both) {
    if (of_found[both.first] == count && of_label[both.second] == count) right += count;
  }
  return static_cast<double>(right) / static_cast<double>(labels.size());
}

Groups group(const dpcache::Encoder& encoder, float tau, const std::vector<std::string>& texts,
             const std::vector<std::uint64_t>& labels) {
  dpcache::Config config;
  config.dimension = encoder.config().dimension;
  config.tau = tau;
  auto cache = dpcache::Cache::create(config);
  if (!cache) fail(cache.status.detail);
  std::vector<float> key(config.dimension);
  std::vector<std::uint64_t> found;
  for (const std::string& text : texts) {
    if (const auto status = encoder.encode(text, key); !status) fail(status.detail);
    dpcache::Item item;
    item.key = key;
    const auto decision = cache->observe(item);
    if (!decision) fail(decision.status.detail);
    found.push_back(decision->slot);
  }
  return {cache->stats().slots, accuracy(found, labels)};
}

// Prints microseconds a line: masks alone, masks and encoder, and both with the memory's search.
void time_file(const dpcache::Encoder& encoder, float tau, const std::string& path) {
  const auto text = read_file(path);
  if (!text) fail(path + ": cannot be opened");
  const auto lines = split(*text, '\n');
  dpcache::Config config;
  config.dimension = encoder.config().dimension;
  config.tau = tau;
  auto cache = dpcache::Cache::create(config);
  if (!cache) fail(cache.status.detail);
  std::vector<float> key(config.dimension);
  std::size_t sink = 0;
  const auto microseconds = [&lines](auto work) {
    const auto begin = std::chrono::steady_clock::now();
    for (const std::string_view line : lines) work(line);
    const std::chrono::duration<double, std::micro> taken =
        std::chrono::steady_clock::now() - begin;
    return taken.count() / static_cast<double>(lines.size());
  };
  const double mask =
      microseconds([&](std::string_view line) { sink += encoder.mask(line)->size(); });
  const double encode = microseconds([&](std::string_view line) {
    if (!encoder.encode(line, key)) ++sink;
  });
  const double observe = microseconds([&](std::string_view line) {
    dpcache::Item item;
    item.key = key;
    if (!encoder.encode(line, key) || !cache->observe(item)) ++sink;
  });
  std::printf("| %s | %zu | %.0f | %.2f | %.2f | %.2f | %llu |\n",
              path.substr(path.find_last_of('/') + 1).c_str(), lines.size(),
              static_cast<double>(text->size()) / static_cast<double>(lines.size()), mask, encode,
              observe, static_cast<unsigned long long>(cache->stats().slots));
  if (sink == 0) fail("nothing was masked");  // and the loops above are not optimised away
}

// A table with the columns label, kind, text_a, text_b: prints a row for each label and kind.
void compare_pairs(const dpcache::Encoder& encoder, float tau, const std::string& path) {
  const auto table = read_file(path);
  if (!table) fail(path + ": cannot be opened");
  std::map<std::pair<std::string_view, std::string_view>, std::vector<double>> kinds;
  std::vector<float> a(encoder.config().dimension);
  std::vector<float> b(a.size());
  bool header = true;
  for (const std::string_view row : split(*table, '\n')) {
    if (std::exchange(header, false)) continue;
    const auto fields = split(row, '\t');
    if (fields.size() != 4) fail(path + ": a row does not have four columns");
    if (!encoder.encode(fields[2], a) || !encoder.encode(fields[3], b)) fail("cannot encode");
    double cosine = 0.0;
    for (std::size_t i = 0; i < a.size(); ++i) {
      cosine += static_cast<double>(a[i]) * static_cast<double>(b[i]);
    }
    kinds[{fields[0], fields[1]}].push_back(cosine);
  }
  for (auto& [kind, cosines] : kinds) {
    std::sort(cosines.begin(), cosines.end());
    const auto merged = std::count_if(cosines.begin(), cosines.end(), [tau](double cosine) {
      return 1.0 - cosine <= static_cast<double>(tau);
    });
    std::printf("| %s | %s | %zu | %.2f | %.2f | %.2f | %td |\n",
                kind.first == "1" ? "the same" : "not the same", std::string(kind.second).c_str(),
                cosines.size(), cosines.front(), cosines[cosines.size() / 2], cosines.back(),
                merged);
  }
}

struct Options {
  dpcache::EncoderConfig encoder;
  std::string time;   // a log to time instead
  std::string pairs;  // a table of pairs to compare instead
  float tau = dpcache::kTextTau;
  std::string folder = "../shared/data/loghub2k";
};

Options parse(int count, char** words) {
  Options options;
  options.encoder.masks = dpcache::Masks::all();
  for (int i = 1; i < count; ++i) {
    const std::string_view word = words[i];
    if (!word.starts_with("--")) {
      options.folder = word;
      continue;
    }
    if (i + 1 == count) {
      fail(
          "usage: grouping [--tau T] [--dimension D] [--seed S] [--mask M] "
          "[--time LOG | --pairs TABLE | FOLDER]");
    }
    const char* value = words[++i];
    if (word == "--tau") {
      options.tau = std::strtof(value, nullptr);
    } else if (word == "--dimension") {
      options.encoder.dimension = static_cast<std::uint32_t>(std::strtoul(value, nullptr, 10));
    } else if (word == "--seed") {
      options.encoder.seed = std::strtoull(value, nullptr, 10);
    } else if (word == "--time") {
      options.time = value;
    } else if (word == "--pairs") {
      options.pairs = value;
    } else if (word == "--mask") {
      auto masks = dpcache::Masks::parse(value);
      if (!masks) fail(masks.status.detail);
      options.encoder.masks = std::move(*masks);
    } else {
      fail("unknown option " + std::string(word));
    }
  }
  return options;
}

}  // namespace

int main(int count, char** words) {
  const Options options = parse(count, words);
  const auto encoder = dpcache::Encoder::create(options.encoder);
  if (!encoder) fail(encoder.status.detail);
  if (!options.time.empty()) {
    time_file(*encoder, options.tau, options.time);
    return 0;
  }
  if (!options.pairs.empty()) {
    compare_pairs(*encoder, options.tau, options.pairs);
    return 0;
  }
  std::printf("Encoder: `%s`, tau %g\n\n", encoder->id().c_str(), static_cast<double>(options.tau));
  std::printf(
      "| log | lines | templates | slots | accuracy | slots, raw lines | accuracy, raw lines |\n");
  std::printf("|---|---:|---:|---:|---:|---:|---:|\n");
  double sum = 0.0;
  double raw_sum = 0.0;
  const std::vector<Log> logs = read_logs(options.folder);
  for (const Log& log : logs) {
    const std::size_t templates =
        std::set<std::uint64_t>(log.labels.begin(), log.labels.end()).size();
    const Groups messages = group(*encoder, options.tau, log.messages, log.labels);
    Groups raw;
    if (!log.lines.empty()) raw = group(*encoder, options.tau, log.lines, log.labels);
    std::printf("| %s | %zu | %zu | %zu | %.4f | %zu | %.4f |\n", log.name.c_str(),
                log.labels.size(), templates, messages.slots, messages.accuracy, raw.slots,
                raw.accuracy);
    sum += messages.accuracy;
    raw_sum += raw.accuracy;
  }
  const auto mean = [&logs](double total) { return total / static_cast<double>(logs.size()); };
  std::printf("| mean | | | | %.4f | | %.4f |\n", mean(sum), mean(raw_sum));
  return 0;
}
