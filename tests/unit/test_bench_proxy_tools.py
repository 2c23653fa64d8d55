# SPDX-License-Identifier: Apache-2.0
"""What the proxies' benchmarks measure with, without proxies."""

from __future__ import annotations

import socket
import threading

import pytest

from bench import proxy_cpu, proxy_first_byte, proxy_many
from bench.proxy_pair import endpoint
from bench.proxy_path import Direction, LongPath
from integration.waiting import wait_until

SIZE_BYTES = 4000


def test_processor_times_are_compared_within_a_repeat_and_an_offload() -> None:
    times = {
        "proxy, cubic, GSO": [4.0, 6.0],
        "proxy, cubic, one by one": [8.0, 9.0],
        "noq's bulk, GSO": [2.0, 4.0],
        "noq's bulk, one by one": [8.0, 10.0],
    }
    runs = {name: [{"both_s_per_gbyte": value} for value in each] for name, each in times.items()}
    assert proxy_cpu.ratios(runs) == {
        "proxy, cubic, GSO": {"median": 1.75, "min": 1.5, "max": 2.0},
        "proxy, cubic, one by one": {"median": 0.95, "min": 0.9, "max": 1.0},
    }


def test_without_the_example_there_are_no_ratios() -> None:
    assert proxy_cpu.ratios({"proxy, cubic, GSO": [{"both_s_per_gbyte": 4.0}]}) == {}


def received(*pieces: tuple[int, int]) -> proxy_many.Receiver:
    """A receiver of two connections that has had these bytes, one after the other, and their ends."""
    pairs = [socket.socketpair() for _ in range(2)]
    receiver = proxy_many.Receiver([far for _, far in pairs], SIZE_BYTES)
    expected = [0, 0]
    for number, count in pieces:
        pairs[number][0].sendall(bytes(count))
        expected[number] += count
        wait_until(lambda: receiver.received == expected, "the bytes are taken")
    for near, _ in pairs:
        near.close()
    wait_until(lambda: receiver.is_done, "the ends are seen")
    for _, far in pairs:
        far.close()
    return receiver


def test_goodputs_are_of_the_time_in_which_all_have_begun_and_none_has_ended() -> None:
    receiver = received((0, 1000), (1, 500), (1, 1500), (0, 3000), (1, 2000))
    first, second = receiver.goodputs_bps()
    assert first / second == pytest.approx(3000 / 1500)
    assert first == pytest.approx(8 * 3000 / receiver.interval_s)


def test_connections_one_after_the_other_are_no_common_interval() -> None:
    with pytest.raises(AssertionError, match="send more on each"):
        received((0, 4000), (1, 4000)).goodputs_bps()


def test_an_answer_has_the_size_that_was_asked_for() -> None:
    near, far = socket.socketpair()
    server = threading.Thread(target=proxy_first_byte.serve, args=(far,))
    server.start()
    with near:
        near.sendall(b"GET /700 HTTP/1.1\r\nHost: service\r\n\r\n")
        head, _, body = b"".join(iter(lambda: near.recv(4096), b"")).partition(b"\r\n\r\n")
    server.join()
    assert head.startswith(b"HTTP/1.1 200 OK\r\n")
    assert len(body) == 700


def test_queues_hold_a_bandwidth_delay_product_and_some_frames_at_least() -> None:
    path = LongPath(540_000, Direction(150_000_000), Direction(10_000, 0.5))
    assert path.port("client", path.to_client)["queue_bytes"] == 150_000_000 * 0.54 / 8
    assert path.port("server", path.to_server)["queue_bytes"] == 15_140
    assert path.port("server", path.to_server)["loss"] == {"model": "packet", "rate": 0.5}


@pytest.mark.parametrize(("address", "written"), [("10.97.0.1", "10.97.0.1:4433"), ("::1", "[::1]:4433")])
def test_addresses_are_written_as_options_have_them(address: str, written: str) -> None:
    assert endpoint(address, 4433) == written
