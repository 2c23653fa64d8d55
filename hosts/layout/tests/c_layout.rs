// SPDX-License-Identifier: Apache-2.0
//! The structures against hosts/bpf/flow.h.

use std::mem::offset_of;
use std::path::Path;
use std::process::Command;

use clarion_layout::*;

/// Offsets of members, and at last the size, by the C compiler.
fn c_layout(name: &str, members: &[&str]) -> Vec<usize> {
    let bpf = Path::new(env!("CARGO_MANIFEST_DIR")).join("../bpf");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let (source, program) = (folder.join(format!("{name}.c")), folder.join(name));
    let lines: String = members
        .iter()
        .map(|member| format!("printf(\"%zu\\n\", offsetof(struct {name}, {member}));"))
        .collect();
    let text = format!(
        "#include <stddef.h>\n#include <stdio.h>\n#include \"flow.h\"\n\
         int main(void) {{ {lines} printf(\"%zu\\n\", sizeof(struct {name})); return 0; }}\n"
    );
    std::fs::write(&source, text).expect("write");
    let built = Command::new("cc").arg("-I").arg(bpf).arg(&source).arg("-o").arg(&program).status();
    assert!(built.expect("cc").success());
    let printed = Command::new(&program).output().expect("run").stdout;
    String::from_utf8_lossy(&printed).lines().map(|line| line.parse().expect("number")).collect()
}

macro_rules! assert_layout {
    ($name:literal, $type:ty, $($member:ident),*) => {
        let own = [$(offset_of!($type, $member),)* size_of::<$type>()];
        assert_eq!(c_layout($name, &[$(stringify!($member)),*]), own, "struct {}", $name);
    };
}

#[test]
fn layouts_match_the_programs() {
    assert_layout!("flow_request", FlowRequest, wanted, field, ect1, pad, rtt, x, delta_throughput, full_len);
    assert_layout!(
        "flow_ask",
        FlowAsk,
        netns_cookie,
        cookie,
        request,
        carries,
        tags,
        guard_at,
        pad,
        guard,
        guard_mask,
        lock,
        tail
    );
    assert_layout!(
        "flow_identity",
        FlowIdentity,
        netns_cookie,
        cookie,
        bucket,
        aware,
        tags,
        plain,
        peer_format,
        plain_fallbacks,
        heard,
        plain_turn,
        pad
    );
    assert_layout!("flow_seen", FlowSeen, granted, corrupt, congest, regulated, field, pad);
    assert_layout!(
        "flow_echo",
        FlowEcho,
        reverse_feedback,
        rev_corrupt,
        rev_congest,
        nr_echoes,
        regulated,
        field,
        pad
    );
    assert_layout!(
        "flow_stats",
        FlowStats,
        tx_headers,
        rx_headers,
        gso_passed,
        feedback_bytes_per_s,
        local_drops,
        local_corrupt,
        refused_segments,
        reduced,
        rebased,
        corrupt,
        congest
    );
    assert_layout!("flow", Flow, id, passage, seen, echo, request, stats, decision, pad, law, lock);
}
