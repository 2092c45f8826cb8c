#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "core/crc32.h"
#include "core/digester.h"
#include "store/upload.h"
#include "tests/store/store_folder.h"

namespace orlop {
namespace {

/// An upload as it is meant: a string of bytes that chunks are written into.
class ModelUpload {
 public:
  void begin(std::size_t offset) {
    position_ = offset;
    size_before_ = bytes_.size();
  }
  void append(std::string_view text) {
    if (bytes_.size() < position_ + text.size()) bytes_.resize(position_ + text.size(), '\0');
    bytes_.replace(position_, text.size(), text);
    position_ += text.size();
  }
  /// What a chunk wrote over older bytes stays; what it added goes.
  void undo() { bytes_.resize(size_before_); }

  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
  std::size_t position_ = 0;
  std::size_t size_before_ = 0;
};

/// One upload of chance, beside its model. `story` tells what was done, for the reader of a
/// failure.
class Walk {
 public:
  Walk(StoreFolder& folder, PosixDisk& disk)
      : folder_(folder), upload_(folder.upload(disk, digest_of(""))) {}

  void step() {
    const auto offset = next_offset();
    story_ += " begin " + std::to_string(offset);
    upload_->begin_chunk(offset);
    model_.begin(offset);
    begins_.push_back(offset);
    for (auto appends = below(4); appends > 0; --appends) {
      std::string text(1 + below(12), static_cast<char>('a' + below(26)));
      story_ += " append " + text;
      REQUIRE(upload_->append(bytes_of(text)));
      model_.append(text);
    }
    if (below(3) == 0) {
      story_ += " undo";
      REQUIRE(upload_->undo_chunk());
      model_.undo();
    }
    if (below(3) == 0) check();
  }

  void check() {
    INFO(story_);
    const auto metainfo = upload_->finish();
    REQUIRE(metainfo);
    const std::string_view bytes = model_.bytes();
    REQUIRE(metainfo->digest() == digest_of(bytes));
    REQUIRE(metainfo->size_bytes() == bytes.size());
    REQUIRE(upload_->size_bytes() == bytes.size());
    std::vector<std::uint32_t> sums;
    const auto length = folder_.lengths.for_size(bytes.size());
    for (std::size_t at = 0; at < bytes.size(); at += length) {
      sums.push_back(crc32(0, bytes_of(bytes.substr(at, length))));
    }
    REQUIRE(std::vector<std::uint32_t>(metainfo->piece_sums().begin(),
                                       metainfo->piece_sums().end()) == sums);
  }

 private:
  std::size_t below(std::size_t bound) { return folder_.random.next() % bound; }

  /// Where clients begin: mostly at the end or where they began before, now and then elsewhere.
  std::size_t next_offset() {
    const auto size = model_.bytes().size();
    switch (below(8)) {
      case 0: return begins_.empty() ? 0 : begins_[below(begins_.size())];
      case 1:
      case 2: return begins_.empty() ? 0 : begins_.back();
      case 3: return below(size + 1);
      case 4: return size + 1 + below(5);
      default: return size;
    }
  }

  StoreFolder& folder_;
  std::shared_ptr<Upload> upload_;
  ModelUpload model_;
  std::vector<std::size_t> begins_;
  std::string story_;
};

TEST_CASE("upload: whatever chunks come, are kept and undone, the digest is that of the bytes") {
  const auto seed = GENERATE(as<std::uint64_t>(), 1, 2, 3, 4);
  CAPTURE(seed);
  StoreFolder folder(seed);
  PosixDisk disk;
  for (int round = 0; round < 500; ++round) {
    Walk walk(folder, disk);
    for (auto steps = 1 + folder.random.next() % 12; steps > 0; --steps) walk.step();
    walk.check();
  }
}

}  // namespace
}  // namespace orlop
