# SPDX-License-Identifier: Apache-2.0
"""What all schemas share: strict types, names, times, pages."""

from __future__ import annotations

from typing import Annotated, Any, Generic, TypeVar

from fastapi import Path, Query
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

MAX_ID = 2**63 - 1  # what the store's integers hold
MAX_TIME_US = 2**53 - 1  # the year 2255, and exact in every JSON reader
NAME = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$"
LINE = r"^[^\x00-\x1f\x7f-\x9f\u2028\u2029]*$"  # one line of text
PAGE_ITEMS = 100
MAX_PAGE_ITEMS = 1000

Item = TypeVar("Item")


class Model(BaseModel):
    """A JSON object: no field that is not declared, no number that was a string."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)


class Page(Model, Generic[Item]):
    """Part of a list, newest first."""

    items: list[Item]
    next: str | None = Field(
        description="Address of the next page, also in the header Link; null on the last one.",
        examples=["/v1/audit?limit=100&before_id=4711"],
    )


def _whole(value: Any) -> Any:
    """JSON has one kind of number: 1e6 is as whole as 1000000."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


Whole = Annotated[int, BeforeValidator(_whole)]
SwitchName = Annotated[
    str, Path(description="Name of the switch.", min_length=1, max_length=63, examples=["s1"])
]
PortNumber = Annotated[
    int, Path(description="Number of the port at its switch.", ge=0, le=MAX_ID, examples=[1])
]
RecordId = Annotated[int, Path(description="Number of the record.", ge=0, le=MAX_ID, examples=[1])]
OfSwitch = Annotated[
    str | None, Query(description="Only those of this switch.", pattern=NAME, examples=["s1"])
]
OfPort = Annotated[int | None, Query(description="Only those of this port.", ge=0, le=MAX_ID, examples=[1])]
BeforeId = Annotated[
    int | None, Query(description="Only those with a smaller id: the next page.", ge=0, le=MAX_ID)
]
Limit = Annotated[int, Query(description="How many at most.", ge=1, le=MAX_PAGE_ITEMS)]
Reason = Annotated[
    str | None,
    Query(
        description="Why, for the audit; one line.", max_length=200, pattern=LINE, examples=["maintenance"]
    ),
]


def time_field(what: str, **more: Any) -> Any:
    """A time, in microseconds since 1970."""
    return Field(
        description=f"{what}, Unix time in us.", ge=0, le=MAX_TIME_US, examples=[1764000000000000], **more
    )
