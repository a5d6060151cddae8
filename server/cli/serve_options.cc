// dpcache serve on the command line and in the environment.
#include "cli/serve_options.h"

#include <unistd.h>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>

#include "cli/option_kinds.h"

namespace dpcache::cli {

namespace {

constexpr std::string_view kPrefix = "DPCACHE_SERVE_";

std::string variable_of(std::string option) {
  option.erase(0, option.find_first_not_of('-'));
  std::string name(kPrefix);
  for (const char c : option) {
    name += c == '-' ? '_' : static_cast<char>(c >= 'a' && c <= 'z' ? c - 32 : c);
  }
  return name;
}

// "64MiB", "4G", "1000000".
std::uint64_t parse_bytes(const std::string& text, const std::string& option) {
  const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  const auto number = parse_number<std::uint64_t>(text.substr(0, digits), option);
  std::string unit = text.substr(digits);
  if (unit.ends_with("iB")) unit.resize(unit.size() - 2);
  const std::string units = "KMG";
  const std::size_t power = unit.empty() ? 0 : units.find(unit) + 1;
  if (unit.size() > 1 || (power == 0 && !unit.empty()) || number > UINT64_MAX >> (10 * power)) {
    throw Failure(Exit::usage, option + ": '" + text + "' is not a size, e.g. 64M or 4G");
  }
  return number << (10 * power);
}

}  // namespace

void add_serve_options(CLI::App& app, server::ServeOptions& options) {
  OptionAdder add(app);
  const auto bytes = [&add](const char* name, std::uint64_t& to, const char* help) {
    add.add(name, "SIZE", help,
            [&to, name](const std::string& text) { to = parse_bytes(text, name); });
  };
  const auto duration = [&add](const char* name, std::chrono::milliseconds& to, const char* help) {
    add.add(name, "TIME", help, [&to, name](const std::string& text) {
      to = std::chrono::milliseconds(parse_duration(text, name));
    });
  };
  add.group("Where");
  add.add("--listen", "ADDRESS:PORT", "default 127.0.0.1:8080; port 0: any that is free",
          [&options](const std::string& text) { options.listen = text; });
  add.text("--data", "FOLDER", options.data,
           "log and snapshots; default: $XDG_DATA_HOME/dpcache,\nor ~/.local/share/dpcache");
  add.text("--page", "FOLDER", options.page, "the page at /; default: the one that came along");
  add.number("--threads", "N", options.threads, "default: one for each processor");
  add.number("--scan-threads", "N", options.scan_threads,
             "that search a large cache together; default 1");
  add.group("Who may");
  add.text("--token-file", "FILE", options.token_file,
           "lines of: read|write|admin TOKEN [NAME-PATTERN]");
  add.text("--tls-cert", "FILE", options.tls_cert, "serve HTTPS, with this certificate (PEM)");
  add.text("--tls-key", "FILE", options.tls_key, "and its key");
  add.flag("--open", options.open, true, "serve other machines without token or TLS");
  add.repeated("--cors", "ORIGIN", "let pages of this origin ask; *: all",
               [&options](const std::string& text) { options.cors.push_back(text); });
  add.group("How much");
  bytes("--max-body", options.max_body, "of a request, at most 256M; default 64M");
  bytes("--max-memory", options.max_memory,
        "of all caches; default: three quarters of the machine's");
  add.number("--max-caches", "N", options.max_caches, "default 10000");
  add.number("--max-dimension", "N", options.max_dimension, "default 65536");
  add.number("--max-connections", "N", options.max_connections, "default 16384");
  add.number("--rate", "N", options.rate,
             "requests a second for each token, or address;\ndefault: any");
  add.group("Running");
  duration("--snapshot-interval", options.snapshot_interval, "default 5m");
  duration("--patience", options.patience, "for requests under way, at the end; default 10s");
  add.choice("--scorer", options.scorer,
             {{"auto", server::ScorerChoice::automatic},
              {"cpu", server::ScorerChoice::cpu},
              {"cuda", server::ScorerChoice::cuda}},
             "who compares keys; default auto: a GPU if there is one");
  add.choice("--log-level", options.log_level,
             {{"error", server::LogLevel::error},
              {"info", server::LogLevel::info},
              {"access", server::LogLevel::access}},
             "lines of JSON on standard error; default info");
  for (CLI::Option* option : app.get_options()) {
    const std::string name = option->get_name();
    if (name != "--help") option->envname(variable_of(name));
  }
}

void check_serve_variables(const CLI::App& app) {
  std::set<std::string> known;
  for (const CLI::Option* option : app.get_options()) known.insert(option->get_envname());
  for (char** one = environ; one != nullptr && *one != nullptr; ++one) {
    const std::string_view variable(*one);
    if (!variable.starts_with(kPrefix)) continue;
    const std::string name(variable.substr(0, variable.find('=')));
    if (known.contains(name)) continue;
    throw Failure(Exit::usage, "unknown variable " + name +
                                   " in the environment (dpcache serve --help lists the options)");
  }
}

}  // namespace dpcache::cli
