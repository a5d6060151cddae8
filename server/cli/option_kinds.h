// Kinds of options that CLI11 lacks or reads differently: numbers wholly, words from a list.
#ifndef DPCACHE_CLI_OPTION_KINDS_H_
#define DPCACHE_CLI_OPTION_KINDS_H_

#include <CLI/CLI.hpp>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>

#include "cli/failure.h"
#include "cli/numbers.h"
#include "dpcache/config.h"

namespace dpcache::cli {

// How a command's options are added. Messages name an option by its longest name.
class OptionAdder {
  template <class T>
  struct Plain {
    using type = T;
  };
  template <class T>
  struct Plain<std::optional<T>> {
    using type = T;
  };

 public:
  explicit OptionAdder(CLI::App& app) : app_(app) {}

  OptionAdder& group(std::string title) {
    group_ = std::move(title);
    return *this;
  }

  // Hands the option's text to `take`.
  CLI::Option* add(const std::string& names, const std::string& value, const std::string& help,
                   const std::function<void(const std::string&)>& take) {
    return app_.add_option_function<std::string>(names, take, help)
        ->option_text(value)
        ->group(group_);
  }

  template <class T>
  CLI::Option* number(const std::string& names, const char* value, T& to, const std::string& help) {
    return add(names, value, help, [&to, name = shown(names)](const std::string& text) {
      to = parse_number<typename Plain<T>::type>(text, name);
    });
  }

  CLI::Option* duration(const std::string& names, std::optional<std::int64_t>& to,
                        const std::string& help) {
    return add(names, "TIME", help, [&to, name = shown(names)](const std::string& text) {
      to = parse_duration(text, name);
    });
  }

  // Milliseconds since 1970, as far as a memory can hold them.
  CLI::Option* time(const std::string& names, std::optional<std::int64_t>& to,
                    const std::string& help) {
    return add(names, "MS", help, [&to, name = shown(names)](const std::string& text) {
      to = parse_number<std::int64_t>(text, name);
      if (*to < -kMaxInteger || *to > kMaxInteger) {
        throw Failure(Exit::usage, name + ": '" + text + "' is not within 2^53 of 0");
      }
    });
  }

  CLI::Option* text(const std::string& names, const char* value, std::optional<std::string>& to,
                    const std::string& help) {
    return add(names, value, help, [&to, name = shown(names)](const std::string& given) {
      if (given.empty()) throw Failure(Exit::usage, name + ": a value is missing");
      to = given;
    });
  }

  // One of the words, which name the values of an enum.
  template <class T, class E = typename Plain<T>::type>
  CLI::Option* choice(const std::string& names, T& to,
                      std::initializer_list<std::pair<const char*, typename Plain<T>::type>> words,
                      const std::string& help) {
    std::vector<std::pair<std::string, E>> list(words.begin(), words.end());
    std::string all;
    for (const auto& [word, unused] : list) all.append(all.empty() ? "" : "|").append(word);
    return add(names, all, help, [&to, list, all, name = shown(names)](const std::string& text) {
      for (const auto& [word, value] : list) {
        if (word != text) continue;
        to = value;
        return;
      }
      throw Failure(Exit::usage, name + ": '" + text + "' is none of " + all);
    });
  }

  template <class T, class E>
  CLI::Option* flag(const std::string& names, T& to, E value, const std::string& help) {
    return app_
        .add_flag_callback(
            names, [&to, value] { to = value; }, help)
        ->group(group_);
  }

  // May be given more than once.
  CLI::Option* repeated(const std::string& names, const char* value, const std::string& help,
                        const std::function<void(const std::string&)>& take) {
    return app_
        .add_option_function<std::vector<std::string>>(
            names,
            [take](const std::vector<std::string>& all) {
              for (const auto& one : all) take(one);
            },
            help)
        ->expected(1)
        ->allow_extra_args(false)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
        ->option_text(value)
        ->group(group_);
  }

  static std::string shown(const std::string& names) { return names.substr(names.rfind(',') + 1); }

 private:
  CLI::App& app_;
  std::string group_ = "Options";
};

}  // namespace dpcache::cli

#endif  // DPCACHE_CLI_OPTION_KINDS_H_
