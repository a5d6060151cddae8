// A text as the guards read it: valid UTF-8, canonically decomposed, with the punctuation, digits
// and wide forms of other scripts as ASCII where there is one.
#ifndef DPCACHE_SRC_TEXT_GUARD_PLAIN_H_
#define DPCACHE_SRC_TEXT_GUARD_PLAIN_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace dpcache::text {

// The first bytes of the text, at most `most`, cut between characters.
std::string_view beginning(std::string_view text, std::size_t most) noexcept;

// For text that is not ASCII. Linear; a copy.
std::string plain_form(std::string_view text);

}  // namespace dpcache::text

#endif  // DPCACHE_SRC_TEXT_GUARD_PLAIN_H_
