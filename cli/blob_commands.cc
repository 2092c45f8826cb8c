#include "cli/blob_commands.h"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "base/json_writer.h"
#include "base/log.h"
#include "cli/client_run.h"
#include "cli/digest_operand.h"
#include "cli/exit.h"

namespace orlop {
namespace {

/// One line on standard output: what is known of a digest.
class Line {
 public:
  Line(Digest digest, bool json) : json_(json) {
    if (!json_) text_ = digest.to_string();
    if (json_) text_ = R"({"digest":)";
    if (json_) append_json_string(text_, digest.to_string());
  }
  void add(std::string_view name, std::uint64_t value) {
    begin(name);
    append_json_number(text_, value);
  }
  void add(std::string_view name, std::string_view value) {
    begin(name);
    if (json_) append_json_string(text_, value);
    if (!json_) text_ += log_escaped(value);
  }
  void print() {
    if (json_) text_ += '}';
    std::puts(text_.c_str());
  }

 private:
  void begin(std::string_view name) {
    text_ += json_ ? "," : "  ";
    if (!json_) return;
    append_json_string(text_, name);
    text_ += ':';
  }

  const bool json_;
  std::string text_;
};

/// Whether the next origin may be asked what this one could not say.
bool is_silent(const Error& error) {
  return error.code() == Errc::unavailable || error.code() == Errc::busy;
}

/// The same for each digest.
class ForEachDigest : public ClientWork {
 public:
  ForEachDigest(const ClientFlags& flags, std::vector<Digest> digests)
      : flags_(flags), digests_(std::move(digests)) {}

  Task<int> run(const std::vector<OriginClient*>& origins) override {
    int code = kExitDone;
    for (const auto digest : digests_) {
      auto done = co_await ask(origins, digest);
      if (!done) code = fail(std::move(done).error().within(digest.to_string()), kExitFailed);
    }
    co_return code;
  }

 protected:
  const ClientFlags& flags() const { return flags_; }
  virtual Task<Result<>> ask(const std::vector<OriginClient*>& origins, Digest digest) = 0;

 private:
  const ClientFlags& flags_;
  const std::vector<Digest> digests_;
};

class Stat final : public ForEachDigest {
 public:
  using ForEachDigest::ForEachDigest;

 private:
  Task<Result<>> ask(const std::vector<OriginClient*>& origins, Digest digest) override {
    auto last = Error(Errc::unavailable, "no origin to ask");
    for (auto* origin : origins) {
      const auto size = co_await origin->stat(flags().name_space, digest);
      if (size) {
        Line line(digest, flags().json);
        line.add("size", *size);
        line.add("origin", origin->origin().to_string());
        line.print();
        co_return Result<>();
      }
      last = size.error();
    }
    co_return last;
  }
};

class Remove final : public ForEachDigest {
 public:
  using ForEachDigest::ForEachDigest;

 private:
  /// Everywhere: a copy that stays would be found again.
  Task<Result<>> ask(const std::vector<OriginClient*>& origins, Digest digest) override {
    bool removed = false;
    Result<> outcome;
    for (auto* origin : origins) {
      auto done = co_await origin->remove(digest);
      if (done) {
        removed = true;
      } else if (done.error().code() != Errc::not_found || origins.size() == 1) {
        outcome = std::move(done).error();
      }
    }
    if (outcome && !removed) outcome = Error(Errc::not_found, "no origin has it");
    if (outcome) {
      Line line(digest, flags().json);
      line.add("state", "removed");
      line.print();
    }
    co_return outcome;
  }
};

class Locations final : public ForEachDigest {
 public:
  using ForEachDigest::ForEachDigest;

 private:
  Task<Result<>> ask(const std::vector<OriginClient*>& origins, Digest digest) override {
    auto last = Error(Errc::unavailable, "no origin to ask");
    for (auto* origin : origins) {
      const auto labels = co_await origin->locations(digest);
      if (labels) {
        Line line(digest, flags().json);
        line.add("origins", *labels);
        line.print();
        co_return Result<>();
      }
      last = labels.error();
      if (!is_silent(last)) break;
    }
    co_return last;
  }
};

struct Form {
  std::string_view name;
  std::string_view help;
  bool with_namespace;
};

template <class Work>
int run_form(const Form& form, std::span<const char* const> args) {
  constexpr std::array<std::string_view, 1> kNamespace = {"namespace"};
  const std::span<const std::string_view> accepted =
      form.with_namespace ? std::span<const std::string_view>(kNamespace)
                          : std::span<const std::string_view>();
  const auto flags = parse_client_flags(args, accepted, std::getenv("ORLOP_ORIGIN"));
  if (!flags) return fail(flags.error(), kExitUsage);
  if (flags->help) {
    std::printf("usage: orlop %s [flags] DIGEST…\n\n%s\n\n%s%s", std::string(form.name).c_str(),
                std::string(form.help).c_str(),
                form.with_namespace ? "  -namespace NAME        Default: default\n" : "",
                std::string(kClientFlagsHelp).c_str());
    return kExitDone;
  }
  if (flags->operands.empty()) {
    return fail(
        Error(Errc::invalid_argument, std::string(form.name) + ": expected a digest; see -help"),
        kExitUsage);
  }
  std::vector<Digest> digests;
  for (const auto operand : flags->operands) {
    const auto digest = parse_digest_operand(operand);
    if (!digest) return fail(digest.error(), kExitUsage);
    digests.push_back(*digest);
  }
  Work work(*flags, std::move(digests));
  return run_client(*flags, work);
}

}  // namespace

int stat_command(std::span<const char* const> args) {
  constexpr Form kForm{"stat", "Says how large a blob is and which origin has it.", true};
  return run_form<Stat>(kForm, args);
}

int rm_command(std::span<const char* const> args) {
  constexpr Form kForm{"rm", "Removes a blob from each of the origins.", false};
  return run_form<Remove>(kForm, args);
}

int locations_command(std::span<const char* const> args) {
  constexpr Form kForm{"locations", "Says which origins own a blob, the first owner first.", false};
  return run_form<Locations>(kForm, args);
}

}  // namespace orlop
