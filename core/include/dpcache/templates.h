// Templates of log lines: the kinds of line that a program writes, with the parts that vary named.
#ifndef DPCACHE_TEMPLATES_H_
#define DPCACHE_TEMPLATES_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dpcache/error.h"
#include "dpcache/text.h"

namespace dpcache {

// Names a template; from 1 up, never used again.
using TemplateId = std::uint64_t;

// A line joins a template if the words in which they differ are at most this share of the
// template's words: one word of eight, two of sixteen.
inline constexpr float kTemplateTau = 0.125F;

// Whether key=value, JSON and cells (a,b,c) are known for what they are: their values may vary.
enum class Structure : std::uint8_t { known, plain };
// What numbers are that say how something ended (status 404, exit code 1): parameters like others,
// or words, so that 200 and 500 are two templates.
enum class Codes : std::uint8_t { vary, fixed };

struct TemplateConfig {
  float tau = kTemplateTau;    // [0, 0.5]
  Masks masks = Masks::all();  // own patterns too
  Structure structure = Structure::known;
  Codes codes = Codes::vary;
  std::uint32_t max_templates = 10000;  // [1, 1,000,000]; beyond them the rarest is forgotten
  std::uint32_t max_line = 65536;       // bytes of a line that are read: [64, 1,048,576]
  std::uint32_t examples = 3;           // different lines that a template keeps: [1, 16]
  std::uint32_t values = 8;             // of a parameter that are counted one by one: [0, 64]

  bool operator==(const TemplateConfig& other) const noexcept;
};

// A part of a template that varies.
struct Parameter {
  struct Value {
    std::string text;  // bytes as they came; at most 64 of them
    std::uint64_t count = 0;
  };
  std::string name;           // unique in its template: the key in front of it, else what it is
  std::string kind;           // a mask's name; "word", "text" or "list"
  std::vector<Value> values;  // the first different ones that came, in that order
  std::uint64_t others = 0;   // occurrences of other values
};

struct Template {
  TemplateId id = 0;
  std::uint64_t count = 0;            // lines
  std::string text;                   // e.g. "session opened for user <user> by (uid=<uid>)"
  std::vector<Parameter> parameters;  // in their order in the text
  std::vector<std::string> examples;  // the first different lines, cut to 1,024 bytes
  std::string origin;                 // of the first line
};

// What became of a line.
struct Learned {
  TemplateId id = 0;
  std::uint64_t lines = 0;  // of that template, with this one
  float similarity = 0.0F;  // to the template that it joined, (0, 1]; 0: none was near enough
  bool opened = false;      // the template is new
  std::vector<TemplateId> folded;  // that are part of `id` now
  std::vector<TemplateId> evicted;
};

struct TemplateMatch {
  struct Value {
    std::string name;  // of the parameter
    std::string text;
  };
  TemplateId id = 0;
  float similarity = 0.0F;
  std::vector<Value> values;  // of this line, in the template's order
};

// Learns templates from lines, one by one: the rule of the cache over sequences of words. A line's
// novelty is the share of a template's words that it does not have in their places; beyond tau it
// opens a template, else it joins the nearest (of equally near ones the oldest), and the words in
// which they differ become parameters. Words for states and outcomes never do: "started" and
// "paused", "accepted" and "failed" stay apart. Values (numbers, addresses, paths, what stands
// behind = and so on) are no words. Templates that differ in one place only, in four values or
// more, are one with a parameter there.
//
// The answers depend on the lines and the config alone, on every platform (own patterns excepted).
// Memory: at most max_templates templates of up to 16 shapes; a line costs time linear in its
// length, one of a shape not seen before also what the templates that share its rarest words cost.
//
// Thread rule: const calls may run together.
class Templates {
 public:
  Templates();  // the default config
  ~Templates();
  Templates(Templates&&) noexcept;
  Templates& operator=(Templates&&) noexcept;

  // bad_config: a setting is out of its range; the pointer names it.
  static Result<Templates> create(TemplateConfig config);

  // `origin` (where the line stands; 256 bytes of it are kept) is remembered with a template's
  // first line. bad_request: an own mask failed; nothing has changed.
  Result<Learned> learn(std::string_view line, std::string_view origin = {});
  // The template that the line would join, if any. Learns nothing.
  std::optional<TemplateMatch> match(std::string_view line) const;

  std::size_t size() const noexcept;     // templates
  std::uint64_t lines() const noexcept;  // learned, those of forgotten templates too
  TemplateId next_id() const noexcept;   // that the next template gets
  std::vector<TemplateId> ids() const;   // ascending
  // Nothing if there is none with this id (any more).
  std::optional<Template> get(TemplateId id) const;
  // Its count alone; 0 if there is none.
  std::uint64_t count(TemplateId id) const noexcept;
  const TemplateConfig& config() const noexcept;

  // All of it as bytes, own patterns by their names and sources: learning goes on from them as if
  // it had never stopped.
  std::vector<std::byte> save() const;
  // bad_snapshot: the bytes are damaged, cut, or something else. encoder_mismatch: made with other
  // own patterns. Reads data alone; allocates in proportion to the bytes.
  static Result<Templates> load(std::span<const std::byte> bytes, std::vector<Pattern> own = {});

  // The own patterns, without their functions, of what was saved. bad_snapshot as above.
  static Result<std::vector<Pattern>> patterns_of(std::span<const std::byte> bytes);

  struct State;  // core/src/text/template_state.h

 private:
  explicit Templates(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace dpcache

#endif  // DPCACHE_TEMPLATES_H_
