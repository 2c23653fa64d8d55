// SPDX-License-Identifier: Apache-2.0
//! The HTTP end point of the metrics.

use std::net::SocketAddr;
use std::sync::Arc;
use std::thread;

use anyhow::{Context, Result, anyhow};
use tiny_http::{Header, Method, Request, Response, Server};

use super::{Observed, metrics};

const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
const PATH: &str = "/metrics";

/// Answers in a thread until the program ends; returns the address, whose port the system chose if it was 0.
pub fn start(address: SocketAddr, observed: Arc<Observed>) -> Result<SocketAddr> {
    let server = Server::http(address).map_err(|error| {
        anyhow!("cannot listen at TCP {address}: {error}; choose another address in --metrics")
    })?;
    let bound = server.server_addr().to_ip().context("metrics without an IP address")?;
    thread::Builder::new()
        .name("metrics".into())
        .spawn(move || {
            for request in server.incoming_requests() {
                if let Err(error) = answer(request, &observed) {
                    tracing::debug!(%error, "metrics");
                }
            }
        })
        .context("thread for metrics")?;
    Ok(bound)
}

fn answer(request: Request, observed: &Observed) -> std::io::Result<()> {
    let path = request.url().split('?').next().unwrap_or_default();
    if path != PATH {
        return request.respond(Response::from_string("see /metrics\n").with_status_code(404));
    }
    if !matches!(request.method(), Method::Get | Method::Head) {
        return request.respond(Response::from_string("GET only\n").with_status_code(405));
    }
    let Ok(text) = metrics::render(observed.status()) else {
        return request.respond(Response::from_string("no metrics\n").with_status_code(500));
    };
    let mut response = Response::from_string(text);
    if let Ok(header) = Header::from_bytes("Content-Type", CONTENT_TYPE) {
        response = response.with_header(header);
    }
    request.respond(response)
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::TcpStream;

    use super::super::Status;
    use super::*;

    fn asked(address: SocketAddr, line: &str) -> String {
        let mut stream = TcpStream::connect(address).expect("connected");
        write!(stream, "{line} HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n").expect("asked");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("answer");
        answer
    }

    fn started() -> SocketAddr {
        let observed = Arc::new(Observed::default());
        observed.show(Status { connections: 12, ..Status::default() });
        start("127.0.0.1:0".parse().expect("address"), observed).expect("started")
    }

    #[test]
    fn metrics_are_at_their_path_only() {
        let address = started();
        let answer = asked(address, "GET /metrics");
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        assert!(answer.contains(CONTENT_TYPE), "{answer}");
        assert!(answer.contains("\nclarion_proxy_connections 12\n"), "{answer}");
        assert!(asked(address, "GET /").starts_with("HTTP/1.1 404"));
        assert!(asked(address, "DELETE /metrics").starts_with("HTTP/1.1 405"));
    }

    #[test]
    fn a_port_in_use_is_one_line_that_names_the_option() {
        let address = started();
        let error = start(address, Arc::default()).expect_err("in use").to_string();
        assert!(error.contains("--metrics") && !error.contains('\n'), "{error}");
    }
}
