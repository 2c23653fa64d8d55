# SPDX-License-Identifier: Apache-2.0
"""A session of a p4runtime-shell user. Arguments: address, P4Info, any file as the binary."""

from __future__ import annotations

import sys

import p4runtime_sh.shell as sh  # type: ignore[import-not-found]
from p4runtime_sh.p4runtime import P4RuntimeWriteException  # type: ignore[import-not-found]


def main(address: str, p4info: str, binary: str) -> None:
    """Prints "done" at the end."""
    config = sh.FwdPipeConfig(p4info, binary)
    sh.setup(device_id=1, grpc_addr=address, election_id=(0, 1), config=config, verbose=False)
    try:
        entry = sh.TableEntry("xcp_port")(action="set_xcp_port")
        entry.match["port"] = "2"
        for name, value in {
            "capacity": 1_000_000, "alpha": 26214, "beta": 14811, "gamma": 6554,
            "min_interval": 268435, "max_interval": 268435456, "generation": 1, "epoch": 1,
        }.items():  # fmt: skip
            entry.action[name] = str(value)
        entry.insert()
        found = list(sh.TableEntry("xcp_port").read())
        assert len(found) == 1, found
        assert "x0f" in str(found[0]), found[0]  # of 0x0f4240
        entry.action["capacity"] = "2000000"
        entry.modify()
        refusal = ""
        try:
            entry.insert()
        except P4RuntimeWriteException as error:
            refusal = str(error)
        assert "xcp_port[2]: exists; use MODIFY" in refusal, refusal
        forward = sh.TableEntry("l2_forward")(action="forward")
        forward.match["dst_addr"] = "02:00:00:00:00:02"
        forward.action["port"] = "1"
        forward.insert()
        group = sh.MulticastGroupEntry(1)
        group.add(257).add(258)
        group.insert()
        counter = sh.CounterEntry("tx")
        counter.index = 1
        (cell,) = counter.read()
        assert cell.packet_count == 0, cell
        digest = sh.DigestEntry("interval_report_t")
        digest.max_list_size = 1
        digest.insert()
        entry.delete()
        assert list(sh.TableEntry("xcp_port").read()) == []
    finally:
        sh.teardown()
    print("done")


if __name__ == "__main__":
    main(*sys.argv[1:])
