// Netlink messages and their attributes.
#include "linux/network/netlink/parse_netlink.h"

#include <linux/netlink.h>

#include <algorithm>

namespace hostwire {
namespace {

constexpr std::size_t aligned(std::size_t length) { return (length + 3U) & ~std::size_t{3}; }

// The next message or attribute begins at a multiple of four; a last one may end before that.
void skip(std::string_view& bytes, std::size_t length) {
  bytes.remove_prefix(std::min(bytes.size(), aligned(length)));
}

void takeMessage(NetlinkPart& part, const nlmsghdr& header, std::string_view content) {
  part.isInterrupted = part.isInterrupted || (header.nlmsg_flags & NLM_F_DUMP_INTR) != 0;
  if (header.nlmsg_type == NLMSG_DONE || header.nlmsg_type == NLMSG_ERROR) {
    // A negative errno; 0 acknowledges, or ends a successful dump.
    const auto code = valueOf<std::int32_t>(content);
    part.isLast = true;
    part.error = code && *code < 0 && *code > -4096 ? -*code : 0;
  } else if (header.nlmsg_type >= NLMSG_MIN_TYPE) {
    part.payloads.push_back(content);
  }
}

}  // namespace

NetlinkPart parseNetlink(std::string_view bytes, std::uint32_t sequence) {
  NetlinkPart part;
  while (const auto header = valueOf<nlmsghdr>(bytes)) {
    if (header->nlmsg_len < NLMSG_HDRLEN || header->nlmsg_len > bytes.size()) break;
    const std::string_view content =
        bytes.substr(NLMSG_HDRLEN, header->nlmsg_len - static_cast<std::size_t>(NLMSG_HDRLEN));
    if (header->nlmsg_seq == sequence) takeMessage(part, *header, content);
    skip(bytes, header->nlmsg_len);
  }
  return part;
}

bool takeAttribute(std::string_view& bytes, NetlinkAttribute& attribute) {
  const auto header = valueOf<nlattr>(bytes);
  if (!header || header->nla_len < NLA_HDRLEN || header->nla_len > bytes.size()) return false;
  attribute.type = header->nla_type & static_cast<unsigned>(NLA_TYPE_MASK);
  attribute.value = bytes.substr(NLA_HDRLEN, header->nla_len - static_cast<std::size_t>(NLA_HDRLEN));
  skip(bytes, header->nla_len);
  return true;
}

std::string_view findAttribute(std::string_view bytes, unsigned type) {
  NetlinkAttribute attribute;
  while (takeAttribute(bytes, attribute))
    if (attribute.type == type) return attribute.value;
  return {};
}

}  // namespace hostwire
