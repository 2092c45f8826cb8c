// Upload sessions are read from a folder that others can write to. Property: an upload is recovered
// if and only if its session is, byte for byte, what we would write for its digest; otherwise both
// of its files are removed.

#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "base/check.h"
#include "base/clock.h"
#include "base/log.h"
#include "store/upload_table.h"
#include "tests/fuzz/one_text_disk.h"

namespace orlop {
namespace {

const std::string kId = "0123456789abcdef0123456789abcdef-01234567";

/// A folder with one upload and its session, in memory.
class OneUploadDisk final : public OneTextDisk {
 public:
  using OneTextDisk::OneTextDisk;
  using OneTextDisk::stat;

  std::size_t removed() const { return removed_.size(); }

  Result<std::vector<DirectoryEntry>> list(const std::filesystem::path&) override {
    return std::vector<DirectoryEntry>{
        {.name = kId, .regular_file = true},
        {.name = kId + ".session", .regular_file = true},
    };
  }
  Result<UniqueFd> open(const std::filesystem::path&) override { return UniqueFd(); }
  Result<FileStat> stat(const UniqueFd&) override { return FileStat{.size_bytes = 3}; }
  Result<> remove_file(const std::filesystem::path& path) override {
    removed_.insert(path);
    return {};
  }

 private:
  std::set<std::filesystem::path> removed_;
};

/// The digest in a session that we could have written.
std::optional<Digest> digest_in(std::string_view session) {
  constexpr std::string_view kHeader = "orlop upload 1\n";
  if (!session.starts_with(kHeader)) return std::nullopt;
  const auto digest = Digest::parse(
      session.substr(kHeader.size(), session.find('\n', kHeader.size()) - kHeader.size()));
  if (!digest) return std::nullopt;
  if (session != std::string(kHeader) + digest->to_string() + "\n") return std::nullopt;
  return *digest;
}

void recover_from(std::string_view session) {
  OneUploadDisk disk(session);
  const SystemClock clock;
  Random random(1);
  const Layout layout{.upload_dir = "u", .cache_dir = "c"};
  static const auto lengths = *PieceLengths::make({{0, 4096}});
  UploadTable table(disk, clock, random, layout, lengths, {});

  ORLOP_CHECK(table.recover().has_value());

  const auto digest = digest_in(session);
  ORLOP_CHECK(table.count() == (digest ? 1 : 0));
  ORLOP_CHECK(disk.removed() == (digest ? 0 : 2));
  if (!digest) return;
  const auto upload = table.find(*UploadId::parse(kId), *digest);
  ORLOP_CHECK(upload != nullptr);
  ORLOP_CHECK(upload->size_bytes() == 3);
}

}  // namespace
}  // namespace orlop

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  orlop::set_log_level(orlop::LogLevel::off);
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  orlop::recover_from(text);
  // So that the interesting part is not behind a header that chance has to find.
  orlop::recover_from("orlop upload 1\n" + std::string(text));
  return 0;
}
