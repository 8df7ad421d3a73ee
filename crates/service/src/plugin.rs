//! Strategies of other people: which are installed, and each of them loaded once.

use crate::{Service, ServiceError};
use evenkeel_domain::ErrorBody;
use evenkeel_plugin::{Host, Plugin, PluginError};
use serde::Serialize;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// An installed strategy.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct PluginInfo {
    /// Its id, or the name of its folder where that cannot be read.
    pub id: String,
    /// Its name for people.
    pub name: String,
    /// Its version.
    pub version: String,
    /// What it does.
    pub description: String,
    /// Why it cannot be used; `None` if it can.
    pub error: Option<ErrorBody>,
}

/// What runs strategies, and those that are loaded. Nothing is made before one is wanted.
#[derive(Default)]
pub(crate) struct Plugins(Mutex<Loaded>);

#[derive(Default)]
struct Loaded {
    host: Option<Arc<Host>>,
    plugins: HashMap<PathBuf, Arc<Plugin>>,
}

impl Plugins {
    /// What runs them.
    fn host(&self) -> Result<Arc<Host>, PluginError> {
        let mut loaded = self.lock();
        if let Some(host) = &loaded.host {
            return Ok(host.clone());
        }
        let host = Arc::new(Host::new()?);
        loaded.host = Some(host.clone());
        Ok(host)
    }

    /// The plug-in in a folder, compiled at the first call.
    fn load(&self, folder: &Path) -> Result<Arc<Plugin>, PluginError> {
        if let Some(plugin) = self.lock().plugins.get(folder) {
            return Ok(plugin.clone());
        }
        let plugin = Arc::new(self.host()?.load(folder)?);
        self.lock().plugins.insert(folder.to_owned(), plugin.clone());
        Ok(plugin)
    }

    fn forget(&self, folder: &Path) {
        self.lock().plugins.remove(folder);
    }

    fn lock(&self) -> MutexGuard<'_, Loaded> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Service {
    /// The installed strategies by id, those that cannot be used among them.
    ///
    /// # Errors
    /// The vault is locked.
    pub async fn plugin_list(&self) -> Result<Vec<PluginInfo>, ServiceError> {
        self.session()?;
        let root = self.profile().plugins();
        let task = tokio::task::spawn_blocking(move || Host::installed(&root).into_iter().map(described).collect());
        task.await.map_err(|error| ServiceError::internal("listing strategies", &error))
    }

    /// Installs the strategy in a folder: its module is checked first, and what is not whole is not
    /// there. `replace` says that another version of it may go.
    ///
    /// # Errors
    /// The vault is locked; the folder holds no strategy that can run here; another version is installed.
    pub async fn plugin_install(&self, source: PathBuf, replace: bool) -> Result<PluginInfo, ServiceError> {
        self.session()?;
        let (service, root) = (self.clone(), self.profile().plugins());
        let task = tokio::task::spawn_blocking(move || {
            let plugin = service.plugins().host()?.install(&root, &source, replace)?;
            let manifest = plugin.manifest().clone();
            let folder = root.join(manifest.id.as_str());
            service.plugins().forget(&folder);
            Ok::<_, PluginError>(described((folder, Ok(manifest))))
        });
        Ok(task.await.map_err(|error| ServiceError::internal("installing a strategy", &error))??)
    }

    /// Removes an installed strategy with all that it remembers. Contexts that chose it go on with the sliding
    /// window, and say so.
    ///
    /// # Errors
    /// The vault is locked; none has this id; its folder cannot be removed.
    pub async fn plugin_remove(&self, id: String) -> Result<(), ServiceError> {
        self.forget_states(&id).await?;
        let (service, root, folder) = (self.clone(), self.profile().plugins(), id.clone());
        let task = tokio::task::spawn_blocking(move || {
            service.plugins().forget(&root.join(&folder));
            Host::remove(&root, &folder)
        });
        task.await.map_err(|error| ServiceError::internal("removing a strategy", &error))??;
        // Of a turn that was being told meanwhile.
        self.forget_states(&id).await
    }

    async fn forget_states(&self, id: &str) -> Result<(), ServiceError> {
        let session = self.session()?;
        let (of_vault, of_private) = (id.to_owned(), id.to_owned());
        session.write(move |w| w.delete_strategy_states(&of_vault)).await?;
        // All private conversations have one place.
        if let Some(any) = session.private().and_then(|private| private.ids().first().copied()) {
            session.records(any).write(move |w| w.delete_strategy_states(&of_private)).await?;
        }
        Ok(())
    }

    /// The installed strategy of an id, which `StrategyChoice::check` has found to be a bare name.
    pub(crate) async fn plugin(&self, id: &str) -> Result<Arc<Plugin>, ServiceError> {
        let (service, folder) = (self.clone(), self.profile().plugins().join(id));
        let task = tokio::task::spawn_blocking(move || service.plugins().load(&folder));
        Ok(task.await.map_err(|error| ServiceError::internal("loading a strategy", &error))??)
    }
}

fn described((folder, manifest): (PathBuf, Result<evenkeel_plugin::Manifest, PluginError>)) -> PluginInfo {
    match manifest {
        Ok(manifest) => PluginInfo {
            id: manifest.id.as_str().to_owned(),
            name: manifest.name,
            version: manifest.version,
            description: manifest.description,
            error: None,
        },
        Err(error) => {
            let id = folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            let error = ServiceError::from(error).to_body();
            PluginInfo { name: id.clone(), id, version: String::new(), description: String::new(), error: Some(error) }
        }
    }
}
