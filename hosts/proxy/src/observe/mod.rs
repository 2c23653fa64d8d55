// SPDX-License-Identifier: Apache-2.0
pub fn notify_ready() {}
pub fn start_log(_json: bool) -> anyhow::Result<()> {
    tracing_subscriber::fmt()
        .with_env_filter(
            tracing_subscriber::EnvFilter::try_from_default_env().unwrap_or_else(|_| "info".into()),
        )
        .with_writer(std::io::stderr)
        .init();
    Ok(())
}
