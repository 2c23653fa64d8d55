// SPDX-License-Identifier: Apache-2.0
// Prints, as Markdown, results of clarion_boost on simulated paths, with one constant at a time off its
// default: the record behind the defaults of boost_* in hosts/bpf/cc/params.def
// (docs/results/boost-sweep.md).
//
// No figure of a paper is measured on one of these paths, or on one like it, so that no sender is tuned on
// what judges it; tests/unit/test_boost_sweep.py compares them with the scenarios.
#include <algorithm>
#include <array>
#include <cstdio>
#include <string>
#include <vector>

#include "simulation.hpp"

namespace {

using namespace clarion::testing;

constexpr int kSeeds = 5;
constexpr double kPacketBits = 1546 * 8;
// From seed to seed starts move by this much: where the wire loses nothing, nothing else is left to chance.
constexpr double kGapStepS = 0.13;

struct Question {
  const char* name;
  double mbit_per_s, rtt_ms, queue_bdp, loss_percent;
  int flows;
  double gap_s;         // between two starts
  double from_s, to_s;  // what is measured
};

constexpr Question kQuestions[] = {
    {"start", 300, 130, 2, 0.2, 1, 0, 0, 4},
    {"deep queue", 300, 210, 1, 0, 3, 10, 30, 50},
    {"shallow queue", 300, 90, 0.25, 0.03, 3, 10, 30, 50},
    {"short and slow", 30, 25, 1, 0, 2, 10, 20, 60},
    {"short and shallow", 30, 25, 0.25, 0, 2, 10, 20, 60},
    {"long and fast", 2500, 300, 1, 0.03, 1, 0, 0, 8},
};

// A quantity of the five seeds. `notable` is the least difference that matters.
struct Quantity {
  const char* format;
  bool is_better_above;
  double notable;
  std::array<double, kSeeds> values;

  double low() const { return *std::min_element(values.begin(), values.end()); }
  double high() const { return *std::max_element(values.begin(), values.end()); }
  double median() const {
    std::array<double, kSeeds> sorted = values;
    std::sort(sorted.begin(), sorted.end());
    return sorted[kSeeds / 2];
  }
  // Every seed is above every one of `other`, and notably so.
  bool is_above(const Quantity& other) const {
    return low() > other.high() && median() - other.median() >= notable;
  }
};

using Answer = std::vector<Quantity>;

double packets_per_s(const Question& question) { return question.mbit_per_s * 1e6 / kPacketBits; }

Path path_of(const Question& question) {
  Path path;
  path.rate_bytes_per_s = question.mbit_per_s * 1e6 / 8;
  path.rtt_s = question.rtt_ms / 1e3;
  path.queue_packets = static_cast<int>(packets_per_s(question) * path.rtt_s * question.queue_bdp);
  path.wire_loss = question.loss_percent / 100;
  return path;
}

struct Outcome {
  double use, jain, drop_percent;
};

Outcome measure(const Question& question, const cc_params& params, int seed) {
  Simulation simulation(path_of(question), params, static_cast<std::uint32_t>(seed));
  double gap_s = question.gap_s + kGapStepS * (seed - 1);
  for (int i = 0; i < question.flows; i++)
    simulation.add_flow(std::make_unique<BoostLaw>(), i * gap_s, true, true);
  simulation.run_until(question.from_s);
  std::vector<double> before;
  for (int i = 0; i < question.flows; i++) before.push_back(simulation.delivered(i));
  simulation.run_until(question.to_s);
  double sum = 0, squares = 0, delivered = 0;
  for (int i = 0; i < question.flows; i++) {
    double packets = simulation.delivered(i) - before[i];
    double share = packets / (question.to_s - question.from_s) / packets_per_s(question);
    sum += share;
    squares += share * share;
    delivered += simulation.delivered(i);
  }
  double jain = sum * sum / (question.flows * squares);
  double drops = static_cast<double>(simulation.queue_drops());
  return {sum, jain, 100 * drops / delivered};
}

Answer answer(const Question& question, const cc_params& params) {
  Quantity use{"%.3f", true, 0.01, {}}, jain{"%.3f", true, 0.01, {}};
  Quantity drops{"%.2f %%", false, 0.1, {}};
  for (int i = 0; i < kSeeds; i++) {
    Outcome outcome = measure(question, params, i + 1);
    use.values[i] = outcome.use;
    jain.values[i] = outcome.jain;
    drops.values[i] = outcome.drop_percent;
  }
  if (question.flows == 1) return {use, drops};
  return {use, jain, drops};
}

using Answers = std::vector<Answer>;

Answers answers(const cc_params& params) {
  Answers all;
  for (const Question& question : kQuestions) all.push_back(answer(question, params));
  return all;
}

std::string text(const char* format, double value) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, format, value);
  return buffer;
}

// The median, with + or - where every seed is better or worse than every one of the default.
std::string median_text(const Quantity& quantity, const Quantity& standard) {
  const char* mark = "";
  if (quantity.is_above(standard)) mark = quantity.is_better_above ? " +" : " -";
  if (standard.is_above(quantity)) mark = quantity.is_better_above ? " -" : " +";
  return text(quantity.format, quantity.median()) + mark;
}

std::string range_text(const Quantity& quantity, const Quantity&) {
  return text(quantity.format, quantity.low()) + " to " + text(quantity.format, quantity.high());
}

template <class ToText>
void print_row(const std::string& label, const Answers& all, const Answers& standard, ToText to_text) {
  std::string row = "| " + label + " |";
  for (std::size_t i = 0; i < all.size(); i++) {
    for (std::size_t j = 0; j < all[i].size(); j++)
      row += (j ? ", " : " ") + to_text(all[i][j], standard[i][j]);
    row += " |";
  }
  std::puts(row.c_str());
  std::fflush(stdout);
}

void print_paths() {
  std::puts("| question | rate, Mbit/s | RTT, ms | queue, BDP | loss, % | flows | measured, s |");
  std::puts("| --- | --- | --- | --- | --- | --- | --- |");
  for (const Question& q : kQuestions)
    std::printf("| %s | %g | %g | %g | %g | %d | %g to %g |\n", q.name, q.mbit_per_s, q.rtt_ms, q.queue_bdp,
                q.loss_percent, q.flows, q.from_s, q.to_s);
}

void print_heading() {
  std::string names = "\n| constant | value |", rule = "| --- | --- |";
  for (const Question& question : kQuestions) {
    names +=
        std::string(" ") + question.name + (question.flows == 1 ? ": use," : ": use, Jain,") + " drops |";
    rule += " --- |";
  }
  std::printf("%s\n%s\n", names.c_str(), rule.c_str());
}

}  // namespace

int main() {
  print_paths();
  print_heading();
  const Answers standard = answers(kDefaults);
  print_row("the defaults | lowest to highest", standard, standard, range_text);
#define SWEEP(name, ...)                                                                                 \
  for (__u32 value : {__VA_ARGS__}) {                                                                    \
    cc_params params = kDefaults;                                                                        \
    params.name = value;                                                                                 \
    bool is_default = value == kDefaults.name;                                                           \
    std::string shown = is_default ? "**" + std::to_string(value) + "**" : std::to_string(value);        \
    print_row("`" #name "` | " + shown, is_default ? standard : answers(params), standard, median_text); \
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
