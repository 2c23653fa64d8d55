// SPDX-License-Identifier: Apache-2.0
// What the pages of the dashboard do in the browser: units on axes, charts that grow in place, the theme.
(() => {
  const PREFIXES = [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"]];

  // 96500000, "bit/s" -> "96.5 Mbit/s"
  function si(value, unit) {
    if (value === null || value === undefined || Number.isNaN(value)) return "–";
    if (unit === "BER") return value === 0 ? "0" : power(value);
    const [scale, prefix] = PREFIXES.find(([scale]) => Math.abs(value) >= scale * 0.9995) ?? [1, ""];
    const text = String(Number((value / scale).toPrecision(3))).replace("-", "−");
    return unit === "pkt/s" && prefix ? `${text}${prefix} ${unit}` : `${text} ${prefix}${unit}`;
  }

  // 3.2e-7 -> "3.2 × 10⁻⁷"
  function power(value) {
    const [mantissa, exponent] = value.toExponential(1).split("e");
    const raised = [...exponent.replace("+", "")].map((c) => (c === "-" ? "⁻" : "⁰¹²³⁴⁵⁶⁷⁸⁹"[c])).join("");
    return mantissa === "1.0" ? `10${raised}` : `${mantissa} × 10${raised}`;
  }

  function clock(ms) {
    const time = new Date(ms);
    return [time.getUTCHours(), time.getUTCMinutes(), time.getUTCSeconds()].map((n) => String(n).padStart(2, "0")).join(":");
  }

  // The window ends with the newest point; as long as there is less to show than fits, it is narrower.
  function begin(range, span_ms) {
    return Math.min(Math.max(range.min, range.max - span_ms), range.max - Math.min(span_ms, 60000));
  }

  // rows: {element id: [[time, value] for each series]}; points older than the window are dropped, and a gap
  // of more than `gap_ms` is left open
  function append(rows, span_ms, gap_ms) {
    for (const [id, row] of Object.entries(rows)) {
      const chart = getElement(Number(id))?.chart;
      if (!chart) continue;
      const series = chart.getOption().series.map((each, index) => {
        const data = each.data;
        const point = row[index];
        const last = data[data.length - 1];
        if (last && point[0] - last[0] > gap_ms) data.push([last[0] + 1, null]);
        if (!last || point[0] > last[0]) data.push(point);
        while (data.length && data[0][0] < point[0] - span_ms) data.shift();
        return { data };
      });
      chart.setOption({ series });
    }
  }

  function theme(name) {
    const root = document.documentElement;
    if (name) root.dataset.theme = name;
    else delete root.dataset.theme;
    const secure = location.protocol === "https:" ? "; Secure" : "";
    document.cookie = `clarion_theme=${name ?? ""}; Path=/; SameSite=Lax; Max-Age=${name ? 31536000 : 0}${secure}`;
  }

  window.clarion = { si, clock, begin, append, theme };
})();
