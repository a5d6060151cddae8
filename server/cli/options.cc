// The command line, by CLI11.
#include "cli/options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <span>
#include <string_view>

#include "cli/advise_options.h"
#include "cli/distinct_options.h"
#include "cli/exchange_options.h"
#include "cli/failure.h"
#include "cli/help.h"
#include "cli/option_kinds.h"
#include "cli/serve_options.h"
#include "cli/train_options.h"
#include "dpcache/version.h"

namespace dpcache::cli {
namespace {

// The arguments in front of "--" are for CLI11; what stands behind is text, whatever it looks like.
struct Arguments {
  std::vector<std::string> parsed;
  std::vector<std::string> plain;
};

Arguments split(std::span<const char* const> arguments) {
  Arguments result;
  bool plain = false;
  for (const std::string_view argument : arguments) {
    if (!plain && argument == "--") {
      plain = true;
    } else {
      (plain ? result.plain : result.parsed).emplace_back(argument);
    }
  }
  return result;
}

// FILEs and TEXTs are what CLI11 has left over: as positionals of its own it would take "[a,b]"
// apart.
std::vector<std::string> positionals(const CLI::App& app, const Arguments& arguments) {
  auto rest = app.remaining();
  for (const auto& one : rest) {
    if (one.size() > 1 && one[0] == '-') {
      throw Failure(Exit::usage,
                    "unknown option " + one + " (dpcache " + app.get_name() +
                        " --help lists them; '--' goes before names that begin with -)");
    }
  }
  rest.insert(rest.end(), arguments.plain.begin(), arguments.plain.end());
  return rest;
}

std::string memory_argument(const std::vector<std::string>& rest, const char* command) {
  if (rest.size() == 1 && !rest[0].empty()) return rest[0];
  throw Failure(Exit::usage, std::string(command) + " needs one memory FILE");
}

// CLI11's words as one line of ours. Its messages begin with the option's name and a colon.
[[noreturn]] void refuse(const CLI::ParseError& error) {
  std::string message = error.what();
  message.resize(std::min(message.find('\n'), message.size()));
  const auto option = message.substr(0, message.find(':'));
  if (message.find(" missing") != std::string::npos) {
    message = option + ": a value is missing";
  } else if (message.find("received") != std::string::npos) {
    message = option + ": can be given only once";
  }
  throw Failure(Exit::usage, message + " (dpcache COMMAND --help tells more)");
}

class Parser {
 public:
  Parser() {
    app_.name("dpcache");
    app_.description("dpcache keeps distinct items, not every item.");
    app_.set_version_flag("--version", "dpcache " DPCACHE_VERSION_STRING, "show the version");
    app_.allow_extras();
    set_help(app_, "dpcache COMMAND [OPTION]... [ARGUMENT]...", kMainExamples);
    distinct_app_ =
        command("distinct", "Prints the distinct items of text lines or vectors.",
                "dpcache distinct [OPTION]... [FILE]...   (no FILE, or -: standard input)",
                kDistinctExamples);
    query_app_ = command("query", "Tells whether a memory knows a text.",
                         "dpcache query --memory FILE [OPTION]... [TEXT]...   (no TEXT: lines of\n"
                         "       standard input)",
                         kQueryExamples);
    train_app_ = command("train", "Learns from labelled pairs what counts as the same.",
                         "dpcache train --pairs FILE [OPTION]...   (FILE -: standard input)",
                         kTrainExamples);
    advise_app_ = command("advise", "Looks where in your data the same ends.",
                          "dpcache advise [OPTION]... [FILE]...   (no FILE, or -: standard input)",
                          kAdviseExamples);
    add_advise_options(*advise_app_, advise_);
    import_app_ =
        command("import", "Takes items or slots of a file into a memory.",
                "dpcache import --memory FILE [OPTION]... FILE   (FILE -: standard input)",
                kImportExamples);
    add_import_options(*import_app_, import_, import_memory_);
    export_app_ = command("export", "Writes the slots of a memory: JSON Lines or .npy.",
                          "dpcache export [OPTION]... MEMORY", kExportExamples);
    add_export_options(*export_app_, export_);
    inspect_app_ = command("inspect", "Shows what is in a memory file.",
                           "dpcache inspect [OPTION]... FILE", kInspectExamples);
    explain_app_ = command("explain", "Tells what a slot has absorbed, and why.",
                           "dpcache explain [OPTION]... FILE SLOT", kExplainExamples);
    undo_app_ = command("undo", "Undoes a merge: a member leaves its slot.",
                        "dpcache undo [OPTION]... FILE SLOT MEMBER", kUndoExamples);
    reviews_app_ = command("reviews", "Lists pairs that may be one, and takes answers.",
                           "dpcache reviews [OPTION]... FILE", kReviewsExamples);
    verify_app_ = command("verify", "Checks that memory files are whole.", "dpcache verify FILE...",
                          kVerifyExamples);
    serve_app_ = command("serve", "Serves caches over HTTP, and the page at /.",
                         "dpcache serve [OPTION]...", kServeExamples);
    add_serve_options(*serve_app_, serve_);
    add_distinct_options(*distinct_app_, distinct_);
    add_query_options();
    add_train_options(*train_app_, train_);
    OptionAdder inspect(*inspect_app_);
    inspect.number("--top", "N", inspect_.top, "show the N slots of highest count; default 10");
    inspect.flag("--json", inspect_.format, Format::json, "one JSON object, with all settings");
    add_merge_options();
    // Last, as it is listed where it is added.
    for (CLI::App* app : app_.get_subcommands([](CLI::App*) { return true; })) {
      app->set_help_flag("-h,--help", "show this help")->group("Options");
    }
    app_.set_help_flag("-h,--help", "show this help")->group("Options");
  }

  Command parse(std::span<const char* const> given) {
    const auto arguments = split(given);
    try {
      app_.parse(std::vector<std::string>(arguments.parsed.rbegin(), arguments.parsed.rend()));
    } catch (const CLI::CallForHelp&) {
      return Print{app_.help()};
    } catch (const CLI::CallForVersion& version) {
      return Print{std::string(version.what()) + '\n'};
    } catch (const CLI::ParseError& error) {
      refuse(error);
    }
    if (distinct_app_->parsed()) return finish_distinct(arguments);
    if (query_app_->parsed()) return finish_query(arguments);
    if (train_app_->parsed()) {
      const auto rest = positionals(*train_app_, arguments);
      if (!rest.empty()) {
        throw Failure(Exit::usage,
                      "train takes options only, not '" + rest[0] + "' (--pairs FILE)");
      }
      check_options(train_);
      return train_;
    }
    if (advise_app_->parsed()) {
      advise_.files = positionals(*advise_app_, arguments);
      if (advise_.files.empty()) advise_.files.emplace_back("-");
      check_options(advise_);
      return advise_;
    }
    if (import_app_->parsed()) {
      const auto rest = positionals(*import_app_, arguments);
      if (!import_memory_) throw Failure(Exit::usage, "import needs --memory FILE");
      if (rest.size() != 1) throw Failure(Exit::usage, "import needs one FILE to read");
      import_.memory = *import_memory_;
      import_.file = rest[0];
      check_options(import_);
      return import_;
    }
    if (export_app_->parsed()) {
      export_.memory = memory_argument(positionals(*export_app_, arguments), "export");
      check_options(export_);
      return export_;
    }
    if (inspect_app_->parsed()) {
      inspect_.memory = memory_argument(positionals(*inspect_app_, arguments), "inspect");
      return inspect_;
    }
    if (explain_app_->parsed()) {
      const auto rest = positionals(*explain_app_, arguments);
      if (rest.size() != 2) throw Failure(Exit::usage, "explain needs a memory FILE and a SLOT");
      explain_.memory = rest[0];
      explain_.slot = parse_number<SlotId>(rest[1], "SLOT");
      return explain_;
    }
    if (undo_app_->parsed()) {
      const auto rest = positionals(*undo_app_, arguments);
      if (rest.size() != 3) {
        throw Failure(Exit::usage, "undo needs a memory FILE, a SLOT and a MEMBER");
      }
      undo_.memory = rest[0];
      undo_.slot = parse_number<SlotId>(rest[1], "SLOT");
      undo_.member = rest[2];
      return undo_;
    }
    if (reviews_app_->parsed()) {
      reviews_.memory = memory_argument(positionals(*reviews_app_, arguments), "reviews");
      return reviews_;
    }
    if (verify_app_->parsed()) {
      verify_.memories = positionals(*verify_app_, arguments);
      if (verify_.memories.empty()) throw Failure(Exit::usage, "verify needs a memory FILE");
      return verify_;
    }
    if (serve_app_->parsed()) {
      const auto rest = positionals(*serve_app_, arguments);
      if (!rest.empty())
        throw Failure(Exit::usage, "serve takes options only, not '" + rest[0] + "'");
      check_serve_variables(*serve_app_);
      return serve_;
    }
    const auto rest = app_.remaining();
    throw Failure(Exit::usage, rest.empty() ? "a command is missing (dpcache --help lists them)"
                                            : "unknown command '" + rest.front() +
                                                  "' (dpcache --help lists them)");
  }

 private:
  CLI::App* command(const char* name, const char* description, const char* usage,
                    const char* examples) {
    auto* app = app_.add_subcommand(name, description)->allow_extras()->group("Commands");
    set_help(*app, usage, examples);
    return app;
  }

  void add_merge_options() {
    OptionAdder explain(*explain_app_);
    explain.flag("--json", explain_.format, Format::json, "one JSON object");
    OptionAdder undo(*undo_app_);
    undo.flag("--json", undo_.format, Format::json, "one JSON object");
    undo.text("--line", "TEXT", undo_.line,
              "the member's line once more, which --audit ids\nhas not kept");
    undo.time("--time", undo_.time, "the time of the change, instead of the clock");
    OptionAdder reviews(*reviews_app_);
    const auto answer = [this](Judgement verdict, const char* option) {
      return [this, verdict, option](const std::string& text) {
        const auto comma = std::min(text.find(','), text.size());
        const auto second = comma == text.size() ? std::string() : text.substr(comma + 1);
        reviews_.answers.push_back({verdict, parse_number<SlotId>(text.substr(0, comma), option),
                                    parse_number<SlotId>(second, option)});
      };
    };
    reviews.repeated("--same", "SLOT,OTHER", "the two are one: the newer joins the older",
                     answer(Judgement::same, "--same"));
    reviews.repeated("--different", "SLOT,OTHER", "the two are never merged",
                     answer(Judgement::different, "--different"));
    reviews.repeated("--unknown", "SLOT,OTHER", "take the pair off the list",
                     answer(Judgement::unknown, "--unknown"));
    reviews.flag("--json", reviews_.format, Format::json, "a JSON object for each pair");
    reviews.time("--time", reviews_.time, "the time of the answers, instead of the clock");
  }

  void add_query_options() {
    OptionAdder add(*query_app_);
    add.text("--memory", "FILE", query_memory_, "the memory to ask; required");
    add.number("-k,--k", "N", query_.k, "list the N most similar slots; default 5");
    add.flag("--json", query_.format, Format::json, "a JSON object for each answer");
    add.text("--vector", "FILE", query_.vectors, "ask for each row of a .npy file instead");
    add.text("--scale", "X", query_.scale, "int8 times X, a number or a .npy file");
    add.text("--encoder", "NAME", query_.made_by, "what made the vectors");
    add.repeated("--pattern", "NAME=REGEX", "an own mask, where the memory does not name it",
                 [this](const auto& text) { query_.own.push_back(parse_own_mask(text)); });
    add.time("--time", query_.time, "ask as of then, instead of now");
  }

  Command finish_distinct(const Arguments& arguments) {
    distinct_.files = positionals(*distinct_app_, arguments);
    if (distinct_.files.empty()) distinct_.files.emplace_back("-");
    if (distinct_.at_end == AtEnd::follow && distinct_.stream == Stream::nothing) {
      distinct_.stream = Stream::fresh;
    }
    check_options(distinct_);
    return distinct_;
  }

  Command finish_query(const Arguments& arguments) {
    query_.texts = positionals(*query_app_, arguments);
    if (!query_memory_) throw Failure(Exit::usage, "query needs --memory FILE");
    query_.memory = *query_memory_;
    if (query_.vectors && !query_.texts.empty()) {
      throw Failure(Exit::usage, "query takes TEXT or --vector FILE, not both");
    }
    if (query_.scale && !query_.vectors) {
      throw Failure(Exit::usage, "--scale is for vectors: it needs --vector FILE");
    }
    return query_;
  }

  CLI::App app_;
  CLI::App* distinct_app_ = nullptr;
  CLI::App* query_app_ = nullptr;
  CLI::App* train_app_ = nullptr;
  CLI::App* advise_app_ = nullptr;
  CLI::App* import_app_ = nullptr;
  CLI::App* export_app_ = nullptr;
  CLI::App* inspect_app_ = nullptr;
  CLI::App* explain_app_ = nullptr;
  CLI::App* undo_app_ = nullptr;
  CLI::App* reviews_app_ = nullptr;
  CLI::App* verify_app_ = nullptr;
  CLI::App* serve_app_ = nullptr;
  DistinctOptions distinct_;
  QueryCommandOptions query_;
  std::optional<std::string> query_memory_;
  TrainOptions train_;
  AdviseOptions advise_;
  ImportOptions import_;
  std::optional<std::string> import_memory_;
  ExportOptions export_;
  InspectOptions inspect_;
  ExplainOptions explain_;
  UndoOptions undo_;
  ReviewsOptions reviews_;
  VerifyOptions verify_;
  server::ServeOptions serve_;
};

}  // namespace

Command parse_command_line(int argc, const char* const* argv) {
  const std::span<const char* const> all(argv, static_cast<std::size_t>(std::max(argc, 1)));
  return Parser().parse(all.subspan(1));
}

}  // namespace dpcache::cli
