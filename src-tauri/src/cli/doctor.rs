//! `evenkeel doctor`.

use super::Caller;
use super::failure::{FAILED, Failure};
use crate::options::DoctorArguments;
use evenkeel_service::{CheckLevel, DoctorReport, DoctorWish, Finding};

pub(super) async fn doctor(caller: &Caller, arguments: DoctorArguments) -> Result<(), Failure> {
    let wish = DoctorWish { network: arguments.network, secret: caller.secret_of_file()? };
    let report = caller.service.doctor(wish).await;
    caller.print.value(&report, told)?;
    if report.is_healthy { Ok(()) } else { Err(Failure::Ended(FAILED)) }
}

fn told(report: &DoctorReport) -> String {
    report.findings.iter().map(line).collect()
}

fn line(finding: &Finding) -> String {
    let level = match finding.level {
        CheckLevel::Ok => "ok",
        CheckLevel::Warning => "warning",
        CheckLevel::Failed => "failed",
    };
    let advice = finding.advice.as_ref().map(|advice| format!("{:<24}{advice}\n", "")).unwrap_or_default();
    format!("{level:<8} {:<14} {}\n{advice}", finding.check, finding.message)
}
