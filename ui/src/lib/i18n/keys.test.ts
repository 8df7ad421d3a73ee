import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { IntlMessageFormat } from 'intl-messageformat';
import { describe, expect, it } from 'vitest';
import { explain } from './errors';
import { LOCALES, locale, t } from './locale.svelte';
import ar from './locales/ar.json';
import de from './locales/de.json';
import en from './locales/en.json';

const catalogues: Record<string, Record<string, string>> = { en, de, ar };
const source = 'src';

function sources(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter(
      (entry) =>
        entry.isFile() && /\.(?:svelte|ts)$/.test(entry.name) && !entry.name.includes('.test.'),
    )
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8'));
}

/** Names of the values a message takes. */
function wants(message: string, tag: string): string[] {
  const names = new Set<string>();
  const walk = (parts: unknown): void => {
    if (!Array.isArray(parts)) return;
    for (const part of parts as {
      type: number;
      value?: string;
      options?: Record<string, { value: unknown }>;
    }[]) {
      if (part.type >= 1 && part.type <= 6 && part.value !== undefined) names.add(part.value);
      for (const option of Object.values(part.options ?? {})) walk(option.value);
    }
  };
  walk(new IntlMessageFormat(message, tag).getAst());
  return [...names].sort();
}

/** The forms that each number in a message has. */
function plurals(message: string, tag: string): string[][] {
  const found: string[][] = [];
  const walk = (parts: unknown): void => {
    if (!Array.isArray(parts)) return;
    for (const part of parts as { type: number; options?: Record<string, { value: unknown }> }[]) {
      if (part.type === 6) found.push(Object.keys(part.options ?? {}));
      for (const option of Object.values(part.options ?? {})) walk(option.value);
    }
  };
  walk(new IntlMessageFormat(message, tag).getAst());
  return found;
}

describe('texts', () => {
  it('has a catalogue for every language offered', () => {
    expect(Object.keys(catalogues).sort()).toEqual(Object.keys(LOCALES).sort());
  });

  it.each(['de', 'ar'])('is complete in %s, with the same values', (tag) => {
    const catalogue = catalogues[tag] ?? {};
    expect(Object.keys(catalogue).sort()).toEqual(Object.keys(en).sort());
    for (const [key, message] of Object.entries(en)) {
      expect(catalogue[key]?.trim(), key).not.toBe('');
      expect(wants(catalogue[key] ?? '', tag), key).toEqual(wants(message, 'en'));
    }
  });

  it('has every form of a number that a language tells apart', () => {
    for (const [tag, catalogue] of Object.entries(catalogues)) {
      const forms = new Intl.PluralRules(tag).resolvedOptions().pluralCategories;
      for (const [key, message] of Object.entries(catalogue))
        for (const [index, options] of plurals(message, tag).entries())
          expect(options, `${tag} ${key} ${index}`).toEqual(expect.arrayContaining(forms));
    }
  });

  it('names every error code of the core, with what to do', () => {
    const codes = ['types', 'archive'].flatMap(
      (name) =>
        /type \w*ErrorCode =([^;]+);/
          .exec(readFileSync(`src/lib/ipc/${name}.ts`, 'utf8'))?.[1]
          ?.match(/'(\w+)'/g) ?? [],
    );
    expect(codes.length).toBeGreaterThan(30);
    for (const quoted of codes) {
      const code = quoted.replaceAll("'", '');
      expect(en).toHaveProperty([`error.${code}`]);
      expect(en).toHaveProperty([`error.${code}.todo`]);
    }
  });

  it('has no key that nothing uses', () => {
    const code = sources(source).join('\n');
    // The shell reads those of the tray; a test beside it looks for each.
    const built =
      /^(?:tray|error|offer|presets|unlock|welcome|notice|vault\.way|advice|settings\.(?:theme|general|presets|providers|models|about)|contexts\.sort|security\.(?:slot|lock))\b/;
    const unused = Object.keys(en).filter((key) => !built.test(key) && !code.includes(`'${key}'`));
    expect(unused).toEqual([]);
  });

  it('shows no text that is not a key', () => {
    for (const text of sources('src/lib/components').concat(sources('src/lib/views'))) {
      expect(
        /(?:aria-label|placeholder|title)="(?!https)[A-Za-z]{3,}[^"]*/.exec(text)?.[0],
      ).toBeUndefined();
    }
  });
});

describe('the language in use', () => {
  it('switches, with direction', async () => {
    await locale.use('ar-EG');
    expect([t('action.send'), document.documentElement.dir]).toEqual(['إرسال', 'rtl']);
    expect(t('meter.leftOut', { count: 2 })).toBe('تُركت رسالتان أقدم');
    expect(t('meter.leaving', { count: 2 })).toContain('أقدم رسالتين على الأقل');
    await locale.use('xx');
    expect([t('action.send'), document.documentElement.dir]).toEqual(['Send', 'ltr']);
  });

  it('explains an error by its code, also where a fact is missing', () => {
    const error = {
      code: 'provider_rate_limited',
      message: 'raw',
      details: {} as Record<string, string>,
    };
    expect(explain(error).what).toBe('The provider asks to wait.');
    expect(explain({ ...error, details: { retryAfterSeconds: '20' } }).what).toContain('20');
    expect(explain({ ...error, code: 'unheard_of' })).toEqual({ what: 'raw', todo: '' });
  });
});
