// SPDX-License-Identifier: Apache-2.0
//! The program `clarion-proxy`.

use std::process::ExitCode;

fn main() -> ExitCode {
    clarion_proxy::cli::main()
}
