//! A desktop's keyring for tests: a private D-Bus session with a real gnome-keyring, in each of
//! the states that a person's machine can be in.
//!
//! The code under test finds the keyring by environment variables, which a test must not change
//! in its own process: run it in a child process with [`KeyringSession::apply`].

use std::ffi::OsString;
use std::fs;
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Password of the login keyring that [`KeyringSession`] makes.
pub const PASSWORD: &str = "correct horse";

const READY_WITHIN: Duration = Duration::from_secs(20);
const PROMPTER_SERVICE: &str = "/usr/share/dbus-1/services/org.gnome.keyring.SystemPrompter.service";

/// What the session's keyring is like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyringState {
    /// Running and unlocked; the login keyring is made if the home has none.
    Unlocked,
    /// Running with a login keyring that is locked, and nothing that could ask for the password.
    Locked,
    /// As `Locked`, with the desktop's prompter on a virtual screen: it asks and waits.
    LockedWithPrompter,
    /// A session bus without a keyring on it.
    NoService,
    /// No session bus.
    NoBus,
}

/// A running session. Everything it started ends when it is dropped; the home stays until the
/// [`KeyringHome`] is dropped.
pub struct KeyringSession<'a> {
    home: &'a KeyringHome,
    address: Option<String>,
    display: Option<String>,
    // Dropped in this order: the keyring before its bus, the screen last.
    _daemon: Option<Process>,
    _bus: Option<Process>,
    _screen: Option<Process>,
}

/// A home folder that outlives the sessions in it, as the disk outlives a login.
pub struct KeyringHome {
    dir: tempfile::TempDir,
}

impl KeyringHome {
    /// A new, empty home.
    ///
    /// # Errors
    /// The system's, if a folder cannot be made.
    pub fn new() -> io::Result<Self> {
        let home = Self { dir: tempfile::tempdir()? };
        for folder in [home.runtime(), home.data(), home.dir.path().join("config"), home.dir.path().join("cache")] {
            fs::create_dir_all(&folder)?;
            #[cfg(unix)]
            {
                use std::os::unix::fs::PermissionsExt;
                fs::set_permissions(&folder, fs::Permissions::from_mode(0o700))?;
            }
        }
        Ok(home)
    }

    /// The folder.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.dir.path()
    }

    /// The file in which gnome-keyring keeps the login keyring.
    #[must_use]
    pub fn login_keyring(&self) -> PathBuf {
        self.data().join("keyrings/login.keyring")
    }

    /// Starts a session in this home and waits until its keyring answers. A locked state needs a
    /// login keyring, which is made first where there is none.
    ///
    /// # Errors
    /// The system's, if a program is missing or does not get ready within 20 seconds.
    pub fn start(&self, state: KeyringState) -> io::Result<KeyringSession<'_>> {
        let locked = matches!(state, KeyringState::Locked | KeyringState::LockedWithPrompter);
        if locked && !self.login_keyring().exists() {
            drop(self.start(KeyringState::Unlocked)?);
        }
        KeyringSession::start(self, state)
    }

    fn runtime(&self) -> PathBuf {
        self.dir.path().join("run")
    }

    fn data(&self) -> PathBuf {
        self.dir.path().join("data")
    }
}

impl<'a> KeyringSession<'a> {
    fn start(home: &'a KeyringHome, state: KeyringState) -> io::Result<Self> {
        let mut session = Self { home, address: None, display: None, _daemon: None, _bus: None, _screen: None };
        if state == KeyringState::NoBus {
            return Ok(session);
        }
        if state == KeyringState::LockedWithPrompter {
            session.start_screen()?;
        }
        session.start_bus(state == KeyringState::LockedWithPrompter)?;
        if state != KeyringState::NoService {
            session.start_daemon(state == KeyringState::Unlocked)?;
        }
        Ok(session)
    }

    /// The environment of a program in this session; nothing else of a desktop may be set.
    #[must_use]
    pub fn environment(&self) -> Vec<(&'static str, OsString)> {
        let home = self.home.path();
        let mut variables = vec![
            ("HOME", home.into()),
            ("XDG_RUNTIME_DIR", self.home.runtime().into()),
            ("XDG_DATA_HOME", self.home.data().into()),
            ("XDG_CONFIG_HOME", home.join("config").into()),
            ("XDG_CACHE_HOME", home.join("cache").into()),
        ];
        variables.extend(self.address.as_ref().map(|address| ("DBUS_SESSION_BUS_ADDRESS", address.into())));
        variables.extend(self.display.as_ref().map(|display| ("DISPLAY", display.into())));
        variables
    }

    /// Lets `command` run in this session and in no other.
    pub fn apply<'c>(&self, command: &'c mut Command) -> &'c mut Command {
        for foreign in ["DBUS_SESSION_BUS_ADDRESS", "DISPLAY", "WAYLAND_DISPLAY", "GNOME_KEYRING_CONTROL"] {
            command.env_remove(foreign);
        }
        command.envs(self.environment())
    }

    /// Kills the keyring daemon and leaves the bus.
    pub fn kill_keyring(&mut self) {
        self._daemon = None;
    }

    /// Starts the keyring daemon on a bus that has none, with the login keyring unlocked.
    ///
    /// # Errors
    /// The system's, if it does not get ready within 20 seconds.
    pub fn start_keyring(&mut self) -> io::Result<()> {
        self.start_daemon(true)
    }

    /// Waits for the password prompt on the virtual screen and types into it.
    ///
    /// # Errors
    /// The system's, if no prompt comes within 20 seconds.
    pub fn answer_prompt(&self, password: &str) -> io::Result<()> {
        let window = ["search", "--sync", "--onlyvisible", "--class", "gcr-prompter"];
        self.xdotool(&window)?;
        self.xdotool(&["type", password])?;
        self.xdotool(&["key", "Return"])
    }

    fn xdotool(&self, arguments: &[&str]) -> io::Result<()> {
        let mut command = Command::new("timeout");
        command.args([READY_WITHIN.as_secs().to_string().as_str(), "xdotool"]).args(arguments).stdout(Stdio::null());
        let status = self.apply(&mut command).status()?;
        if status.success() { Ok(()) } else { Err(io::Error::other(format!("xdotool {arguments:?}: {status}"))) }
    }

    fn start_screen(&mut self) -> io::Result<()> {
        let mut command = Command::new("Xvfb");
        command.args(["-displayfd", "1", "-screen", "0", "800x600x24", "-nolisten", "tcp"]);
        let (screen, number) = Process::start_and_read_line(self.apply(&mut command))?;
        self.display = Some(format!(":{number}"));
        self._screen = Some(screen);
        Ok(())
    }

    fn start_bus(&mut self, with_prompter: bool) -> io::Result<()> {
        let services = self.home.path().join("services");
        fs::create_dir_all(&services)?;
        let prompter = services.join("org.gnome.keyring.SystemPrompter.service");
        if with_prompter {
            fs::copy(PROMPTER_SERVICE, prompter)?;
        } else if prompter.exists() {
            fs::remove_file(prompter)?;
        }
        // A bus of our own: the standard one would start the system's keyring by itself.
        let config = self.home.path().join("bus.conf");
        fs::write(&config, bus_config(&self.home.runtime(), &services))?;
        let mut command = Command::new("dbus-daemon");
        command.arg("--config-file").arg(&config).args(["--nofork", "--print-address=1"]);
        let (bus, address) = Process::start_and_read_line(self.apply(&mut command))?;
        self.address = Some(address);
        self._bus = Some(bus);
        Ok(())
    }

    fn start_daemon(&mut self, unlocked: bool) -> io::Result<()> {
        let mut command = Command::new("gnome-keyring-daemon");
        command.args(["--foreground", "--components=secrets"]).stdin(Stdio::piped()).stdout(Stdio::null());
        if unlocked {
            command.arg("--unlock");
        }
        let mut daemon = Process(self.apply(&mut command).stderr(Stdio::null()).spawn()?);
        if let Some(mut input) = daemon.0.stdin.take()
            && unlocked
        {
            input.write_all(PASSWORD.as_bytes())?;
        }
        self._daemon = Some(daemon);
        self.wait_until_ready(!unlocked)
    }

    /// Waits until the default collection is there and is, or is not, locked.
    fn wait_until_ready(&self, locked: bool) -> io::Result<()> {
        let deadline = Instant::now() + READY_WITHIN;
        let wanted = format!("boolean {locked}");
        while Instant::now() < deadline {
            let mut command = Command::new("dbus-send");
            command
                .args(["--session", "--print-reply", "--dest=org.freedesktop.secrets"])
                .args(["/org/freedesktop/secrets/aliases/default", "org.freedesktop.DBus.Properties.Get"])
                .args(["string:org.freedesktop.Secret.Collection", "string:Locked"]);
            let reply = self.apply(&mut command).output()?;
            if String::from_utf8_lossy(&reply.stdout).contains(&wanted) {
                return Ok(());
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Err(io::Error::new(io::ErrorKind::TimedOut, "gnome-keyring did not get ready"))
    }
}

/// A program that ends with its handle.
struct Process(Child);

impl Process {
    fn start_and_read_line(command: &mut Command) -> io::Result<(Self, String)> {
        let mut process = Self(command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?);
        let mut line = String::new();
        if let Some(output) = process.0.stdout.take() {
            BufReader::new(output).read_line(&mut line)?;
        }
        let line = line.trim().to_owned();
        if line.is_empty() {
            return Err(io::Error::other(format!("{command:?} ended before it was ready")));
        }
        Ok((process, line))
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn bus_config(runtime: &Path, services: &Path) -> String {
    format!(
        "<!DOCTYPE busconfig PUBLIC \"-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN\"\n \
         \"http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd\">\n\
         <busconfig>\n  <type>session</type>\n  <listen>unix:dir={}</listen>\n  <auth>EXTERNAL</auth>\n  \
         <servicedir>{}</servicedir>\n  <policy context=\"default\">\n    <allow send_destination=\"*\" eavesdrop=\"true\"/>\n    \
         <allow eavesdrop=\"true\"/>\n    <allow own=\"*\"/>\n  </policy>\n</busconfig>\n",
        runtime.display(),
        services.display()
    )
}
