// SPDX-License-Identifier: Apache-2.0
// Prints, as Markdown, results of clarion_boost on three simulated paths, with one constant at a time off its
// default: the record behind the defaults of boost_* in hosts/bpf/cc/params.def
// (docs/results/boost-sweep.md).
#include <cstdio>
#include <vector>

#include "simulation.hpp"

namespace {

using namespace clarion::testing;

constexpr double kRate = 125e6;  // 1 Gbit/s
constexpr double kPacketsPerSecond = kRate / 1546;

struct Outcome {
  double share, jain, drop_ratio;
};

// Flows start 10 s apart; measured from `from_s` to `to_s`.
Outcome measure(const cc_params& params, int flows, double rtt_s, double queue_bdp, double loss,
                double from_s, double to_s) {
  Path path;
  path.rate_bytes_per_s = kRate;
  path.rtt_s = rtt_s;
  path.queue_packets = static_cast<int>(kPacketsPerSecond * rtt_s * queue_bdp);
  path.wire_loss = loss;
  Simulation simulation(path, params);
  for (int i = 0; i < flows; i++) simulation.add_flow(std::make_unique<BoostLaw>(), i * 10.0, true, true);
  simulation.run_until(from_s);
  std::vector<double> before;
  for (int i = 0; i < flows; i++) before.push_back(simulation.delivered(i));
  simulation.run_until(to_s);
  double sum = 0, squares = 0, delivered = 0;
  for (int i = 0; i < flows; i++) {
    double share = (simulation.delivered(i) - before[i]) / (to_s - from_s) / kPacketsPerSecond;
    sum += share;
    squares += share * share;
    delivered += simulation.delivered(i);
  }
  return {sum, sum * sum / (flows * squares), static_cast<double>(simulation.queue_drops()) / delivered};
}

void print_row(const char* name, __u32 value, bool is_default, const cc_params& params) {
  Outcome single = measure(params, 1, 0.080, 2, 0.005, 0, 4);
  Outcome deep = measure(params, 3, 0.100, 1, 0, 30, 50);
  Outcome shallow = measure(params, 3, 0.100, 0.25, 0.001, 30, 50);
  std::printf("| `%s` | %s%u%s | %.3f | %.3f, %.3f | %.3f, %.3f | %.2f %% |\n", name, is_default ? "**" : "",
              value, is_default ? "**" : "", single.share, deep.share, deep.jain, shallow.share, shallow.jain,
              100 * shallow.drop_ratio);
  std::fflush(stdout);
}

}  // namespace

int main() {
  std::puts(
      "| constant | value | one flow, first 4 s | deep queue: use, Jain | shallow queue: use, Jain | drops "
      "|");
  std::puts("| --- | --- | --- | --- | --- | --- |");
#define SWEEP(name, ...)                                      \
  for (__u32 value : {__VA_ARGS__}) {                         \
    cc_params params = kDefaults;                             \
    params.name = value;                                      \
    print_row(#name, value, value == kDefaults.name, params); \
  }
  SWEEP(boost_alpha_q16, 2048, 8192, 32768, 65536)
  SWEEP(boost_beta_q16, 32768, 45875, 52429, 58982)
  SWEEP(boost_gamma_q16, 3277, 6554, 13107, 26214)
  SWEEP(boost_delta_q16, 1638, 6554, 26214)
  SWEEP(boost_eta_q16, 73728, 81920, 98304)
  SWEEP(boost_lin_packets, 10, 50, 100, 200)
  SWEEP(boost_lin_root_percent, 0, 50, 100, 200)
  SWEEP(boost_initial_window_packets, 10, 32, 64, 200)
  SWEEP(boost_per_ack, 0, 1)
  SWEEP(boost_exp_cap_percent, 0, 150, 200, 300)
  SWEEP(boost_later_cap_percent, 0, 125, 200)
  SWEEP(boost_gate, 0, 1)
  SWEEP(boost_drain_percent, 0, 90, 95, 99)
  SWEEP(boost_knee, 0, 1)
#undef SWEEP
  return 0;
}
