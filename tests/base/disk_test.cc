#include "base/disk.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "tests/base/temporary_directory.h"

namespace orlop {
namespace {

namespace fs = std::filesystem;

void write_text(const fs::path& path, const std::string& text) { std::ofstream(path) << text; }

std::string text_of(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// A folder `in` with the folder `in/aa`, beside a folder `out` with the file `out/data`.
struct TwoFolders {
  TemporaryDirectory directory;
  fs::path in = directory.path() / "in";
  fs::path out = directory.path() / "out";
  PosixDisk disk;

  TwoFolders() {
    fs::create_directories(in / "aa");
    fs::create_directory(out);
    write_text(out / "data", "outside");
  }
};

TEST_CASE("disk: below a confined folder all calls work as they do elsewhere") {
  TwoFolders folders;
  if (GENERATE(false, true)) REQUIRE(folders.disk.confine(folders.in));
  auto& disk = folders.disk;
  const auto aa = folders.in / "aa";

  CHECK(*disk.make_directory(aa / "bb"));
  CHECK_FALSE(*disk.make_directory(aa / "bb"));
  CHECK(disk.create(folders.in / "upload"));
  CHECK(disk.create(folders.in / "upload").error().code() == Errc::io_error);
  CHECK(disk.rename(folders.in / "upload", aa / "bb" / "data"));
  write_text(aa / "bb" / "data", "12345");
  CHECK(disk.stat(aa / "bb" / "data")->size_bytes == 5);
  CHECK(disk.stat(aa / "bb").error().code() == Errc::not_found);
  CHECK(disk.open(aa / "bb" / "data"));
  CHECK(disk.open_for_reading(aa / "bb" / "data"));
  CHECK(disk.open_for_reading(aa / "bb" / "other").error().code() == Errc::not_found);
  CHECK(disk.rename(aa / "bb" / "data", folders.out / "moved"));
  CHECK(text_of(folders.out / "moved") == "12345");
  CHECK(disk.rename(folders.out / "moved", aa / "bb" / "data"));
  CHECK(disk.list(aa / "bb")->size() == 1);
  CHECK(disk.list(folders.in)->size() == 1);
  CHECK(disk.sync_directory(aa / "bb"));
  CHECK(disk.sync_directory(folders.in));
  CHECK(disk.open_directory(folders.in));
  CHECK(disk.remove_directory(aa / "bb"));
  CHECK(fs::exists(aa / "bb"));  // Not empty.
  CHECK(disk.remove_file(aa / "bb" / "data"));
  CHECK(disk.remove_file(aa / "bb" / "data"));
  CHECK(disk.remove_directory(aa / "bb"));
  CHECK(disk.remove_directory(aa / "bb"));
  CHECK_FALSE(fs::exists(aa / "bb"));
}

TEST_CASE("disk: no call goes through a link that lies below a confined folder") {
  TwoFolders folders;
  // Relative or not, outwards or not: below the folder a link is a link.
  const auto target = GENERATE(as<std::string>(), "out", "relative", "inside");
  const fs::path link = folders.in / "link";
  if (target == "out") fs::create_directory_symlink(folders.out, link);
  if (target == "relative") fs::create_directory_symlink("../out", link);
  if (target == "inside") fs::create_directory_symlink("aa", link);
  if (target == "inside") write_text(folders.in / "aa" / "data", "outside");
  CAPTURE(target);
  REQUIRE(folders.disk.confine(folders.in));
  auto& disk = folders.disk;

  CHECK(disk.open(link / "data").error().code() == Errc::not_found);
  CHECK(disk.open_for_reading(link / "data").error().code() == Errc::not_found);
  CHECK(disk.stat(link / "data").error().code() == Errc::not_found);
  CHECK(disk.open_directory(link).error().code() == Errc::not_found);
  CHECK(disk.list(link).error().code() == Errc::not_found);
  CHECK(disk.sync_directory(link).error().code() == Errc::not_found);
  CHECK(disk.create(link / "new").error().code() == Errc::io_error);
  CHECK(disk.make_directory(link / "new").error().code() == Errc::io_error);
  CHECK(disk.rename(link / "data", folders.in / "data").error().code() == Errc::io_error);
  write_text(folders.in / "mine", "mine");
  CHECK(disk.rename(folders.in / "mine", link / "data").error().code() == Errc::io_error);
  CHECK(disk.remove_file(link / "data"));

  CHECK(text_of(link / "data") == "outside");
  CHECK_FALSE(fs::exists(link / "new"));
}

TEST_CASE("disk: a confined folder may itself be reached by a link, and is kept when that turns") {
  TwoFolders folders;
  const auto link = folders.directory.path() / "link";
  fs::create_directory_symlink(folders.in, link);
  write_text(folders.in / "data", "inside");
  REQUIRE(folders.disk.confine(link));

  fs::remove(link);
  fs::create_directory_symlink(folders.out, link);

  CHECK(folders.disk.stat(link / "data")->size_bytes == std::string("inside").size());
}

TEST_CASE("disk: the beginning of a name is not the name of a confined folder") {
  TwoFolders folders;
  REQUIRE(folders.disk.confine(folders.in));
  fs::create_directory(folders.directory.path() / "inner");
  write_text(folders.directory.path() / "inner" / "data", "four");

  CHECK(folders.disk.stat(folders.directory.path() / "inner" / "data")->size_bytes == 4);
}

TEST_CASE("disk: a folder that is not there cannot be confined") {
  TwoFolders folders;

  CHECK(folders.disk.confine(folders.in / "none").error().code() == Errc::not_found);
}

}  // namespace
}  // namespace orlop
