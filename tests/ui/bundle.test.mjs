import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { ui, vite } from './window.mjs';

test(
  'the app ships neither the in-memory backend nor anything that needs a wider policy',
  { timeout: 180_000 },
  async () => {
    const outDir = mkdtempSync(join(tmpdir(), 'evenkeel-bundle-'));
    try {
      await vite.build({
        root: ui,
        configFile: join(ui, 'vite.config.ts'),
        mode: 'production',
        logLevel: 'error',
        build: { outDir, emptyOutDir: true },
      });
      const files = readdirSync(outDir, { recursive: true, withFileTypes: true }).filter((entry) =>
        entry.isFile(),
      );
      const scripts = files
        .filter((entry) => entry.name.endsWith('.js'))
        .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8'));
      assert.ok(scripts.length > 3);
      for (const script of scripts) {
        assert.doesNotMatch(
          script,
          /SmolLM2|seedDemo|correct horse/,
          'a part of the in-memory backend',
        );
        assert.doesNotMatch(script, /[^.\w]eval\(|new Function\(/, 'code made from strings');
      }
      for (const page of ['index.html', 'quick-chat.html']) {
        const html = readFileSync(join(outDir, page), 'utf8');
        assert.doesNotMatch(html, /<script(?![^>]*\ssrc=)/, 'an inline script');
        assert.doesNotMatch(html, /https?:\/\//, 'something from elsewhere');
      }
      const styles = files
        .filter((entry) => entry.name.endsWith('.css'))
        .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8'));
      for (const style of styles) assert.doesNotMatch(style, /url\(["']?(?:https?:|\/\/)/);
    } finally {
      rmSync(outDir, { recursive: true, force: true });
    }
  },
);
