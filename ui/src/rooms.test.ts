// @vitest-environment node
import { resolve } from 'node:path';
import { ESLint } from 'eslint';
import { describe, expect, it } from 'vitest';

const eslint = new ESLint({ cwd: resolve(import.meta.dirname, '..') });

/** The rules that a line breaks in a file. */
async function broken(filePath: string, line: string): Promise<(string | null)[]> {
  const [result] = await eslint.lintText(`${line}\n`, { filePath });
  return (result?.messages ?? []).map((message) => message.ruleId);
}

describe('the rules of the rooms', () => {
  it.each([
    // In two parts: a search for the package is to find those who use it alone.
    ['src/lib/state/probe.ts', `${'@tauri'}-apps/api/core`],
    ['src/lib/state/probe.ts', '$lib/components/shared/Badge.svelte'],
    ['src/lib/views/probe.ts', '$lib/ipc/index'],
    ['src/lib/components/shared/probe.ts', '$lib/components/provider/model'],
    ['src/lib/components/provider/probe.ts', '$lib/components/vault/code'],
    ['src/lib/markdown/probe.ts', '$lib/state/app.svelte'],
    ['src/lib/ipc/probe.ts', '../state/app.svelte'],
  ])('keep %s from %s', async (file, name) => {
    expect(await broken(file, `export { a } from '${name}';`)).toEqual(['no-restricted-imports']);
    expect(await broken(file, `export const a = import('${name}');`)).toEqual([
      'no-restricted-syntax',
    ]);
  });

  it('let in what may be imported', async () => {
    for (const line of [`export { a } from '../ipc/index';`, `export const a = import('../ipc');`])
      expect(await broken('src/lib/state/probe.ts', line)).toEqual([]);
  });

  it('want a name that can be checked', async () => {
    const line = 'export const a = (name: string) => import(name);';
    expect(await broken('src/lib/state/probe.ts', line)).toEqual(['no-restricted-syntax']);
  });
});
