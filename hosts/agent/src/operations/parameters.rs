// SPDX-License-Identifier: Apache-2.0
//! `params`: the run-time parameters of the laws.

use anyhow::{Context, Result};

use crate::kernel::parameters;
use crate::model::parameters::Parameter;

pub fn show(json: bool) -> Result<()> {
    let parameters = parameters::known()?;
    if json {
        println!("{}", serde_json::to_string_pretty(&parameters).context("encode parameters")?);
        return Ok(());
    }
    println!("{:<32} {:>10} {:>10} {:>10}  laws", "parameter", "default", "min", "max");
    for Parameter { name, default, min, max, laws, .. } in parameters {
        println!("{name:<32} {default:>10} {min:>10} {max:>10}  {}", laws.join(" "));
    }
    Ok(())
}
