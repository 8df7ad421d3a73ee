//! Titles that were not given when they were due: they gave way, failed, or the app was closed.

use super::run::Run;
use crate::title::Titled;
use crate::{Service, ServiceError};

/// Conversations that are looked at in one run, those of the newest activity first.
const LOOKED_AT: u32 = 200;
/// Times that a model is asked in one run.
const ASKED: usize = 5;

impl Service {
    pub(super) async fn make_up_titles(&self, run: &Run) -> Result<Option<String>, ServiceError> {
        if !self.gives_titles() {
            return Ok(None);
        }
        let untitled = run.session.read(|r| r.untitled_conversations(LOOKED_AT)).await?;
        let (mut asked, mut given, mut failed) = (0, 0, None);
        for id in untitled {
            // What the model holds is a reply's first, and a vault that is to be closed waits for this.
            if asked == ASKED || !self.replies().is_empty() {
                break;
            }
            let titled = tokio::select! {
                titled = self.title_conversation(id) => titled,
                () = run.stop.cancelled() => break,
            };
            match titled {
                Ok(Titled::NotDue) => continue,
                Ok(Titled::GaveWay) => break,
                Ok(Titled::Given) => given += 1,
                Ok(Titled::Nothing) => {}
                Err(error) => failed = Some(error),
            }
            asked += 1;
        }
        match failed {
            Some(error) if given == 0 => Err(error),
            _ => Ok((given > 0).then(|| format!("{given} titles"))),
        }
    }
}
