//! The tenshift-core side of the comparison; the protocol stands in ../doc.go.
//!
//! ```text
//! tenshift DIR
//! ```
//!
//! DIR is the folder with the lines that the driver wrote.

mod case;
mod crc;
mod data;
mod tally;

use std::error::Error;
use std::io::{self, BufRead, Write};
use std::process::ExitCode;

use serde_json::json;

use case::Runner;

/// Says which version of the library was built.
const LOCK: &str = include_str!("../Cargo.lock");

fn main() -> ExitCode {
    match serve() {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("tenshift: {e}");
            ExitCode::FAILURE
        }
    }
}

fn serve() -> Result<(), Box<dyn Error>> {
    let dir = std::env::args_os()
        .nth(1)
        .ok_or("name the folder of the lines")?;
    let mut runner = Runner::new(dir.into());
    let mut out = io::stdout().lock();
    let hello = json!({"system": "tenshift-core", "version": locked("tenshift-core")});
    writeln!(out, "{hello}")?;
    out.flush()?;
    for line in io::stdin().lock().lines() {
        let line = line?;
        let words: Vec<&str> = line.split_whitespace().collect();
        let [case, workers, n] = words[..] else {
            return Err(format!("{line:?} is not CASE WORKERS N").into());
        };
        let workers = workers
            .parse()
            .map_err(|e| format!("workers {workers:?}: {e}"))?;
        let n = n.parse().map_err(|e| format!("samples {n:?}: {e}"))?;
        let run = runner
            .run(case, workers, n)
            .map_err(|e| format!("{line}: {e}"))?;
        let answer = json!({
            "case": case,
            "workers": workers,
            "samples": run.tally.samples,
            "seconds": run.seconds,
            "fold": run.tally.fold,
        });
        writeln!(out, "{answer}")?;
        out.flush()?;
    }
    Ok(())
}

/// The version of a package in the lock file.
fn locked(name: &str) -> &'static str {
    LOCK.split("[[package]]")
        .find(|entry| entry.contains(&format!("name = \"{name}\"")))
        .and_then(|entry| entry.split("version = \"").nth(1))
        .and_then(|rest| rest.split('"').next())
        .unwrap_or("unknown")
}
