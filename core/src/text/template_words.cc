// A short lexicon for lines that programs write. English, and the commonest states in Chinese and
// Japanese; what is not in it is an ordinary word.
#include "text/template_words.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace dpcache::text {
namespace {

struct Words {
  unsigned bits;
  std::string_view words;
};

// Verbs that end in -ed or -ing need not be listed.
constexpr Words kWords[] = {
    {kStateWord,
     "abort aborts accept accepts ack active add adds alert alive allow allows attach available "
     "away bad "
     "begin begins begun block blocks boot boots bound broken build busy cancel cancels clean "
     "clear clears "
     "close closes commit commits complete completes connect connects corrupt crash crashes create "
     "creates "
     "critical dead debug degraded delete deletes denies deny destroy detach disable disables "
     "disconnect "
     "disconnects done down download drop drops dropout eject empty enable enables end ends enter "
     "enters "
     "error errors exceed exceeds exist exists exit exits expire expires fail fails failure fatal "
     "fault "
     "fetch find finish finishes flush flushes force found free freeze frozen full get gone good "
     "granted "
     "halt halts healthy hibernate hide hit idle ignore inactive incomplete incorrect info insert "
     "install "
     "invalid join joins kill kills leave leaves left listen load loads lock locks login logins "
     "logout "
     "logouts logon logoff lose loses lost match matches miss mismatch missing mount mounts new "
     "normal "
     "notice obsolete offline ok okay old online open opens panic pass passes pause pauses pending "
     "ping "
     "poll ready read reads reboot reboots receive receives recover recovers refresh refuse "
     "refuses register "
     "registers reject rejects release releases reload reloads remove removes rename reply request "
     "requests "
     "reset resets resolve response restart restarts restore resume resumes retries retry rollback "
     "run runs "
     "running save saves scan select send sends sent set show shut shutdown shutdowns skip skips "
     "sleep "
     "sleeps slow spawn stale start starts startup stop stops store stores submit success "
     "successes "
     "successful successfully suspend sync terminate terminates throw throws timeout timeouts torn "
     "trace "
     "true truncate unable unavailable unblock unhealthy uninstall unknown unload unlock unmount "
     "unreachable "
     "unregister unset unstable unsuccessful unsupported up update updates upgrade upload valid "
     "verify wait "
     "waits wake warn warning warnings write writes written wrong"},
    {kSmallWord,
     "a about after again all already also an and any are as at back be because been before being "
     "both but "
     "by can cannot could did do does during each else for from had has have if in inside into is "
     "it its "
     "less may more most must neither never no non none nor not now of off on once only onto or "
     "other out "
     "outside over per same shall should since so some still such than that the their them then "
     "there these "
     "they this those through to too under until upon via was we were when where which while who "
     "will with "
     "within without would yes yet you your i high low first last next previous left right min max "
     "read "
     "north south east west plus minus"},
    {kPredicate,
     "unknown invalid missing exists exist login logins logout logon logoff failure failures error "
     "errors success "
     "left gone disconnect disconnects connects lost ok unavailable unreachable offline online "
     "timeout"},
    {kNamingWord,
     "user users username userid usr uname account acct login host hostname node server named "
     "called "
     "principal member owner customer tenant player"},
    {kUnitWord,
     "b kb mb gb tb pb kib mib gib tib byte bytes kbytes mbytes bit bits kbit kbits mbit mbits ns "
     "us ms "
     "msec msecs usec usecs nsec s sec secs second seconds millisecond milliseconds microsecond "
     "microseconds nanoseconds m min mins minute minutes h hr hrs hour hours d day days hz khz mhz "
     "ghz "
     "kbps mbps gbps bps w watt watts v volts c f percent k g"},
    {kValueWord, "true false null nil nan undefined"},
    {kTextKey,
     "msg message text event err error exception reason desc description detail details body "
     "summary title "
     "log cause note info warning"},
    {kCodeWord,
     "code codes status http https statuscode errno rc ret retcode exitcode exit error response "
     "errorcode "
     "exit_code status_code error_code http_status"},
    {kLevelWord, "alert critical debug emergency fatal notice panic severe trace"},
};

// Written without blanks. Longer words stand for the shorter ones in them.
constexpr std::string_view kFixedParts[] = {
    "成功", "失败", "开始", "停止", "启动", "关闭", "打开", "连接", "断开", "错误",  "正常",
    "异常", "完成", "取消", "暂停", "恢复", "登录", "登出", "登陆", "注册", "注销",  "上线",
    "下线", "上传", "下载", "允许", "拒绝", "超时", "创建", "删除", "修改", "更新",  "添加",
    "增加", "减少", "发送", "接收", "请求", "响应", "重启", "退出", "进入", "锁定",  "解锁",
    "启用", "禁用", "通过", "有效", "无效", "已满", "丢失", "警告", "成功", "失敗",  "開始",
    "終了", "停止", "起動", "接続", "切断", "完了", "中止", "再開", "拒否", "許可",  "エラー",
    "有効", "無効", "追加", "削除", "更新", "送信", "受信", "หยุด",  "เริ่ม",  "สำเร็จ", "ล้มเหลว"};
constexpr std::string_view kNamingParts[] = {"用户", "用户名", "账号", "账户", "帐号",     "帐户",
                                             "主机", "会员",   "客户", "名为", "ユーザー", "ผู้ใช้"};

class Lexicon {
 public:
  Lexicon() {
    for (const Words& list : kWords) {
      for (std::string_view rest = list.words; !rest.empty();) {
        const std::size_t end = std::min(rest.find(' '), rest.size());
        std::string word(rest.substr(0, end));
        rest.remove_prefix(std::min(end + 1, rest.size()));
        add(word, list.bits);
        word[0] = upper(word[0]);
        add(word, list.bits);
        std::transform(word.begin(), word.end(), word.begin(), upper);
        add(word, list.bits);
      }
    }
  }

  unsigned bits(std::uint64_t hash) const {
    for (std::size_t at = hash % kSize; entries_[at].bits != 0; at = (at + 1) % kSize) {
      if (entries_[at].hash == hash) return entries_[at].bits;
    }
    return 0;
  }

 private:
  struct Entry {
    std::uint64_t hash = 0;
    unsigned bits = 0;
  };
  static constexpr std::size_t kSize = 8192;  // a quarter full at most: a look-up meets one entry

  static char upper(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; }

  void add(std::string_view word, unsigned bits) {
    const std::uint64_t hash = token_hash(word);
    std::size_t at = hash % kSize;
    while (entries_[at].bits != 0 && entries_[at].hash != hash) at = (at + 1) % kSize;
    entries_[at].hash = hash;
    entries_[at].bits |= bits;
  }

  std::array<Entry, kSize> entries_{};
};

const Lexicon& lexicon() {
  static const Lexicon kLexicon;
  return kLexicon;
}

bool ends_with_folded(std::string_view word, std::string_view end) {
  if (word.size() < end.size()) return false;
  for (std::size_t i = 0; i < end.size(); ++i) {
    const char c = word[word.size() - end.size() + i];
    if ((c | 0x20) != end[i]) return false;
  }
  return true;
}

}  // namespace

unsigned word_bits(std::uint64_t hash) noexcept {
  return lexicon().bits(hash);
}

bool is_fixed_word(std::string_view word, std::uint64_t hash) noexcept {
  if ((word_bits(hash) & (kStateWord | kSmallWord)) != 0) return true;
  if (word.size() >= 5 && (ends_with_folded(word, "ed") || ends_with_folded(word, "ing")))
    return true;
  // STATE_PAUSED: the last part says it.
  const std::size_t mark = word.rfind('_');
  if (mark == std::string_view::npos || mark + 1 == word.size()) return false;
  const std::string_view last = word.substr(mark + 1);
  return is_fixed_word(last, token_hash(last));
}

bool is_fixed_after_name(std::string_view word, std::uint64_t hash) noexcept {
  if ((word_bits(hash) & (kPredicate | kSmallWord)) != 0) return true;
  return word.size() >= 5 && (ends_with_folded(word, "ed") || ends_with_folded(word, "ing"));
}

bool has_fixed_part(std::string_view run, std::size_t begin, std::size_t end) noexcept {
  for (const std::string_view part : kFixedParts) {
    for (std::size_t at = run.find(part); at != std::string_view::npos;
         at = run.find(part, at + 1)) {
      if (at < end && at + part.size() > begin) return true;
    }
  }
  return false;
}

bool names_what_follows(std::string_view run) noexcept {
  return std::any_of(std::begin(kNamingParts), std::end(kNamingParts),
                     [run](std::string_view part) { return run.ends_with(part); });
}

}  // namespace dpcache::text
