# SPDX-License-Identifier: Apache-2.0
"""Reports in the format of Vitis HLS. Only the format is real: the figures are invented."""

from __future__ import annotations

from pathlib import Path


def report(name: str, *, clock: str = "2.9", latency: str = "3", ii: str = "1") -> str:
    return f"""<?xml version="1.0" encoding="UTF-8"?>
<profile>
  <UserAssignments>
    <unit>ns</unit>
    <TargetClockPeriod>4.00</TargetClockPeriod>
    <ClockUncertainty>0.80</ClockUncertainty>
    <TopModelName>{name}</TopModelName>
  </UserAssignments>
  <PerformanceEstimates>
    <PipelineType>yes</PipelineType>
    <SummaryOfTimingAnalysis>
      <unit>ns</unit>
      <EstimatedClockPeriod>{clock}</EstimatedClockPeriod>
    </SummaryOfTimingAnalysis>
    <SummaryOfOverallLatency>
      <unit>clock cycles</unit>
      <Best-caseLatency>{latency}</Best-caseLatency>
      <Worst-caseLatency>{latency}</Worst-caseLatency>
      <PipelineInitiationInterval>{ii}</PipelineInitiationInterval>
      <PipelineDepth>4</PipelineDepth>
      <Interval-min>1</Interval-min>
      <Interval-max>7</Interval-max>
    </SummaryOfOverallLatency>
    <SummaryOfLoopLatency/>
    <SummaryOfViolations>
      <IssueType>-</IssueType>
      <ViolationType>-</ViolationType>
      <SourceLocation>-</SourceLocation>
    </SummaryOfViolations>
  </PerformanceEstimates>
  <AreaEstimates>
    <Resources>
      <BRAM_18K>12</BRAM_18K>
      <FF>3456</FF>
      <LUT>2345</LUT>
      <DSP>0</DSP>
      <URAM>9</URAM>
    </Resources>
  </AreaEstimates>
</profile>
"""


def write(folder: Path, files: dict[str, str]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder
