# SPDX-License-Identifier: Apache-2.0
"""Policy "noise": how many packets the wire into a port corrupts, and whether it is getting worse."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from clarion_control.bit_errors import WireSample, estimate
from clarion_control.tuner.policy import Memory, Parameter, PolicySpec, Proposal, Verdict, View

LAW = """\
The sequence check counts the packets that the wire into the port lost; with those received they give the
packet error rate, and with the mean length the bit error rate, each with a 95 % interval (Wilson). The
link's own rate in quiet times is its baseline. Against it a cumulative sum test watches for a rate of
`factor` times the baseline: per period S grows by lost ln(factor) - sent baseline (factor - 1), divided
by the dispersion of the losses, and never falls below zero. At `threshold` the link is flagged as
degrading; the same test the other way round takes the flag back."""

PARAMETERS = (
    Parameter("factor", 3, "", 1.2, 1000, "a rate this many times the baseline is to be found"),
    Parameter(
        "threshold", 12, "", 3, 100, "of S; a false alarm comes about once in e^threshold periods at most"
    ),
    Parameter("least_lost", 10, "packets", 1, 100_000, "no flag on fewer losses than this", whole=True),
    Parameter("learn_packets", 20_000, "packets", 100, 1e9, "that the first baseline takes", whole=True),
    Parameter("learn_s", 30, "s", 1, 86_400, "that it takes at least"),
    Parameter("baseline_s", 3600, "s", 60, 864_000, "after which a part of the baseline is forgotten by 1/e"),
    Parameter("window_s", 60, "s", 2, 3600, "over which the rate that is reported is taken"),
)


@dataclass(frozen=True)
class _Test:
    """The baseline and the running sum. `last_*` is the sample up to which all is counted."""

    last_us: int = 0
    last_lost: int = 0
    last_packets: int = 0
    last_counted: int = 0
    last_late: int = 0
    learned_s: float = 0.0
    base_lost: float = 0.0
    base_packets: float = 0.0
    base_periods: float = 0.0
    base_squares: float = 0.0  # of (lost - expected) / sqrt(expected), summed over the periods
    score: float = 0.0
    run_lost: int = 0  # since the score left zero
    run_packets: int = 0
    unlearned: int = 0  # losses that the baseline has not got, while late packets may still take them back
    flagged: bool = False

    @property
    def last(self) -> WireSample:
        """The totals up to which all has been counted."""
        return WireSample(self.last_us, self.last_counted, self.last_late, self.last_packets, 0)

    @property
    def baseline(self) -> float:
        """Of a link that has never lost a packet half a loss is assumed."""
        return (self.base_lost + 0.5) / (self.base_packets + 1)

    @property
    def dispersion(self) -> float:
        return max(1.0, self.base_squares / self.base_periods) if self.base_periods >= 8 else 1.0


def judge(view: View, parameters: Mapping[str, float], memory: Memory) -> Verdict:
    """Counts new samples, reports the rate, sets the flag or takes it back."""
    test = _Test(**memory) if memory else _Test()
    before = test
    for sample in view.wire:
        if sample.time_us > test.last_us:
            test = _after(test, sample, parameters)
    seen = _seen(view, test, parameters)
    if seen is None:
        return Verdict.wait({"state": "nothing received"}, asdict(test))
    learning = test.base_packets < parameters["learn_packets"] or test.learned_s < parameters["learn_s"]
    if learning and not test.flagged:
        return Verdict.wait({"state": "learning", **seen}, asdict(test))
    found = test.score >= parameters["threshold"]
    if found and not test.flagged and test.run_lost >= parameters["least_lost"]:
        flagged = replace(test, flagged=True, score=0.0, run_lost=0, run_packets=0)
        return _flag("degrading", f"{_rate(test)} against {test.baseline:.2g} before", seen, flagged, test)
    if found and test.flagged:
        healed = replace(test, flagged=False, score=0.0, run_lost=0, run_packets=0)
        return _flag(
            "recovered", f"{_rate(test)}, near the {test.baseline:.2g} from before", seen, healed, before
        )
    return Verdict.wait({"state": "degrading" if test.flagged else "normal", **seen}, asdict(test))


def _flag(state: str, how: str, seen: Mapping[str, Any], after: _Test, before: _Test) -> Verdict:
    summary = f"The link into this port {'is degrading' if state == 'degrading' else 'has recovered'}: {how}."
    evidence = {"state": state, **seen}
    return Verdict(evidence, Proposal(summary, {}, evidence), asdict(after), asdict(before))


def _rate(test: _Test) -> str:
    return f"{test.run_lost} of {test.run_lost + test.run_packets} packets lost"


def _after(test: _Test, sample: WireSample, parameters: Mapping[str, float]) -> _Test:
    """One more period. Late packets take back losses of earlier ones: `lost` is then negative."""
    lost, packets = sample.lost_packets - test.last_lost, sample.received_packets - test.last_packets
    seconds = (sample.time_us - test.last_us) / 1e6
    moved = replace(
        test,
        last_us=sample.time_us,
        last_lost=sample.lost_packets,
        last_packets=sample.received_packets,
        last_counted=sample.counted_packets,
        last_late=sample.late_packets,
    )
    if test.last_us == 0 or sample.restarted_since(test.last) or lost == packets == 0:
        return moved
    if lost + packets <= 0:
        return test  # more came late than were sent: counted with the next period
    learning = test.base_packets < parameters["learn_packets"] or test.learned_s < parameters["learn_s"]
    if learning and not test.flagged:
        return _learned(moved, lost, packets, seconds, parameters)
    expected = test.baseline * (lost + packets)
    step = (lost * math.log(parameters["factor"]) - expected * (parameters["factor"] - 1)) / test.dispersion
    score = max(0.0, test.score + (-step if test.flagged else step))
    if score == 0.0:
        moved = replace(moved, score=0.0, run_lost=0, run_packets=0)
    else:
        moved = replace(
            moved,
            score=score,
            run_lost=max(0, test.run_lost + lost),
            run_packets=test.run_packets + packets,
        )
    if not test.flagged and score < parameters["threshold"] / 4:
        moved = replace(moved, unlearned=0 if score == 0.0 else test.unlearned)
        returned = min(test.unlearned, max(0, -lost))
        return _learned(moved, lost + returned, packets - returned, seconds, parameters)
    return replace(moved, unlearned=max(0, test.unlearned + lost))


def _learned(test: _Test, lost: int, packets: int, seconds: float, parameters: Mapping[str, float]) -> _Test:
    expected = test.baseline * (lost + packets)
    kept = math.exp(-seconds / parameters["baseline_s"])
    surprise = (lost - expected) ** 2 / expected if test.base_packets > 0 and expected > 0.05 else None
    return replace(
        test,
        learned_s=test.learned_s + seconds,
        base_lost=max(0.0, test.base_lost * kept + lost),
        base_packets=test.base_packets * kept + lost + packets,
        base_periods=test.base_periods * kept + (surprise is not None),
        base_squares=test.base_squares * kept + (surprise or 0.0),
    )


def _seen(view: View, test: _Test, parameters: Mapping[str, float]) -> dict[str, Any] | None:
    """The rate over the last `window_s`, and the state of the test."""
    found = estimate(view.wire, view.now_us, parameters["window_s"] * 1e6, test.dispersion)
    if found is None:
        return None
    return {
        "from_us": found.first.time_us,
        "to_us": found.last.time_us,
        **found.rates.as_json(),
        "baseline_per": test.baseline if test.base_packets else None,
        "dispersion": round(test.dispersion, 3),
        "score": round(test.score, 3),
        "exact": found.last.exact,  # False: the rates are lower bounds, by all that left by other ports
    }


SPEC = PolicySpec(
    name="noise",
    title="Corruption per link, and a flag when it grows",
    law=" ".join(LAW.split()),
    guard_rails=(
        "Changes no setting.",
        "No flag before a baseline of `learn_packets` packets and `learn_s`, none on fewer than"
        " `least_lost` losses.",
        "Losses that come in bursts count less, by their dispersion in quiet times; what looks like"
        " the beginning of a rise, or comes while the link is flagged, does not become part of the"
        " baseline.",
    ),
    governs=(),
    parameters=PARAMETERS,
    judge=judge,
)
