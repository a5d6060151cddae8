// The help screens. dpcache.1 says the same at length; a test holds the two together.
#include "cli/help.h"

#include <memory>
#include <sstream>
#include <utility>

namespace dpcache::cli {
namespace {

class Screen : public CLI::Formatter {
 public:
  explicit Screen(std::string usage) : usage_(std::move(usage)) { column_width(28); }

  std::string make_help(const CLI::App* app, std::string /*name*/,
                        CLI::AppFormatMode mode) const override {
    std::ostringstream out;
    out << app->get_description() << "\n\nUsage: " << usage_ << '\n'
        << make_subcommands(app, mode) << make_groups(app, mode) << '\n'
        << app->get_footer() << '\n';
    // CLI11 leaves two blank lines between groups.
    return CLI::detail::find_and_replace(out.str(), "\n\n\n", "\n\n");
  }

  std::string make_option_opts(const CLI::Option* option) const override {
    return option->get_option_text().empty() ? "" : " " + option->get_option_text();
  }

 private:
  std::string usage_;
};

}  // namespace

const char* const kMainExamples = R"(Examples:
  dpcache distinct app.log
          the kinds of line in a log, the most frequent first
  dpcache distinct --memory m.dpc --new-only app.log
          what no earlier run has seen
  dpcache query --memory m.dpc 'disk sda1 is full'
          is this known?
  dpcache COMMAND --help
          options and more examples

Exit codes: 0 done, 1 no (query: unknown; verify: damaged), 2 wrong usage,
3 input, 4 memory file, 5 output, 6 out of memory. The manual: man dpcache)";

const char* const kDistinctExamples = R"(Examples:
  dpcache distinct app.log
  zcat -f app.log* | dpcache distinct --top 20
  dpcache distinct --memory m.dpc --new-only today.log
  dpcache distinct --follow --memory m.dpc /var/log/syslog
  dpcache distinct --assign app.log | awk -F'\t' '$1 == 7'
  dpcache distinct --json --order novelty app.log
  dpcache distinct --mask number,ip --pattern 'user=u_[a-z]+' app.log
  dpcache distinct --mask none --tau 0.1 titles.txt
  dpcache distinct --templates app.log
  dpcache distinct --templates --json app.log | jq .parameters
  dpcache distinct --templates --memory t.dpt --new-only today.log
  dpcache distinct --budget adaptive --m0 100 --beta 400 app.log
  dpcache distinct --tau 0.2 --text titles.txt vectors.npy

A line prints as COUNT, LINE (where it stood first) and an example, separated
by tabs. LINE is FILE:LINE with several FILEs or a memory. With --templates the
template stands in front of the example: session opened for user <user>)";

const char* const kQueryExamples = R"(Examples:
  dpcache query --memory m.dpc 'connection to 10.0.0.7 refused'
  dpcache query --memory m.dpc --json --k 1 < candidates.txt
  dpcache query --memory v.dpc --vector question.npy

The first line of an answer is 'known' or 'unknown', the novelty and the
threshold; then one line a slot: SIMILARITY, WEIGHT, COUNT, SLOT and an example,
separated by tabs. Exit code 1 if anything was unknown.)";

const char* const kTrainExamples = R"(Examples:
  dpcache train --pairs pairs.tsv
  dpcache train --pairs pairs.tsv --max-false-merge 0.01 --out gate.json
  dpcache distinct --gate gate.json app.log
  dpcache train --pairs corrections.tsv --start gate.json --out gate.json
  dpcache train --items new.tsv --reference known.tsv --max-false-merge 0.01
  dpcache train --vectors-a a.npy --vectors-b b.npy --labels labels.tsv
  curl -X PUT localhost:8080/v1/caches/demo --data-binary @gate.json \
       -H 'content-type: application/json'

A table is text with tabs, may be gzip, and names its columns in its first line:
  label	text_a	text_b
  1	How do I reset my password?	I forgot my password
  0	How do I reset my password?	How do I reset my router?
Below the outcome stands the curve: what each tau would do with the examples.
Exit code 1 if there is no such gate or tau, with the reason; nothing is written
then.)";

const char* const kAdviseExamples = R"(Examples:
  dpcache advise app.log
  dpcache advise --pairs pairs.tsv titles.txt
  dpcache advise --labels intents.txt questions.txt
  dpcache advise --tau 0.12 --json vectors.npy | jq .tau
  dpcache advise --pairs rows.tsv --encoder my-model-3 vectors.npy
  dpcache advise --out tau.json app.log && dpcache distinct --gate tau.json app.log

Pairs are a table with tabs whose first line names its columns: label, text_a
and text_b, or label, row_a and row_b for .npy; label is 1 for the same, 0 for
different. Labels are a line for each item. Without either, a valley among the
novelties is all the evidence there is. Exit code 1 if there is no tau to
suggest, with the reason.)";

const char* const kImportExamples = R"(Examples:
  dpcache import --memory m.dpc items.jsonl
  dpcache import --memory m.dpc --skip-bad items.jsonl.gz
  dpcache import --memory v.dpc --text titles.txt --encoder e5 titles.npy
  dpcache import --memory v.dpc --tensor embeddings model.safetensors
  dpcache import --memory both.dpc --apart other.dpc
  ssh host dpcache export m.dpc | dpcache import --memory copy.dpc -

A line of JSON is an item: {"key": [0.1, 0.9], "payload": {"id": 7}}, with text
instead of key for the built-in encoder, and value, payload or payload_base64,
exact_key or exact_keys, time, ttl_ms and encoder if wanted. A server's slots
are such lines too. An import that was stopped goes on where it was.)";

const char* const kExportExamples = R"(Examples:
  dpcache export m.dpc > slots.jsonl
  dpcache export --no-keys m.dpc | jq -r .payload.text
  dpcache export --base64 m.dpc | gzip > slots.jsonl.gz
  dpcache export --npy keys.npy --out texts.txt m.dpc

A slot is a line: id, key, value, payload, exact_keys, usage, count, first_time,
last_time, expires, encoder. The memory file itself is safetensors: its tensor
'keys' and the others can be read as they are.)";

const char* const kInspectExamples = R"(Examples:
  dpcache inspect m.dpc
  dpcache inspect --top 100 m.dpc
  dpcache inspect --json m.dpc | jq .stats.slots)";

const char* const kExplainExamples = R"(Examples:
  dpcache distinct --memory m.dpc --audit full app.log
  dpcache explain m.dpc 3
  dpcache explain --json m.dpc 3 | jq '.members[] | .text'

The first line is the slot: 'slot', SLOT, COUNT, the threshold of now and an
example. Then its members: 'opened' or 'merged', MEMBER, SIMILARITY, THRESHOLD,
the guards that kept it from nearer slots, its id and text. Then what it must
not be merged with ('apart') and may be one with ('review').)";

const char* const kUndoExamples = R"(Examples:
  dpcache undo m.dpc 3 17
  dpcache undo m.dpc 3 app.log:1204
  dpcache undo --line 'disk sda1 has failed' m.dpc 3 app.log:1204

MEMBER is an id or a number, as explain prints them. The member opens a slot of
its own, and the two are never merged again.)";

const char* const kReviewsExamples = R"(Examples:
  dpcache distinct --memory m.dpc --tau 0.2 --tau-merge 0.1 app.log
  dpcache reviews m.dpc
  dpcache reviews --same 8,3 --different 9,3 m.dpc

A pair prints as SLOT, OTHER, SIMILARITY and an example of each. What is left
after the answers is listed.)";

const char* const kVerifyExamples = R"(Examples:
  dpcache verify m.dpc && cp m.dpc backup/
  dpcache verify backup/*.dpc

Exit code 0 if every FILE is whole, 1 if one is damaged.)";

const char* const kServeExamples = R"(Examples:
  dpcache serve
  curl -X PUT localhost:8080/v1/caches/demo -d '{"text": true}' \
       -H 'content-type: application/json'
  dpcache serve --listen 0.0.0.0:8080 --token-file tokens --data /var/lib/dpcache

Each option is an environment variable too: --max-body is DPCACHE_SERVE_MAX_BODY.
SIGTERM and Ctrl-C end it: what is under way is finished, nothing is lost.)";

void set_help(CLI::App& app, std::string usage, std::string examples) {
  app.formatter(std::make_shared<Screen>(std::move(usage)));
  app.footer(std::move(examples));
}

}  // namespace dpcache::cli
