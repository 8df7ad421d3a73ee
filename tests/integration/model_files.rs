//! Model files of the engine: taken off the list again, and refused with a reason.

use crate::support::{World, ended};
use evenkeel_domain::*;
use evenkeel_engine::default_model;
use std::path::{Path, PathBuf};

fn model() -> PathBuf {
    default_model::locate(None).expect("the model is missing: run ./scripts/setup")
}

/// A copy of the built-in model.
fn copied(to: &Path) -> PathBuf {
    std::fs::copy(model(), to).unwrap();
    to.to_owned()
}

async fn listed(world: &World) -> Vec<String> {
    let engine = world.service.provider_list().await.unwrap().remove(0);
    world.service.provider_models(engine.id).await.unwrap().into_iter().map(|model| model.name).collect()
}

#[tokio::test]
async fn a_file_elsewhere_leaves_the_list_and_stays_on_the_disk() {
    let world = World::new().await;
    let dir = tempfile::tempdir().unwrap();
    let path = copied(&dir.path().join("mine.gguf"));
    world.service.model_file_add(path.clone()).await.unwrap();
    let about = world.service.model_file_removal("mine".into()).await.unwrap();
    assert_eq!((about.deletes_file, about.is_default, about.is_loaded), (false, false, false));
    assert_eq!(Path::new(&about.path), path.canonicalize().unwrap());
    assert!(listed(&world).await.contains(&"mine".to_owned()), "asking changes nothing");
    world.use_engine().await;
    assert_eq!(world.service.model_file_remove("mine".into()).await.unwrap(), about);
    assert_eq!(listed(&world).await, ["SmolLM2-135M-Instruct"]);
    assert!(path.is_file());
    assert!(world.service.settings_get().await.unwrap().default_model.is_some(), "another default stays");
    let again = world.service.model_file_remove("mine".into()).await.unwrap_err();
    assert_eq!(again.code(), ErrorCode::NotFound);
}

#[tokio::test]
async fn the_loaded_default_in_the_own_folder_is_freed_and_deleted() {
    let world = World::new().await;
    let path = copied(&world.dir.path().join("profile/models/own.gguf"));
    world.service.model_file_add(path.clone()).await.unwrap();
    let engine = world.service.provider_list().await.unwrap().remove(0);
    world.use_model(engine.id, "own").await;
    let context = world.counselor().await;
    let patch = ContextPatch { max_tokens: Some(4), ..ContextPatch::default() };
    world.service.context_update(context.id, patch).await.unwrap();
    assert_eq!(ended(&world.say(context.id, None, "Hello.").await).1, None);
    let about = world.service.model_file_removal("own".into()).await.unwrap();
    assert_eq!((about.deletes_file, about.is_default, about.is_loaded), (true, true, true));

    world.service.model_file_remove("own".into()).await.unwrap();
    assert!(!path.exists());
    assert_eq!(world.service.settings_get().await.unwrap().default_model, None);
    assert_eq!(listed(&world).await, ["SmolLM2-135M-Instruct"]);
    let request = SendRequest::New { context_id: context.id, conversation_id: None, text: "And now?".into(), agent_id: None };
    assert_eq!(world.send(request).await.unwrap_err().code(), ErrorCode::NoModel);
    world.service.shutdown().await;
}

#[tokio::test]
async fn the_model_that_comes_with_evenkeel_cannot_be_removed() {
    let world = World::new().await;
    let error = world.service.model_file_remove("SmolLM2-135M-Instruct".into()).await.unwrap_err().to_body();
    assert_eq!((error.code, error.details["field"].as_str()), (ErrorCode::InvalidParameter, "name"));
    assert!(model().is_file());
}

/// What `model_file_add` hands to the page, as JSON.
async fn refusal(world: &World, path: &Path) -> serde_json::Value {
    let error: ErrorBody = world.service.model_file_add(path.to_owned()).await.unwrap_err().into();
    serde_json::to_value(error).unwrap()
}

#[tokio::test]
async fn a_folder_and_half_a_file_are_refused_in_words_for_the_window() {
    let world = World::new().await;
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("folder.gguf");
    std::fs::create_dir(&folder).unwrap();
    let whole = std::fs::read(model()).unwrap();
    let before = listed(&world).await;
    for cut in [None, Some(0), Some(3), Some(5_000), Some(whole.len() / 2)] {
        let path = cut.map_or_else(|| folder.clone(), |bytes| dir.path().join(format!("{bytes}.gguf")));
        if let Some(bytes) = cut {
            std::fs::write(&path, &whole[..bytes]).unwrap();
        }
        let said = refusal(&world, &path).await;
        assert_eq!(said["code"], "model_file_invalid", "{cut:?}");
        let words = said["message"].as_str().unwrap();
        assert!(words.contains(&path.display().to_string()), "it names the file: {words}");
        assert!(words.contains("Choose a single model file") || words.contains("Download it again"), "{words}");
    }
    assert_eq!(listed(&world).await, before);
}
