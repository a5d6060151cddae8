// How a template is shown: its shapes laid over each other, and its parameters named.
#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "text/template_state.h"
#include "text/template_words.h"

namespace dpcache::text {

void merge_elements(Element& into, std::uint64_t count, const Element& from,
                    std::uint64_t from_count, std::size_t limit);

namespace {

// The loose elements of a shape between two of its words.
struct Run {
  const Element* begin = nullptr;
  std::size_t size = 0;
};

std::vector<Run> gaps_of(const Shape& shape, std::size_t words) {
  std::vector<Run> gaps(words + 1);
  std::size_t gap = 0;
  for (const Element& element : shape.elements) {
    if (element.word >= 0) {
      ++gap;
    } else {
      if (gaps[gap].size == 0) gaps[gap].begin = &element;
      ++gaps[gap].size;
    }
  }
  return gaps;
}

const Element* word_of(const Shape& shape, std::size_t word) {
  for (const Element& element : shape.elements) {
    if (element.word == static_cast<std::int32_t>(word)) return &element;
  }
  return nullptr;
}

bool same_place(const Element& a, const Element& b) {
  return a.before_hash == b.before_hash;
}

std::string lower(std::string_view word) {
  std::string out(word);
  std::transform(out.begin(), out.end(), out.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return out;
}

// A parameter's name out of what stands in front of it: uid=, "uid":, user.
std::string key_in_front(const std::vector<Item>& items, const Element& element) {
  const std::string_view before = element.before;
  if (items.empty() || items.back().parameter || items.back().element.word < 0) return "";
  const std::string_view key = items.back().element.form;
  if (key.empty() || key.size() > 40) return "";
  std::string solid;
  for (const char c : before) {
    if (c != ' ' && c != '"' && c != '\'' && c != '[' && c != '(' && c != '{') solid.push_back(c);
  }
  const bool quoted = before.find('"') != std::string_view::npos;
  const bool compact = before == ":" && element.prefix == 0;
  if (solid == "=" || (solid == ":" && (quoted || compact))) return std::string(key);
  if (before == " " && (word_bits(token_hash(key)) & (kNamingWord | kCodeWord)) != 0) {
    return lower(key);
  }
  return "";
}

class Builder {
 public:
  Builder(const Entry& entry, std::size_t limit) : entry_(entry), limit_(limit) {}

  Display build() {
    const std::size_t words = entry_.words.size();
    for (const auto& shape : entry_.shapes) gaps_.push_back(gaps_of(*shape, words));
    const bool wordless =
        words == 1 && !entry_.shapes.empty() && word_of(*entry_.shapes.front(), 0) == nullptr;
    for (std::size_t gap = 0; gap <= words; ++gap) {
      add_gap(gap);
      if (gap < words && !wordless) add_word(gap);
    }
    if (!entry_.shapes.empty()) display_.tail = entry_.shapes.front()->tail;
    return std::move(display_);
  }

 private:
  void add_gap(std::size_t gap) {
    Display::Gap plan;
    plan.first = display_.items.size();
    std::size_t least = SIZE_MAX;
    std::size_t most = 0;
    bool aligned = true;
    for (const auto& gaps : gaps_) {
      const Run& run = gaps[gap];
      const Run& first = gaps_.front()[gap];
      least = std::min(least, run.size);
      most = std::max(most, run.size);
      aligned = aligned && run.size == first.size;
      for (std::size_t i = 0; aligned && i < run.size; ++i) {
        aligned = same_place(run.begin[i], first.begin[i]);
      }
    }
    if (gaps_.empty()) least = 0;
    if (most == 0) {
      display_.gaps.push_back(plan);
      return;
    }
    plan.before = least;
    if (!aligned || entry_.shapeless != 0) {
      plan.rest = true;
      plan.before = entry_.shapeless != 0 ? 0 : common(gap, least);
      plan.after = entry_.shapeless != 0 ? 0 : common_behind(gap, least - plan.before);
    }
    for (std::size_t i = 0; i < plan.before; ++i) {
      add_merged([gap, i](const std::vector<Run>& gaps) { return gaps[gap].begin + i; });
    }
    if (plan.rest) {
      Item item;
      item.rest = item.parameter = true;
      for (const auto& gaps : gaps_) {
        if (gaps[gap].size <= plan.before + plan.after) continue;
        item.element.before = gaps[gap].begin[plan.before].before;
        break;
      }
      item.kind = "list";
      name(item, "list");
      display_.items.push_back(std::move(item));
    }
    for (std::size_t i = plan.after; i > 0; --i) {
      add_merged([gap, i](const std::vector<Run>& gaps) {
        return gaps[gap].begin + (gaps[gap].size - i);
      });
    }
    display_.gaps.push_back(plan);
  }

  std::size_t common(std::size_t gap, std::size_t most) const {
    for (std::size_t i = 0; i < most; ++i) {
      for (const auto& gaps : gaps_) {
        if (!same_place(gaps[gap].begin[i], gaps_.front()[gap].begin[i])) return i;
      }
    }
    return most;
  }

  std::size_t common_behind(std::size_t gap, std::size_t most) const {
    for (std::size_t i = 1; i <= most; ++i) {
      const Run& first = gaps_.front()[gap];
      for (const auto& gaps : gaps_) {
        const Run& run = gaps[gap];
        if (!same_place(run.begin[run.size - i], first.begin[first.size - i])) return i - 1;
      }
    }
    return most;
  }

  template <class Pick>
  void add_merged(Pick pick) {
    Item item;
    item.element = *pick(gaps_.front());
    std::uint64_t count = entry_.shapes.front()->count;
    for (std::size_t i = 1; i < gaps_.size(); ++i) {
      const std::uint64_t more = entry_.shapes[i]->count;
      merge_elements(item.element, count, *pick(gaps_[i]), more, limit_);
      count += more;
    }
    finish(std::move(item));
  }

  void add_word(std::size_t word) {
    display_.word_items.push_back(display_.items.size());
    Item item;
    std::uint64_t count = 0;
    bool first = true;
    for (const auto& shape : entry_.shapes) {
      const Element* element = word_of(*shape, word);
      if (element == nullptr) continue;
      if (first) {
        item.element = *element;
      } else if (entry_.words[word].kind != Word::Kind::constant) {
        merge_elements(item.element, count, *element, shape->count, limit_);
      }
      first = false;
      count += shape->count;
    }
    // Where a list may be empty, show what stands behind one that is not.
    for (std::size_t i = 0; i < gaps_.size() && display_.gaps.back().rest; ++i) {
      const Display::Gap& plan = display_.gaps.back();
      const Element* element = word_of(*entry_.shapes[i], word);
      if (element == nullptr || gaps_[i][word].size <= plan.before + plan.after) continue;
      item.element.before = element->before;
      break;
    }
    const Word& mine = entry_.words[word];
    if (mine.kind == Word::Kind::constant) {
      display_.items.push_back(std::move(item));
      return;
    }
    item.element.varies = true;
    item.parameter = true;
    item.kind = mine.kind == Word::Kind::partial ? "text" : "word";
    if (mine.kind == Word::Kind::partial) item.element.form = mine.text;
    name(item, item.kind);
    display_.items.push_back(std::move(item));
  }

  void finish(Item item) {
    Element& element = item.element;
    item.parameter = element.counts_values();
    if (item.parameter) {
      item.kind = element.list ? "list" : "text";
      std::string fallback = element.words ? "list" : "text";
      if (element.mask < kBuiltinMasks) {
        fallback = kMaskNames[element.mask];
        if (!element.list) item.kind = fallback;
      } else if (element.mask != kNoMask) {
        const std::size_t begin = element.form.find('<', element.prefix);
        const std::size_t end = element.form.find('>', begin);
        if (end != std::string::npos) fallback = element.form.substr(begin + 1, end - begin - 1);
        if (!element.list) item.kind = fallback;
      }
      name(item, fallback);
    }
    display_.items.push_back(std::move(item));
  }

  void name(Item& item, const std::string& fallback) {
    std::string base = key_in_front(display_.items, item.element);
    if (base.empty()) base = fallback;
    std::string unique = base;
    const auto taken = [this](const std::string& one) {
      return std::any_of(display_.items.begin(), display_.items.end(), [&one](const Item& other) {
        return other.parameter && other.name == one;
      });
    };
    for (std::size_t n = 2; taken(unique); ++n) unique = base + std::to_string(n);
    item.name = std::move(unique);
  }

  const Entry& entry_;
  std::size_t limit_;
  std::vector<std::vector<Run>> gaps_;  // by shape
  Display display_;
};

}  // namespace

Display display_of(const Entry& entry, std::size_t value_limit) {
  return Builder(entry, value_limit).build();
}

std::string text_of(const Display& display) {
  std::string text;
  for (const Item& item : display.items) {
    text += item.element.before;
    if (!item.parameter) {
      text += item.element.form;
      continue;
    }
    const Element& element = item.element;
    const bool ends = !item.rest && (!element.varies || element.word >= 0) &&
                      std::size_t{element.prefix} + element.suffix <= element.form.size();
    if (ends) text.append(element.form, 0, element.prefix);
    text.append("<").append(item.name).append(">");
    if (ends) text.append(element.form, element.form.size() - element.suffix, element.suffix);
  }
  return text + display.tail;
}

}  // namespace dpcache::text
