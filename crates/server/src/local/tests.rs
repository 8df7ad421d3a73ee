#![allow(clippy::unwrap_used)]

use super::*;
use crate::ServerError;
use crate::accept::Incoming;
use std::os::unix::fs::PermissionsExt;

#[tokio::test]
async fn a_socket_that_a_killed_process_left_is_replaced_and_one_that_listens_is_not() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("run");
    // What a killed process leaves: a socket file that nobody listens on.
    std::fs::create_dir(&folder).unwrap();
    drop(std::os::unix::net::UnixListener::bind(folder.join("app.sock")).unwrap());
    assert!(folder.join("app.sock").exists() && connect(&folder).await.is_none());
    let mut listener = Listener::bind(&folder).unwrap();
    assert!(matches!(Listener::bind(&folder), Err(ServerError::Taken)));
    let (near, far) = tokio::join!(connect(&folder), listener.next());
    assert!(near.is_some());
    assert_eq!(first_line(&mut far.unwrap()).await.as_deref(), Some(MCP));
    drop(listener);
    assert!(connect(&folder).await.is_none() && !folder.join("app.sock").exists());
    Listener::bind(&folder).unwrap();
}

#[tokio::test]
async fn the_folder_is_the_users_alone_even_if_it_was_open_and_so_is_the_socket() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("run");
    std::fs::create_dir(&folder).unwrap();
    std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o755)).unwrap();
    let _listener = Listener::bind(&folder).unwrap();
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!([mode(&folder), mode(&folder.join("app.sock")), mode(&folder.join("app.lock"))], [0o700, 0o600, 0o600]);
}

#[tokio::test]
async fn a_path_that_is_too_long_for_a_socket_is_no_obstacle() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("long".repeat(40)).join("run");
    let mut listener = Listener::bind(&folder).unwrap();
    let (near, far) = tokio::join!(connect(&folder), listener.next());
    assert!(near.is_some() && far.is_ok());
    assert!(!folder.exists());
}

#[tokio::test]
async fn a_first_line_that_never_ends_is_not_read_for_ever() {
    let long = [b'x'; 64];
    assert_eq!(first_line(&mut long.as_slice()).await, None);
    assert_eq!(first_line(&mut b"mcp".as_slice()).await, None);
    let mut rest = b"mcp\n{}".as_slice();
    assert_eq!((first_line(&mut rest).await.as_deref(), rest), (Some("mcp"), b"{}".as_slice()));
}
