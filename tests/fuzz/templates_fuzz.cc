// Lines out of a fuzzer's bytes, learned, saved and loaded; and the bytes themselves as a file.
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "dpcache/templates.h"
#include "fuzz/input.h"
#include "hash.h"
#include "text/template_state.h"

namespace {

using namespace dpcache;

// A file that says of itself that it is whole: what is in it must not break anything.
void load_sealed(const std::uint8_t* data, std::size_t size) {
  Templates good;
  good.learn("user alice logged in from 10.0.0.1");
  good.learn("user bob logged in from 10.0.0.2");
  std::vector<std::byte> file = good.save();
  for (std::size_t i = 0; i + 2 < size; i += 3) {
    const std::size_t at = 28 + (data[i] | std::size_t{data[i + 1]} << 8U) % (file.size() - 28);
    file[at] = static_cast<std::byte>(data[i + 2]);
  }
  const std::uint64_t sum = hash64_with_blank(file, 20, 8);
  std::memcpy(file.data() + 20, &sum, sizeof sum);
  Result<Templates> loaded = Templates::load(file);
  if (!loaded) return;
  for (const char* line : {"user carol logged in from 10.0.0.3", "user a", "x"}) {
    loaded->match(line);
    loaded->learn(line);
  }
  for (const TemplateId id : loaded->ids()) loaded->get(id);
  fuzz::require(static_cast<bool>(Templates::load(loaded->save())), "what was saved does not load");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  if (data[0] == 0xFF) {
    load_sealed(data + 1, size - 1);
    return 0;
  }
  TemplateConfig config;
  config.tau = static_cast<float>(data[0] % 6) / 10.0F;
  config.max_templates = data[0] % 7 == 0 ? 3 : 100;
  config.codes = data[0] % 2 == 0 ? Codes::vary : Codes::fixed;
  config.structure = data[0] % 5 == 0 ? Structure::plain : Structure::known;
  Result<Templates> templates = Templates::create(config);
  fuzz::require(static_cast<bool>(templates), "a config was refused");
  Templates::State state(config);
  text::TemplateLexer lexer(state.lex_options);
  std::string text(size - 1, '\0');
  if (size > 1) std::memcpy(text.data(), data + 1, size - 1);
  std::string_view rest = text;
  std::uint64_t lines = 0;
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    text::Prepared prepared;
    state.prepare(line, prepared);
    const auto words = state.words_of(state.read(prepared.text, lexer));
    const text::Nearest found = state.nearest(words);
    const text::Nearest scanned = state.nearest_by_scan(words);
    fuzz::require(found.entry == scanned.entry && found.similarity == scanned.similarity,
                  "the index finds another template:", std::string(line));
    state.learn(prepared, "");
    const Result<Learned> learned = templates->learn(line);
    fuzz::require(static_cast<bool>(learned), "a line was refused");
    fuzz::require(templates->count(learned->id) == learned->lines, "a count is wrong");
    fuzz::require(templates->match(line).has_value(), "a line is not found:", std::string(line));
    fuzz::require(templates->lines() == ++lines, "lines are counted otherwise");
  }
  const std::vector<std::byte> file = templates->save();
  Result<Templates> loaded = Templates::load(file);
  fuzz::require(static_cast<bool>(loaded), "what was saved does not load");
  fuzz::require(loaded->save() == file, "what was loaded is saved as something else");
  for (const TemplateId id : templates->ids()) templates->get(id);
  return 0;
}
