// SPDX-License-Identifier: Apache-2.0
#include "control_socket.hpp"

#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <tuple>

#include "error.hpp"

namespace clarion::emu {
namespace {

sockaddr_un address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof(address.sun_path))
    throw Fault{"--control", FaultCode::out_of_range, "path is longer than 107 bytes"};
  std::memcpy(address.sun_path, path.c_str(), path.size());
  return address;
}

int stream_socket() {
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) throw Fault{"--control", FaultCode::invalid, std::strerror(errno)};
  return fd;
}

// Only a socket without a listener.
void remove_stale(const std::string& path, const sockaddr_un& address) {
  struct stat status{};
  if (lstat(path.c_str(), &status) != 0) return;
  if (!S_ISSOCK(status.st_mode))
    throw Fault{"--control", FaultCode::conflict, path + " exists and is not a socket"};
  const int probe = stream_socket();
  const int refused = connect(probe, reinterpret_cast<const sockaddr*>(&address), sizeof(address));
  const bool stale = refused != 0 && errno == ECONNREFUSED;
  close(probe);
  if (!stale) throw Fault{"--control", FaultCode::conflict, "another process listens on " + path};
  unlink(path.c_str());
}

}  // namespace

ControlSocket::ControlSocket(std::string path, int epoll, Handler handler)
    : path_(std::move(path)), epoll_(epoll), handler_(std::move(handler)) {
  const sockaddr_un address = address_of(path_);
  remove_stale(path_, address);
  listener_ = stream_socket();
  if (bind(listener_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0 ||
      listen(listener_, 16) != 0) {
    const std::string reason = std::strerror(errno);
    close(listener_);
    throw Fault{"--control", FaultCode::invalid, "cannot listen on " + path_ + ": " + reason};
  }
  watch(listener_, EPOLL_CTL_ADD, false);
}

ControlSocket::~ControlSocket() {
  for (const auto& [fd, client] : clients_) close(fd);
  close(listener_);
  unlink(path_.c_str());
}

void ControlSocket::watch(int fd, int operation, bool for_writing) {
  epoll_event event{};
  event.events = EPOLLIN | (for_writing ? EPOLLOUT : 0U);
  event.data.fd = fd;
  epoll_ctl(epoll_, operation, fd, &event);
}

bool ControlSocket::handle(int fd) {
  if (fd == listener_) {
    accept_client();
    return true;
  }
  const auto it = clients_.find(fd);
  if (it == clients_.end()) return false;
  if (!send_output(fd, it->second) || !receive(fd, it->second)) {
    drop(fd);
  }
  return true;
}

void ControlSocket::accept_client() {
  const int fd = accept4(listener_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
  if (fd < 0) return;
  clients_[fd];
  watch(fd, EPOLL_CTL_ADD, false);
}

bool ControlSocket::receive(int fd, Client& client) {
  char bytes[16 * 1024];
  const ssize_t n = recv(fd, bytes, sizeof(bytes), 0);
  if (n == 0) return false;
  if (n < 0) return errno == EAGAIN || errno == EINTR;
  client.input.append(bytes, static_cast<std::size_t>(n));
  return answer(fd, client);
}

bool ControlSocket::answer(int fd, Client& client) {
  for (std::size_t end; (end = client.input.find('\n')) != std::string::npos;) {
    client.output += handler_(client.input.substr(0, end), client.subscription) + "\n";
    client.input.erase(0, end + 1);
  }
  if (client.input.size() > MAX_LINE_BYTES || client.output.size() > MAX_UNREAD_BYTES) return false;
  return send_output(fd, client);
}

void ControlSocket::publish(EventLog& events) {
  if (events.empty()) return;
  for (auto it = clients_.begin(); it != clients_.end();) {
    const auto [fd, client] = std::tie(it->first, it->second);
    ++it;
    if (!client.subscription.active()) continue;
    client.lost += events.lost();
    if (client.output.size() > MAX_EVENTS_BYTES) {
      client.lost += events.count();
      continue;
    }
    if (client.lost > 0) client.output += "{\"lost\":" + std::to_string(client.lost) + "}\n";
    client.lost = 0;
    client.output += events.lines();
    if (!send_output(fd, client)) drop(fd);
  }
  events.clear();
}

void ControlSocket::drop(int fd) {
  close(fd);
  clients_.erase(fd);
}

bool ControlSocket::send_output(int fd, Client& client) {
  const bool had_output = !client.output.empty();
  while (!client.output.empty()) {
    const ssize_t n = send(fd, client.output.data(), client.output.size(), MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno != EAGAIN) return false;
    if (n < 0) break;
    client.output.erase(0, static_cast<std::size_t>(n));
  }
  if (had_output) watch(fd, EPOLL_CTL_MOD, !client.output.empty());
  return true;
}

}  // namespace clarion::emu
