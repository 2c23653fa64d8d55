// SPDX-License-Identifier: Apache-2.0
#include "pcapng.hpp"

#include <algorithm>
#include <cstring>

namespace clarion::emu {
namespace {

constexpr std::uint32_t SECTION_HEADER = 0x0a0d0d0a;
constexpr std::uint32_t BYTE_ORDER_MAGIC = 0x1a2b3c4d;
constexpr std::uint32_t INTERFACE_DESCRIPTION = 1;
constexpr std::uint32_t ENHANCED_PACKET = 6;
constexpr std::uint16_t LINKTYPE_ETHERNET = 1;

constexpr std::uint16_t OPT_ENDOFOPT = 0;
constexpr std::uint16_t OPT_COMMENT = 1;
constexpr std::uint16_t IF_NAME = 2;
constexpr std::uint16_t IF_TSRESOL = 9;
constexpr std::string_view NANOSECONDS_RESOLUTION("\x09", 1);  // 10^-9 s

// One block at the end of a buffer, in the byte order of this machine, as the format has it.
class Block {
 public:
  Block(std::string& buffer, std::uint32_t type) : buffer_(buffer), start_(buffer.size()) {
    number(type);
    number(std::uint32_t{0});  // its length, once it is known
  }
  ~Block() {
    const auto length = static_cast<std::uint32_t>(buffer_.size() - start_ + sizeof(std::uint32_t));
    number(length);
    std::memcpy(buffer_.data() + start_ + sizeof(std::uint32_t), &length, sizeof length);
  }
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;

  template <typename Number>
  void number(Number value) {
    buffer_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }

  void padded(std::string_view bytes) {
    buffer_.append(bytes);
    buffer_.append(-bytes.size() & 3, '\0');
  }

  void option(std::uint16_t code, std::string_view value) {
    number(code);
    number(static_cast<std::uint16_t>(value.size()));
    padded(value);
  }

 private:
  std::string& buffer_;
  std::size_t start_;
};

}  // namespace

PcapngFile::PcapngFile(const Path& option, const std::string& path,
                       const std::vector<std::string>& interfaces, std::uint32_t snap_bytes)
    : file_(option, path), snap_bytes_(snap_bytes) {
  {
    Block section(file_.buffer(), SECTION_HEADER);
    section.number(BYTE_ORDER_MAGIC);
    section.number(std::uint16_t{1});  // version 1.0
    section.number(std::uint16_t{0});
    section.number(~std::uint64_t{0});  // its length is not known
  }
  for (const std::string& name : interfaces) {
    Block interface(file_.buffer(), INTERFACE_DESCRIPTION);
    interface.number(LINKTYPE_ETHERNET);
    interface.number(std::uint16_t{0});
    interface.number(snap_bytes);
    interface.option(IF_NAME, name);
    interface.option(IF_TSRESOL, NANOSECONDS_RESOLUTION);
    interface.option(OPT_ENDOFOPT, {});
  }
  file_.flush();
}

void PcapngFile::packet(std::uint32_t interface, std::uint64_t unix_time_ns, const std::uint8_t* frame,
                        std::uint32_t stored, std::uint32_t length, std::string_view comment) {
  if (!file_.is_open()) return;
  const std::uint32_t captured = std::min(stored, snap_bytes_);
  {
    Block block(file_.buffer(), ENHANCED_PACKET);
    block.number(interface);
    block.number(static_cast<std::uint32_t>(unix_time_ns >> 32));
    block.number(static_cast<std::uint32_t>(unix_time_ns));
    block.number(captured);
    block.number(length);
    block.padded({reinterpret_cast<const char*>(frame), captured});
    if (!comment.empty()) {
      block.option(OPT_COMMENT, comment);
      block.option(OPT_ENDOFOPT, {});
    }
  }
  file_.appended();
}

}  // namespace clarion::emu
