// Requests through the API, as a script of them: each is answered once, by a status that is known;
// what was refused changed nothing, nor did what only asks; and a new start on the same log brings
// back every cache to the byte.
//
// A script: requests with a line "---" between them, each a line of method and target, lines of
// headers, an empty line, and the body as it is. A body "@NAME" is the memory file of that cache,
// "@NAME N" the same with its byte N changed. The methods SNAPSHOT and RESTART are the machine's.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/app.h"
#include "fuzz/input.h"
#include "log/memory_log.h"

namespace dpcache::server {
namespace {

using fuzz::require;
using nlohmann::json;

constexpr std::size_t kMostRequests = 12;
constexpr std::uint64_t kMaxBody = 16384;

// Snapshots in memory.
class KeptSnapshots final : public Snapshots {
 public:
  void put(const std::string& cache, Position position, std::span<const std::byte> bytes) override {
    const std::lock_guard lock(mutex_);
    files_[{cache, position}] = std::make_shared<Bytes>(bytes.begin(), bytes.end());
  }
  std::vector<StoredSnapshot> list() override {
    const std::lock_guard lock(mutex_);
    std::vector<StoredSnapshot> all;
    for (const auto& [key, file] : files_) all.push_back({key.first, key.second, file->size()});
    std::sort(all.begin(), all.end(), [](const StoredSnapshot& a, const StoredSnapshot& b) {
      return a.cache != b.cache ? a.cache < b.cache : a.position > b.position;
    });
    return all;
  }
  std::unique_ptr<SnapshotBytes> open(const std::string& cache, Position position) override {
    const std::lock_guard lock(mutex_);
    return std::make_unique<Opened>(files_.at({cache, position}));
  }
  void remove_below(const std::string& cache, Position position) override {
    const std::lock_guard lock(mutex_);
    std::erase_if(files_, [&](const auto& one) {
      return one.first.first == cache && one.first.second < position;
    });
  }

 private:
  using Bytes = std::vector<std::byte>;
  struct Opened final : SnapshotBytes {
    explicit Opened(std::shared_ptr<Bytes> file) : file_(std::move(file)) {}
    std::span<const std::byte> bytes() const override { return *file_; }
    std::shared_ptr<Bytes> file_;
  };
  std::mutex mutex_;
  std::map<std::pair<std::string, Position>, std::shared_ptr<Bytes>> files_;
};

// An answer on its way.
struct Waiting {
  std::mutex mutex;
  std::condition_variable came;
  std::optional<Response> response;
  int count = 0;
};

using Files = std::map<std::string, std::vector<std::byte>>;  // of caches, by their names

class Machine {
 public:
  Machine() {
    service_options_.threads = 1;
    service_options_.max_memory = 4U << 20U;
    service_options_.max_caches = 3;
    service_options_.snapshot_interval = std::chrono::hours(1);
    service_options_.error = [](const std::string& text) { require(false, "an error:", text); };
    app_options_.max_body = kMaxBody;
    app_options_.max_snapshot = 65536;
    app_options_.max_dimension = 300;
    app_options_.tokens = Tokens::parse(
        "admin a-token-for-all-things\nread a-token-that-reads- f*\nwrite a-token-that-writes "
        "faq\n");
    app_options_.cors = {"https://friend.example"};
    app_options_.page["/"] = {"text/html; charset=utf-8", "<!doctype html>"};
    app_options_.page["/index.html"] = app_options_.page["/"];
    start();
  }

  void restart() {
    const auto before = files();
    app_.reset();
    service_.reset();
    start();
    require(files() == before, "a new start does not bring back what was there");
  }
  void snapshot() { service_->snapshot(true); }

  Response ask(Request request) {
    auto waiting = std::make_shared<Waiting>();
    all_.push_back(waiting);
    auto admission = app_->admit(request);
    if (admission.refusal) return std::move(*admission.refusal);
    if (request.body.size() > admission.body_limit) {
      return app_->refuse(413, "The body is too large.", request);
    }
    app_->handle(std::move(request), [waiting](Response response) {
      const std::lock_guard lock(waiting->mutex);
      if (++waiting->count == 1) waiting->response = std::move(response);
      waiting->came.notify_all();
    });
    std::unique_lock lock(waiting->mutex);
    const bool came =
        waiting->came.wait_for(lock, std::chrono::seconds(15), [&] { return waiting->count > 0; });
    require(came, "no answer came");
    return std::move(*waiting->response);
  }
  // The next part of an answer without end, if it comes soon.
  static std::optional<std::string> next(const NextPart& parts) {
    struct Part {
      std::mutex mutex;
      std::condition_variable came;
      std::optional<std::string> part;
      bool is_there = false;
    };
    auto waiting = std::make_shared<Part>();
    parts([waiting](std::optional<std::string> part) {
      const std::lock_guard lock(waiting->mutex);
      require(!std::exchange(waiting->is_there, true), "a part came twice");
      waiting->part = std::move(part);
      waiting->came.notify_all();
    });
    std::unique_lock lock(waiting->mutex);
    waiting->came.wait_for(lock, std::chrono::milliseconds(3), [&] { return waiting->is_there; });
    return std::move(waiting->part);
  }

  // All caches, by name, as memory files.
  Files files() {
    Files all;
    for (const auto& hosted : service_->list("", 100)) {
      std::mutex mutex;
      std::condition_variable came;
      bool done = false;
      hosted->turns.read(false, [&] {
        const std::lock_guard lock(mutex);
        all[hosted->name] = hosted->cache().save();
        done = true;
        came.notify_all();
      });
      std::unique_lock lock(mutex);
      came.wait(lock, [&] { return done; });
    }
    return all;
  }

  // No answer came twice, also after all has ended.
  void end() {
    restart();
    app_.reset();
    service_.reset();
    for (const auto& waiting : all_) {
      const std::lock_guard lock(waiting->mutex);
      require(waiting->count <= 1, "a request was answered twice");
    }
  }

 private:
  void start() {
    service_ = std::make_unique<Service>(log_, snapshots_, service_options_);
    app_ = std::make_unique<App>(*service_, app_options_);
  }

  MemoryLog log_;
  KeptSnapshots snapshots_;
  ServiceOptions service_options_;
  AppOptions app_options_;
  std::unique_ptr<Service> service_;
  std::unique_ptr<App> app_;
  std::vector<std::shared_ptr<Waiting>> all_;
};

std::string_view take_line(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

Request request_from(std::string_view text) {
  Request request;
  request.remote = "127.0.0.1";
  request.id = "fuzz";
  const std::string_view first = take_line(text);
  const std::size_t blank = std::min(first.find(' '), first.size());
  request.method = first.substr(0, blank);
  request.target = first.substr(std::min(blank + 1, first.size()));
  while (!text.empty()) {
    const std::string_view line = take_line(text);
    if (line.empty()) break;
    const std::size_t colon = std::min(line.find(": "), line.size());
    request.headers.push_back({std::string(line.substr(0, colon)),
                               std::string(line.substr(std::min(colon + 2, line.size())))});
  }
  if (request.header("authorization").empty()) {
    request.headers.push_back({"authorization", "Bearer a-token-for-all-things"});
  }
  request.body = text;
  return request;
}

void put_file_in(Request& request, const Files& files) {
  if (!request.body.starts_with('@')) return;
  std::string name = request.body.substr(1, request.body.find_last_not_of('\n'));
  std::optional<std::size_t> changed;
  if (const std::size_t blank = name.find(' '); blank != name.npos) {
    changed = std::strtoull(name.c_str() + blank, nullptr, 10);
    name.resize(blank);
  }
  const auto found = files.find(name);
  if (found == files.end() || found->second.empty()) return;
  request.body.assign(reinterpret_cast<const char*>(found->second.data()), found->second.size());
  if (changed) request.body[*changed % request.body.size()] ^= 1;
}

std::string header(const Response& response, std::string_view name) {
  std::string found;
  for (const auto& [key, value] : response.headers) {
    if (key != name) continue;
    require(found.empty(), "a header stands there twice:", key);
    found = value;
  }
  return found;
}

void check(const Request& request, const Response& response) {
  const std::string about = request.method + " " + request.target + " " +
                            std::to_string(response.status) + " " + response.body.substr(0, 400);
  const std::string type = header(response, "Content-Type");
  require(header(response, "X-Request-Id") == "fuzz", "the answer has no id:", about);
  require(!response.parts || response.body.empty(), "an answer has a body and parts:", about);
  if (response.status < 300) {
    require(response.status == 200 || response.status == 201 || response.status == 204,
            "a success of no kind:", about);
    if (type == "application/json") {
      require(!json::parse(response.body, nullptr, false).is_discarded(),
              "an answer is no JSON:", about);
    } else if (response.status == 204) {
      require(response.body.empty(), "there is a body without content:", about);
    }
    return;
  }
  if (response.status == 304) return require(response.body.empty(), "304 has a body:", about);
  require(type == "application/problem+json", "a refusal is no problem:", about);
  const json problem = json::parse(response.body, nullptr, false);
  require(problem.is_object(), "a problem is no object:", about);
  require(problem.value("status", 0U) == response.status, "a problem has another status:", about);
  const std::string code = problem.value("code", "");
  require(!code.empty() && code != "internal", "a problem has no code, or a failure's:", about);
  require(status_of(code) == response.status, "a code has another status:", about);
  require(!problem.value("detail", "").empty(), "a problem has no words:", about);
  for (const json& error : problem.value("errors", json::array())) {
    require(error.contains("pointer") && error.contains("code"), "an error names no field:", about);
  }
}

bool only_asks(const Request& request) {
  const std::string_view path =
      std::string_view(request.target).substr(0, request.target.find('?'));
  return request.method == "GET" || request.method == "HEAD" || path.ends_with("/read") ||
         path.ends_with("/score");
}

void run(std::string_view script) {
  Machine machine;
  Files files;
  for (std::size_t i = 0; i < kMostRequests && !script.empty(); ++i) {
    constexpr std::string_view kBetween = "\n---\n";
    const std::size_t end = std::min(script.find(kBetween), script.size());
    Request request = request_from(script.substr(0, end));
    script.remove_prefix(std::min(end + kBetween.size(), script.size()));
    if (request.method == "RESTART") {
      machine.restart();
      continue;
    }
    if (request.method == "SNAPSHOT") {
      machine.snapshot();
      continue;
    }
    put_file_in(request, files);
    const Response response = machine.ask(request);
    check(request, response);
    const Files before = std::exchange(files, machine.files());
    if (response.status >= 300 || only_asks(request)) {
      require(files == before, "what was refused, or only asked, changed a cache:",
              request.method + " " + request.target + " " + response.body.substr(0, 400));
    }
    if (response.parts) {
      const auto part = Machine::next(response.parts);
      require(!part || part->starts_with("id: ") || part->starts_with(":"),
              "a part is no event:", *part);
    }
  }
  machine.end();
}

}  // namespace
}  // namespace dpcache::server

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  dpcache::server::run({reinterpret_cast<const char*>(data), size});
  return 0;
}
