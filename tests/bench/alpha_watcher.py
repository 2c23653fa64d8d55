# SPDX-License-Identifier: Apache-2.0
"""Polls clarion-switch for the alpha of the first port of a switch.

For each line `SWITCH ALPHA` on stdin it prints `looking` when polling has begun, then the monotonic time at
which the switch had the value.
"""

from __future__ import annotations

import json
import socket
import sys
import time


def main() -> None:
    control = socket.socket(socket.AF_UNIX)
    control.connect(sys.argv[1])
    replies = control.makefile("r")

    def alpha(switch: str) -> int | None:
        control.sendall(json.dumps({"cmd": "entries", "switch": switch}).encode() + b"\n")
        xcp = json.loads(replies.readline())["ports"][0]["xcp"]
        return None if xcp is None else int(xcp["alpha"])

    for line in sys.stdin:
        switch, wanted = line.split()
        alpha(switch)
        print("looking", flush=True)
        while alpha(switch) != int(wanted):
            time.sleep(0.0002)
        print(time.monotonic(), flush=True)


if __name__ == "__main__":
    main()
