// SPDX-License-Identifier: Apache-2.0
// For LD_PRELOAD: a kernel without UDP segmentation offload, so that programs send datagrams one by one.
#include <errno.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

int setsockopt(int socket, int level, int name, const void* value, socklen_t length) {
  if (level == IPPROTO_UDP && name == UDP_SEGMENT) {
    errno = ENOPROTOOPT;
    return -1;
  }
  return (int)syscall(SYS_setsockopt, socket, level, name, value, length);
}
