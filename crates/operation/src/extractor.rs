//! The extractors and the tools that each of them is for.

use crate::found::Found;
use crate::rule::Rules;
use crate::{countermeasure, file, generic, project, survey};
use evenkeel_domain::{ErrorBody, OperationMetadata, glob_fits};
use serde_json::Value;

/// One execution of a tool, as extractors see it.
#[derive(Debug, Clone, Copy)]
pub struct Execution<'a> {
    /// The tool.
    pub tool_name: &'a str,
    /// What it was called with.
    pub arguments: &'a Value,
    /// What it answered, [`parsed`](crate::parsed).
    pub result: &'a Value,
    /// What a tool that failed said.
    pub failure: Option<&'a str>,
    /// Why it could not be run.
    pub error: Option<&'a ErrorBody>,
}

impl<'a> Execution<'a> {
    pub(crate) fn is_success(&self) -> bool {
        self.failure.is_none() && self.error.is_none()
    }

    pub(crate) fn errors(&self) -> impl Iterator<Item = &'a str> {
        self.error.map(|error| error.message.as_str()).into_iter().chain(self.failure)
    }
}

/// What looks for something in the executions of some tools.
pub struct Extractor {
    /// Its name.
    pub name: &'static str,
    /// The names of the tools that it is for, in lower case, with `*` and `?`.
    pub tools: &'static [&'static str],
    extract: fn(&Execution<'_>, &mut Found),
}

/// Every extractor; all that fit a tool look at what it did, in this order.
#[must_use]
pub fn extractors() -> &'static [Extractor] {
    const ALL: &[Extractor] = &[
        Extractor { name: "generic", tools: &["*"], extract: generic::extract },
        Extractor { name: "survey", tools: &["*survey*", "*answer*", "*question*"], extract: survey::extract },
        Extractor {
            name: "project",
            tools: &["*project*", "*application*", "app_*", "*_app", "*_app_*"],
            extract: project::extract,
        },
        Extractor { name: "countermeasure", tools: &["*countermeasure*", "*counter_measure*"], extract: countermeasure::extract },
        Extractor { name: "files", tools: &["*file*", "*director*", "*folder*", "*path*", "*document*"], extract: file::extract },
    ];
    ALL
}

/// What matters of an execution: the finds of every extractor that fits the tool, and of the user's own rules.
#[must_use]
pub fn metadata(execution: &Execution<'_>, rules: &Rules) -> OperationMetadata {
    let tool = execution.tool_name.to_lowercase();
    let mut found = Found::default();
    for extractor in extractors() {
        if extractor.tools.iter().any(|pattern| glob_fits(pattern, &tool)) {
            (extractor.extract)(execution, &mut found);
        }
    }
    rules.apply(&tool, execution.result, &mut found);
    found.finish()
}
