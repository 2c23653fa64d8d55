// SPDX-License-Identifier: Apache-2.0
// A switch of hls-sim as a card: the units of its ports behind one register window, mapped as a file.
#pragma once

#include <memory>
#include <string>

#include "fabric.hpp"
#include "hls/sim/bar_server.hpp"
#include "hls/sim/simulated_port.hpp"

namespace clarion::sim {

class SwitchWindow {
 public:
  // Ports are numbered from 0 in the order of the switch, as on a card. Fault if there are too many.
  SwitchWindow(const emu::Fabric& fabric, const emu::Switch& sw, const std::string& path);

  void poll();

 private:
  void clock_unit(std::size_t unit);

  const emu::Fabric& fabric_;
  const emu::Switch& switch_;
  std::unique_ptr<RegisterFile> registers_;
  std::unique_ptr<BarServer> server_;
};

}  // namespace clarion::sim
