// Puts the parts of a server together.
#include "serve/serve.h"

#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <mutex>
#include <stdexcept>
#include <thread>

#include "api/json_writer.h"
#include "dpcache/threads.h"
#include "http/server.h"
#include "serve/page.h"
#include "serve/parts.h"
#include "serve/scoring.h"

namespace dpcache::server {

namespace {

struct Address {
  std::string host;
  std::uint16_t port = 0;
};

Address parse_address(const std::string& listen) {
  const std::size_t colon = listen.rfind(':');
  const std::string wrong = "--listen: '" + listen + "' is not ADDRESS:PORT, e.g. 127.0.0.1:8080";
  if (colon == listen.npos) throw std::runtime_error(wrong);
  Address address;
  address.host = listen.substr(0, colon);
  if (address.host.size() > 1 && address.host.front() == '[' && address.host.back() == ']') {
    address.host = address.host.substr(1, address.host.size() - 2);
  }
  const char* end = listen.data() + listen.size();
  const auto result = std::from_chars(listen.data() + colon + 1, end, address.port);
  if (result.ec != std::errc() || result.ptr != end || address.host.empty()) {
    throw std::runtime_error(wrong);
  }
  return address;
}

std::string read_file(const std::string& path, const char* option) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error(std::string(option) + ": " + path + " cannot be read");
  return {std::istreambuf_iterator<char>(file), {}};
}

std::uint64_t machine_memory() {
  const long pages = sysconf(_SC_PHYS_PAGES);
  const long size = sysconf(_SC_PAGESIZE);
  return pages > 0 && size > 0
             ? static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(size)
             : 0;
}

// Lines of JSON, whole ones, from any thread.
class Journal {
 public:
  Journal(LogLevel level, std::function<void(const std::string&)> say)
      : level_(level), say_(std::move(say)) {}

  void access(std::string_view line) { write(std::string(line)); }
  void info(std::string_view text) {
    if (level_ >= LogLevel::info) write(line("info", text));
  }
  void error(std::string_view text) { write(line("error", text)); }

 private:
  static std::string line(std::string_view level, std::string_view text) {
    std::string out;
    JsonWriter json(out);
    json.begin_object();
    json.name("time").number(App::now());
    json.name("level").text(level);
    json.name("message").text(text);
    json.end_object();
    return out;
  }
  void write(const std::string& line) {
    const std::lock_guard lock(mutex_);
    say_(line);
  }

  LogLevel level_;
  std::function<void(const std::string&)> say_;
  std::mutex mutex_;
};

AppOptions app_options(const ServeOptions& options, Journal& journal) {
  AppOptions app;
  app.max_body = options.max_body;
  app.max_dimension = static_cast<std::uint32_t>(options.max_dimension);
  app.rate = options.rate;
  app.cors = options.cors;
  if (options.token_file) {
    try {
      app.tokens = Tokens::parse(read_file(*options.token_file, "--token-file"));
    } catch (const std::runtime_error& error) {
      throw std::runtime_error("--token-file: " + *options.token_file + ": " + error.what());
    }
  }
  const std::string page = options.page.value_or(find_page());
  if (!page.empty()) app.page = read_page(page);
  if (options.log_level == LogLevel::access) {
    app.access = [&journal](std::string_view line) { journal.access(line); };
  }
  return app;
}

}  // namespace

std::string default_data_folder() {
  const char* data = std::getenv("XDG_DATA_HOME");
  if (data != nullptr && data[0] == '/') return std::string(data) + "/dpcache";
  const char* home = std::getenv("HOME");
  if (home == nullptr || home[0] != '/') {
    throw std::runtime_error("there is no home folder: give --data FOLDER");
  }
  return std::string(home) + "/.local/share/dpcache";
}

bool is_loopback(const std::string& address) {
  return address.starts_with("127.") || address == "::1" || address == "localhost";
}

void serve(const ServeOptions& options, const std::function<void()>& wait_for_stop,
           const std::function<void(const std::string&)>& say,
           const std::function<void(const std::string&)>& ready) {
  const Address address = parse_address(options.listen);
  const bool guarded = options.token_file || options.tls_cert;
  if (!is_loopback(address.host) && !guarded && !options.open) {
    throw std::runtime_error("--listen: " + address.host +
                             " is open to other machines: give --token-file or --tls-cert, or "
                             "--open if everybody may do everything");
  }
  if (options.tls_cert.has_value() != options.tls_key.has_value()) {
    throw std::runtime_error("--tls-cert and --tls-key go together");
  }
  if (options.max_body > kMostBody) throw std::runtime_error("--max-body: at most 256M");
  if (options.max_dimension > UINT32_MAX) {
    throw std::runtime_error("--max-dimension: at most " + std::to_string(UINT32_MAX));
  }
  if (const Status status = use_threads(options.scan_threads); !status) {
    throw std::runtime_error("--scan-threads: " + status.detail);
  }
  Journal journal(options.log_level, say);
  AppOptions of_app = app_options(options, journal);
  ScoringOptions of_scoring;
  of_scoring.choice = options.scorer;
  of_scoring.info = [&journal](const std::string& text) { journal.info(text); };
  of_scoring.error = [&journal](const std::string& text) { journal.error(text); };
  const Scoring scoring(of_scoring);
  of_app.more_metrics = [&scoring](std::string& out) { scoring.print_metrics(out); };

  const std::string data =
      options.data.value_or("").empty() ? default_data_folder() : *options.data;
  std::error_code ignored;
  std::filesystem::create_directories(std::filesystem::path(data).parent_path(), ignored);
  const unsigned threads = options.threads > 0 ? static_cast<unsigned>(options.threads)
                                               : std::max(1U, std::thread::hardware_concurrency());
  ServiceOptions of_service;
  of_service.threads = threads;
  of_service.max_memory = options.max_memory > 0 ? options.max_memory : machine_memory() / 4 * 3;
  of_service.max_caches = options.max_caches;
  of_service.snapshot_interval = options.snapshot_interval;
  of_service.scorer = scoring.scorer();
  of_service.info = [&journal](const std::string& text) { journal.info(text); };
  of_service.error = [&journal](const std::string& text) { journal.error(text); };
  Parts parts(data, std::move(of_service), std::move(of_app));
  journal.info(std::to_string(parts.service.size()) + " caches in " + data);

  HttpOptions http;
  http.address = address.host == "localhost" ? "127.0.0.1" : address.host;
  http.port = address.port;
  http.threads = threads;
  http.max_connections = options.max_connections;
  http.tls_certificate = options.tls_cert.value_or("");
  http.tls_key = options.tls_key.value_or("");
  HttpServer server(http, parts.app);
  const std::string host =
      address.host.find(':') == std::string::npos ? address.host : "[" + address.host + "]";
  ready((options.tls_cert ? "https://" : "http://") + host + ":" + std::to_string(server.port()) +
        "/");
  std::thread stopper([&] {
    wait_for_stop();
    parts.app.stop();
    journal.info("stopping: requests under way are finished, then snapshots are made");
    server.stop(options.patience);
  });
  server.run();
  stopper.join();
  parts.service.stop();
  journal.info("stopped");
}

}  // namespace dpcache::server
