# SPDX-License-Identifier: Apache-2.0
"""The forwarding pipeline config: the switch has one fixed program, and any other is refused."""

from __future__ import annotations

from finsy.proto import p4r

from clarion_agent.program import Program
from clarion_agent.state import Pipeline
from clarion_agent.status import invalid

_Set = p4r.SetForwardingPipelineConfigRequest
_Get = p4r.GetForwardingPipelineConfigRequest
WITH_CONFIG = (_Set.VERIFY, _Set.VERIFY_AND_SAVE, _Set.VERIFY_AND_COMMIT, _Set.RECONCILE_AND_COMMIT)


def verified(program: Program, request: p4r.SetForwardingPipelineConfigRequest) -> Pipeline | None:
    """The config of a request, None for COMMIT, which has none. Refused if it is not for this switch."""
    if request.action == _Set.COMMIT:
        if request.HasField("config"):
            raise invalid("config: COMMIT takes what was saved; leave it out")
        return None
    if request.action not in WITH_CONFIG:
        raise invalid(f"action {request.action}: is none; use VERIFY_AND_COMMIT, for instance")
    if not request.HasField("config"):
        raise invalid("config: is missing")
    difference = program.difference(request.config.p4info)
    if difference is not None:
        raise invalid(f"config: p4info: {difference}; this switch runs p4/clarion.p4info.txtpb")
    return Pipeline.of(request.config)


def reply(
    program: Program, pipeline: Pipeline | None, request: p4r.GetForwardingPipelineConfigRequest
) -> p4r.GetForwardingPipelineConfigResponse:
    """The requested parts of the running config; without one, a reply without a config."""
    if request.response_type not in _Get.ResponseType.values():
        raise invalid(f"response_type {request.response_type}: is none")
    response = p4r.GetForwardingPipelineConfigResponse()
    if pipeline is None:
        return response
    config = response.config
    config.SetInParent()
    if pipeline.cookie is not None:
        config.cookie.cookie = pipeline.cookie
    if request.response_type in (_Get.ALL, _Get.P4INFO_AND_COOKIE):
        config.p4info.CopyFrom(program.p4info)
    if request.response_type in (_Get.ALL, _Get.DEVICE_CONFIG_AND_COOKIE):
        config.p4_device_config = pipeline.device_config
    return response
