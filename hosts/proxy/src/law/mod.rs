// SPDX-License-Identifier: Apache-2.0
use crate::header::Channel;
use noq_proto::congestion::{Controller, ControllerFactory, CubicConfig};
use std::sync::Arc;
pub struct LawFactory(Arc<CubicConfig>);
impl LawFactory {
    pub fn new(_: &str, _: &[(String, u32)], _: Arc<dyn Channel>) -> anyhow::Result<Self> {
        Ok(Self(Arc::default()))
    }
}
impl ControllerFactory for LawFactory {
    fn build(self: Arc<Self>, now: std::time::Instant, mtu: u16) -> Box<dyn Controller> {
        self.0.clone().build(now, mtu)
    }
}
