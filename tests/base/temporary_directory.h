#pragma once

#include <stdlib.h>

#include <filesystem>
#include <string>

#include "base/check.h"

namespace orlop {

/// A folder of the test's own, removed when the test ends.
class TemporaryDirectory {
 public:
  explicit TemporaryDirectory(
      const std::filesystem::path& in = std::filesystem::temp_directory_path()) {
    std::string name = (in / "orlop-test-XXXXXX").string();
    ORLOP_CHECK(::mkdtemp(name.data()) != nullptr);
    path_ = name;
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  ~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace orlop
