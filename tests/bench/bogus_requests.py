# SPDX-License-Identifier: Apache-2.0
"""Requests with tokens that are not valid, from many addresses of loopback, as a process of its own.

    python bogus_requests.py PORT RATE SOURCES

Half go to the API, half are sign-ins to the dashboard. They begin with a line on the input and end with its
end; then the number of answers by their status is printed, as JSON.
"""

from __future__ import annotations

import asyncio
import json
import secrets
import sys
from collections import Counter

CONNECTIONS = 32
TIMEOUT_S = 30.0


def main() -> int:
    port, rate, sources = (int(text) for text in sys.argv[1:])
    statuses: Counter[int] = Counter()
    sys.stdin.readline()
    asyncio.run(flood(port, rate, sources, statuses))
    print(json.dumps(statuses), flush=True)
    return 0


async def flood(port: int, rate: int, sources: int, statuses: Counter[int]) -> None:
    """Until the input ends."""
    ended = asyncio.ensure_future(asyncio.to_thread(sys.stdin.read))
    senders = [
        asyncio.create_task(sender(port, CONNECTIONS / rate, number, sources, statuses))
        for number in range(CONNECTIONS)
    ]
    await ended
    for task in senders:
        task.cancel()
    await asyncio.gather(*senders, return_exceptions=True)


async def sender(port: int, every_s: float, number: int, sources: int, statuses: Counter[int]) -> None:
    """One request after the other, each over a connection from another address."""
    loop = asyncio.get_running_loop()
    due_s = loop.time() + every_s * number / CONNECTIONS
    while True:
        await asyncio.sleep(due_s - loop.time())
        due_s = max(due_s + every_s, loop.time() - 1.0)
        number += CONNECTIONS
        statuses[await request(port, address(number % sources), number // CONNECTIONS % 2 == 0)] += 1


def address(number: int) -> str:
    """One of the sources: 127.0.1.1 and up."""
    return f"127.0.{1 + number // 250}.{1 + number % 250}"


async def request(port: int, source: str, sign_in: bool) -> int:
    """Its status, 0 without an answer."""
    token = f"clarion_{secrets.token_urlsafe(32)}"
    if sign_in:
        body = f"token={token}"
        head = "POST /login HTTP/1.1\r\nContent-Type: application/x-www-form-urlencoded\r\n"
        head += f"Content-Length: {len(body)}\r\n"
    else:
        body, head = "", f"GET /v1/switches HTTP/1.1\r\nAuthorization: Bearer {token}\r\n"
    text = f"{head}Host: 127.0.0.1\r\nConnection: close\r\n\r\n{body}"
    try:
        return await asyncio.wait_for(status(port, source, text), TIMEOUT_S)
    except (OSError, asyncio.TimeoutError, IndexError):
        return 0


async def status(port: int, source: str, text: str) -> int:
    """Sends the text and reads the answer."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port, local_addr=(source, 0))
    try:
        writer.write(text.encode())
        line = await reader.readline()
        await reader.read()
        return int(line.split()[1])
    finally:
        writer.close()


if __name__ == "__main__":
    sys.exit(main())
