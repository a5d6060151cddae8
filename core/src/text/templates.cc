// The public face of templates: settings, own masks, and templates as data.
#include "dpcache/templates.h"

#include <algorithm>
#include <utility>

#include "text/template_state.h"

namespace dpcache {

using text::Display;
using text::Entry;
using text::Item;
using text::Line;
using text::Nearest;
using text::Origin;
using text::Prepared;
using text::Token;
using text::TokenKind;

namespace text {

std::string_view Prepared::original(std::size_t begin, std::size_t end) const {
  if (origins.empty()) return text.substr(begin, end - begin);
  const auto place = [this](std::size_t at, std::size_t Origin::*inside) {
    std::size_t moved = at;
    for (const Origin& origin : origins) {
      if (origin.begin >= at) break;
      moved = at < origin.end ? origin.*inside : origin.to + (at - origin.end);
    }
    if (moved == at && inside == &Origin::from) {
      for (const Origin& origin : origins) {
        if (origin.begin == at) return origin.from;
      }
    }
    return moved;
  };
  const std::size_t from = place(begin, &Origin::from);
  const std::size_t to = std::max(from, place(end, &Origin::to));
  return line.substr(from, to - from);
}

}  // namespace text

namespace {

Status bad_config(std::string pointer, std::string detail) {
  return {Error::bad_config, 0, std::move(pointer), std::move(detail)};
}

Status check(const TemplateConfig& config) {
  if (!(config.tau >= 0.0F && config.tau <= 0.5F)) {
    return bad_config("/tau", "tau must be in [0, 0.5]");
  }
  if (config.max_templates < 1 || config.max_templates > 1000000) {
    return bad_config("/max_templates", "max_templates must be in [1, 1000000]");
  }
  if (config.max_line < 64 || config.max_line > (1U << 20U)) {
    return bad_config("/max_line", "max_line must be in [64, 1048576]");
  }
  if (config.examples < 1 || config.examples > 16) {
    return bad_config("/examples", "examples must be in [1, 16]");
  }
  if (config.values > 64) return bad_config("/values", "values must be in [0, 64]");
  if (config.masks.own.size() > 100) {
    return bad_config("/masks/own", "there can be 100 own masks");
  }
  // The encoder knows what names and functions masks may have.
  EncoderConfig encoder;
  encoder.masks = config.masks;
  return Encoder::create(std::move(encoder)).status;
}

}  // namespace

bool TemplateConfig::operator==(const TemplateConfig& other) const noexcept {
  const auto same_pattern = [](const Pattern& a, const Pattern& b) {
    return a.name == b.name && a.source == b.source;
  };
  return tau == other.tau && masks.names() == other.masks.names() &&
         std::equal(masks.own.begin(), masks.own.end(), other.masks.own.begin(),
                    other.masks.own.end(), same_pattern) &&
         structure == other.structure && codes == other.codes &&
         max_templates == other.max_templates && max_line == other.max_line &&
         examples == other.examples && values == other.values;
}

Templates::Templates() : state_(std::make_unique<State>(TemplateConfig{})) {}
Templates::Templates(std::unique_ptr<State> state) : state_(std::move(state)) {}
Templates::~Templates() = default;
Templates::Templates(Templates&&) noexcept = default;
Templates& Templates::operator=(Templates&&) noexcept = default;

Result<Templates> Templates::create(TemplateConfig config) {
  if (Status status = check(config); !status) return status;
  return Templates(std::make_unique<State>(std::move(config)));
}

// Replaces the matches of own masks by their placeholders: the first match, then the next behind
// it; where two begin at one place, the mask that comes first wins.
Status Templates::State::prepare(std::string_view line, Prepared& prepared) const {
  line = line.substr(0, config.max_line);
  prepared.line = prepared.text = line;
  const std::vector<Pattern>& own = config.masks.own;
  if (own.empty()) return {};
  std::size_t at = 0;
  std::vector<Range> next(own.size());
  std::vector<bool> known(own.size(), false);
  for (;;) {
    const Pattern* best = nullptr;
    Range match{line.size(), line.size()};
    for (std::size_t i = 0; i < own.size(); ++i) {
      if (!known[i] || (next[i].begin < next[i].end && next[i].begin < at)) {
        const std::optional<Range> found = own[i].find(line, at);
        if (!found) return {Error::bad_request, 0, "/text", "an own mask failed on this text"};
        next[i] = *found;
        known[i] = true;
      }
      const bool usable =
          next[i].begin >= at && next[i].begin < next[i].end && next[i].end <= line.size();
      if (!usable) {
        next[i] = {};
      } else if (best == nullptr || next[i].begin < match.begin) {
        best = &own[i];
        match = next[i];
      }
    }
    prepared.buffer.append(line.substr(at, match.begin - at));
    if (best == nullptr) break;
    Origin origin;
    origin.begin = prepared.buffer.size();
    prepared.buffer.append("<").append(best->name).append(">");
    origin.end = prepared.buffer.size();
    origin.from = match.begin;
    origin.to = match.end;
    prepared.origins.push_back(origin);
    at = match.end;
  }
  prepared.text = prepared.buffer;
  return {};
}

Result<Learned> Templates::learn(std::string_view line, std::string_view origin) {
  Prepared prepared;
  if (Status status = state_->prepare(line, prepared); !status) return status;
  return state_->learn(prepared, origin);
}

std::optional<TemplateMatch> Templates::match(std::string_view line) const {
  Prepared prepared;
  if (!state_->prepare(line, prepared)) return std::nullopt;
  text::TemplateLexer lexer(state_->lex_options);
  Line read = state_->read(prepared.text, lexer);
  std::vector<Token> tokens;  // of the line with a list
  const Entry* entry = nullptr;
  TemplateMatch match;
  std::vector<bool> is_word;
  if (const text::Shape* shape = state_->shape_of(read.key); shape != nullptr) {
    entry = shape->owner;
    for (const text::Element& element : shape->elements) is_word.push_back(element.word >= 0);
    match.similarity = 1.0F;
  } else {
    const Nearest nearest = state_->nearest(state_->words_of(read));
    if (nearest.entry == nullptr) return std::nullopt;
    entry = nearest.entry;
    match.similarity = nearest.similarity;
    const State::ListTokens list = State::list_tokens(read, nearest);
    if (list.count != 0) read = State::with_list(read, list, tokens);
    for (const Token& token : read.tokens) is_word.push_back(token.kind != TokenKind::loose);
  }
  match.id = entry->id;

  const Display display = text::display_of(*entry, state_->config.values);
  const auto put = [&](const Item& item, std::size_t begin, std::size_t end) {
    match.values.push_back({item.name, std::string(prepared.original(begin, end))});
  };
  const auto put_token = [&](const Item& item, const Token& token) {
    if (!item.parameter) return;
    std::size_t begin = token.begin;
    std::size_t end = token.end;
    const text::Element& element = item.element;
    const bool ends = element.word >= 0 || (!element.varies && element.mask == token.mask);
    if (ends && std::size_t{element.prefix} + element.suffix <= end - begin) {
      begin += element.prefix;
      end -= element.suffix;
    }
    put(item, begin, end);
  };
  std::size_t at = 0;
  for (std::size_t gap = 0; gap < display.gaps.size(); ++gap) {
    const Display::Gap& plan = display.gaps[gap];
    std::size_t end = at;
    while (end < read.tokens.size() && !is_word[end]) ++end;
    const std::size_t size = end - at;
    const std::size_t before = std::min(plan.before, size);
    const std::size_t after = std::min(plan.after, size - before);
    for (std::size_t i = 0; i < before; ++i)
      put_token(display.items[plan.first + i], read.tokens[at + i]);
    if (plan.rest && size > before + after) {
      put(display.items[plan.first + plan.before], read.tokens[at + before].begin,
          read.tokens[end - after - 1].end);
    }
    for (std::size_t i = 0; i < after; ++i) {
      put_token(display.items[plan.first + plan.before + 1 + i], read.tokens[end - after + i]);
    }
    at = end;
    if (gap < display.word_items.size() && at < read.tokens.size()) {
      put_token(display.items[display.word_items[gap]], read.tokens[at]);
      ++at;
    }
  }
  return match;
}

std::size_t Templates::size() const noexcept {
  return state_->entries.size();
}
std::uint64_t Templates::lines() const noexcept {
  return state_->lines;
}
TemplateId Templates::next_id() const noexcept {
  return state_->next_id;
}
const TemplateConfig& Templates::config() const noexcept {
  return state_->config;
}

std::vector<TemplateId> Templates::ids() const {
  std::vector<TemplateId> ids;
  for (const auto& entry : state_->entries) ids.push_back(entry->id);
  return ids;
}

std::uint64_t Templates::count(TemplateId id) const noexcept {
  const Entry* entry = state_->find(id);
  return entry == nullptr ? 0 : entry->count;
}

std::optional<Template> Templates::get(TemplateId id) const {
  const Entry* entry = state_->find(id);
  if (entry == nullptr) return std::nullopt;
  const Display display = text::display_of(*entry, state_->config.values);
  Template out;
  out.id = entry->id;
  out.count = entry->count;
  out.text = text::text_of(display);
  for (const Item& item : display.items) {
    if (!item.parameter) continue;
    Parameter parameter;
    parameter.name = item.name;
    parameter.kind = item.kind;
    for (const text::ValueCount& value : item.element.values) {
      parameter.values.push_back({value.text, value.count});
    }
    parameter.others = item.element.others;
    out.parameters.push_back(std::move(parameter));
  }
  out.examples = entry->examples;
  out.origin = entry->origin;
  return out;
}

}  // namespace dpcache
