// Dates and times of day, alone and together, in the forms that logs and people write.
#ifndef DPCACHE_SRC_TEXT_MASK_TIME_H_
#define DPCACHE_SRC_TEXT_MASK_TIME_H_

#include <cstddef>
#include <string_view>

#include "text/mask_reader.h"

namespace dpcache::text {

// Reads by look-ahead of less than 100 bytes. Every function returns the end of what it is named
// for, and 0 where that is not there.
template <class Text>
class TimeMask {
 public:
  explicit TimeMask(const MaskReader<Text>& reader) : reader_(reader) {}

  // A date or a time of day whose first character is at `at`.
  std::size_t match(std::size_t at) const {
    if (reader_.is(at, kDigit)) {
      if (const std::size_t end = date(at)) return end;
      return time_of_day(at);
    }
    if (const std::size_t end = weekday(at)) {
      std::size_t next = reader_[end] == ',' ? end + 1 : end;
      next = blanks(next);
      if (next == 0) return 0;
      return reader_.is(next, kDigit) ? date(next) : month_day(next);
    }
    return month_day(at);
  }

 private:
  // `least` to `most` digits, with no more behind them; sets `value`.
  std::size_t digits(std::size_t at, std::size_t least, std::size_t most, unsigned& value) const {
    const std::size_t begin = at;
    value = 0;
    while (reader_.is(at, kDigit) && at - begin < most) value = value * 10 + (reader_[at++] - '0');
    return at - begin < least || reader_.is(at, kDigit) ? 0 : at;
  }

  std::size_t blanks(std::size_t at) const {  // past one or two blanks; 0 if there is none
    if (reader_[at] != ' ') return 0;
    return reader_[at + 1] == ' ' ? at + 2 : at + 1;
  }

  static constexpr unsigned char lower(unsigned char c) {
    return static_cast<unsigned char>(c | 0x20U);
  }

  // One of `names` (three letters each) or its long form; 0 if there is none. Capitalised only:
  // "may 5" is no date.
  std::size_t name_of(std::size_t at, std::string_view names, std::string_view tails) const {
    if (reader_[at] < 'A' || reader_[at] > 'Z') return 0;
    std::size_t tail = 0;
    for (std::size_t i = 0; i < names.size(); i += 3) {
      const std::size_t tail_end = tails.find(',', tail);
      const std::string_view rest = tails.substr(tail, tail_end - tail);
      tail = tail_end + 1;
      if (lower(reader_[at]) != static_cast<unsigned char>(names[i]) ||
          lower(reader_[at + 1]) != static_cast<unsigned char>(names[i + 1]) ||
          lower(reader_[at + 2]) != static_cast<unsigned char>(names[i + 2])) {
        continue;
      }
      std::size_t end = at + 3;
      if (!reader_.is(end, kWord)) return end;
      for (const char c : rest) {
        if (lower(reader_[end++]) != static_cast<unsigned char>(c)) return 0;
      }
      return reader_.is(end, kWord) ? 0 : end;
    }
    return 0;
  }
  std::size_t month(std::size_t at) const {
    return name_of(at, "janfebmaraprmayjunjulaugsepoctnovdec",
                   "uary,ruary,ch,il,,e,y,ust,tember,ober,ember,ember,");
  }
  std::size_t weekday(std::size_t at) const {
    return name_of(at, "montuewedthufrisatsun", "day,sday,nesday,rsday,day,urday,day,");
  }

  // Whether a date may end here: 2026-11-29-7 and 2026.11.29.1 are none.
  bool date_ends(std::size_t end) const {
    const unsigned char c = reader_[end];
    return !reader_.word_at(end) &&
           !((c == '-' || c == '/' || c == '.' || c == ':') && reader_.digit_at(end + 1));
  }

  // Jul 9, July 9 2026, Jul  9 12:16:49 CEST 2026
  std::size_t month_day(std::size_t at) const {
    const std::size_t name = month(at);
    if (name == 0) return 0;
    std::size_t end = blanks(name);
    unsigned day = 0;
    end = end == 0 ? 0 : digits(end, 1, 2, day);
    if (end == 0 || day < 1 || day > 31) return 0;
    return with_year_and_time(end);
  }

  std::size_t year_behind(std::size_t end) const {
    std::size_t at = reader_[end] == ',' ? end + 1 : end;
    at = blanks(at);
    unsigned year = 0;
    at = at == 0 ? 0 : digits(at, 4, 4, year);
    return at != 0 && year >= 1900 && year < 2200 && date_ends(at) ? at : 0;
  }

  // What may follow a day and a month: a year, a time of day, or both.
  std::size_t with_year_and_time(std::size_t end) const {
    if (const std::size_t year = year_behind(end)) end = year;
    if (const std::size_t stop = joined_time(end)) return stop;
    return date_ends(end) ? end : 0;
  }

  std::size_t date(std::size_t at) const {
    unsigned first = 0;
    if (const std::size_t end = digits(at, 8, 8, first)) {  // 20261129-12:00:01
      const unsigned month = first / 100 % 100;
      const unsigned day = first % 100;
      return month < 1 || month > 12 || day < 1 || day > 31 ? 0 : joined_time(end);
    }
    std::size_t end = digits(at, 1, 4, first);
    if (end == 0 || end - at == 3) return 0;
    const unsigned char separator = reader_[end];
    if (separator != '-' && separator != '/' && separator != '.' && separator != ' ') return 0;
    if (reader_.is(end + 1, kLetter) || reader_[end + 1] == ' ') return day_month(at, end, first);
    const bool year_first = end - at == 4;
    const bool two_digits_first = end - at == 2;
    unsigned second = 0;
    unsigned third = 0;
    const std::size_t second_end = digits(end + 1, 1, 2, second);
    if (separator == ' ' || second_end == 0) return 0;
    const bool two_digits_second = second_end - end == 3;
    if (reader_[second_end] == separator) {
      const std::size_t third_end = digits(second_end + 1, 1, 4, third);
      if (third_end == 0) return 0;
      const std::size_t third_size = third_end - second_end - 1;
      if (year_first) {
        if (third_size > 2 || !month_and_day(second, third)) return 0;
      } else {
        const bool short_year = third_size == 2 && two_digits_first && two_digits_second;
        if (third_size != 4 && !short_year) return 0;
        if (!month_and_day(first, second) && !month_and_day(second, first) &&
            !(short_year && month_and_day(second, third))) {
          return 0;
        }
        // 10-11-12 and 1.2.3 are no dates by themselves.
        if (short_year && separator != '/') return joined_time(third_end);
      }
      if (const std::size_t stop = joined_time(third_end)) return stop;
      return date_ends(third_end) ? third_end : 0;
    }
    // 11-29 12:00:01
    if (!two_digits_first || !two_digits_second || reader_[second_end] != ' ') return 0;
    if (!month_and_day(first, second) && !month_and_day(second, first)) return 0;
    return joined_time(second_end);
  }

  static bool month_and_day(unsigned month, unsigned day) {
    return month >= 1 && month <= 12 && day >= 1 && day <= 31;
  }

  // 29 Nov 2026, 29/Nov/2026:12:00:01 -0700
  std::size_t day_month(std::size_t at, std::size_t day_end, unsigned day) const {
    if (day_end - at > 2 || day < 1 || day > 31) return 0;
    const unsigned char separator = reader_[day_end];
    const std::size_t name = separator == ' ' ? blanks(day_end) : day_end + 1;
    const std::size_t end = separator == '.' ? 0 : month(name);
    if (end == 0) return 0;
    if (separator == ' ') return with_year_and_time(end);
    if (reader_[end] != separator) return 0;
    unsigned year = 0;
    std::size_t stop = digits(end + 1, 2, 4, year);
    if (stop == 0) return 0;
    if (const std::size_t time_end = joined_time(stop)) return time_end;
    return date_ends(stop) ? stop : 0;
  }

  // The end of the time of day that follows a date; 0 if there is none.
  std::size_t joined_time(std::size_t end) const {
    const unsigned char c = reader_[end];
    std::size_t at = 0;
    if (c == 'T' || c == 't' || c == ':' || c == '-' || c == '_') {
      at = end + 1;
    } else {
      at = blanks(c == ',' ? end + 1 : end);
    }
    if (at == 0) return 0;
    if (const std::size_t stop = time_of_day(at)) return stop;
    // 2026-11-29-12.00.01.5, 20261129T120001Z
    unsigned value = 0;
    if (c == '-') {
      std::size_t stop = at;
      for (int part = 0; part < 3; ++part) {
        if (part > 0 && reader_[stop++] != '.') return 0;
        stop = digits(stop, 2, 2, value);
        if (stop == 0 || value > 60) return 0;
      }
      return with_tail(stop);
    }
    if (c == 'T') {
      const std::size_t stop = digits(at, 4, 6, value);
      return stop == 0 ? 0 : with_tail(stop);
    }
    return 0;
  }

  std::size_t fraction(std::size_t at) const {
    unsigned value = 0;
    const unsigned char c = reader_[at];
    if (c != '.' && c != ',' && c != ':') return at;
    const std::size_t end = digits(at + 1, 1, 9, value);
    return end == 0 ? at : end;
  }

  std::size_t time_ends(std::size_t end) const {
    const unsigned char c = reader_[end];
    return reader_.word_at(end) || ((c == ':' || c == '.') && reader_.digit_at(end + 1)) ? 0 : end;
  }

  // 12:00, 12:00:01.5, 12:00:01Z, 12:00:01 +02:00, 3:45 PM
  std::size_t time_of_day(std::size_t at) const {
    unsigned value = 0;
    std::size_t end = digits(at, 1, 2, value);
    if (end == 0 || value > 24 || reader_[end] != ':') return 0;
    end = digits(end + 1, 2, 2, value);
    if (end == 0 || value > 59) return 0;
    if (reader_[end] == ':') {
      end = digits(end + 1, 2, 2, value);
      if (end == 0 || value > 60) return 0;
    }
    return with_tail(end);
  }

  // What may follow hours, minutes and seconds: a fraction, AM or PM, a zone, a year. As much of it
  // as leaves a good end; 0 if nothing does.
  std::size_t with_tail(std::size_t end) const {
    const std::size_t whole = fraction(end);
    for (const std::size_t start : {whole, end}) {
      const std::size_t half = half_day(start);
      if (const std::size_t stop = time_ends(zone(half))) return stop;
      if (const std::size_t stop = time_ends(half)) return stop;
    }
    return 0;
  }

  std::size_t half_day(std::size_t end) const {
    const std::size_t at = reader_[end] == ' ' ? end + 1 : end;
    const bool named = (lower(reader_[at]) == 'a' || lower(reader_[at]) == 'p') &&
                       lower(reader_[at + 1]) == 'm' && !reader_.word_at(at + 2);
    return named ? at + 2 : end;
  }

  // The end of a zone, and of a year behind it: Z, +02:00, " -0700", " UTC", " CEST 2026", " 2026".
  std::size_t zone(std::size_t end) const {
    if ((reader_[end] == 'Z' || reader_[end] == 'z') && !reader_.word_at(end + 1)) return end + 1;
    const std::size_t blank = reader_[end] == ' ' ? end + 1 : end;
    unsigned value = 0;
    if (reader_[blank] == '+' || reader_[blank] == '-') {
      std::size_t stop = digits(blank + 1, 4, 4, value);
      if (stop == 0 || value > 1400) {
        stop = digits(blank + 1, 2, 2, value);
        if (stop == 0 || value > 14 || reader_[stop] != ':') return end;
        stop = digits(stop + 1, 2, 2, value);
      }
      if (stop == 0 || reader_.word_at(stop)) return end;
      const std::size_t year = year_behind(stop);
      return year != 0 ? year : stop;
    }
    if (blank == end) return end;
    if (const std::size_t year = year_behind(end)) return year;
    std::size_t letters = blank;
    while (letters - blank < 5 && reader_[letters] >= 'A' && reader_[letters] <= 'Z') ++letters;
    if (letters - blank < 3 || letters - blank > 4 || reader_.word_at(letters)) return end;
    if (const std::size_t year = year_behind(letters)) return year;
    return reader_.equal(blank, letters, "UTC") || reader_.equal(blank, letters, "GMT") ? letters
                                                                                        : end;
  }

  const MaskReader<Text>& reader_;
};

}  // namespace dpcache::text

#endif  // DPCACHE_SRC_TEXT_MASK_TIME_H_
