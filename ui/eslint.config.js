import { readdirSync } from 'node:fs';
import js from '@eslint/js';
import svelte from 'eslint-plugin-svelte';
import globals from 'globals';
import ts from 'typescript-eslint';
import svelteConfig from './svelte.config.js';

const nouns = readdirSync(new URL('./src/lib/components', import.meta.url)).filter(
  (name) => name !== 'shared',
);

/** Forbids imports by pattern, each with its reason, written at the top or called for later. */
function never(...patterns) {
  const later = patterns.map(([regex, message]) => ({
    // A slash would end the pattern.
    selector: `ImportExpression > Literal[value=/${regex.replaceAll('/', '\\x2F')}/]`,
    message,
  }));
  return {
    'no-restricted-syntax': [
      'error',
      { selector: 'ImportExpression > :not(Literal)', message: 'Name what is imported.' },
      ...later,
    ],
    'no-restricted-imports': [
      'error',
      { patterns: patterns.map(([regex, message]) => ({ regex, message })) },
    ],
  };
}

const TAURI = ['^@tauri-apps', 'Only src/lib/ipc speaks to Tauri.'];
const IPC = [
  '^(\\$lib|\\.\\.?(/\\.\\.)*)/(lib/)?ipc',
  'Components and views reach the core through state.',
];
const COMPONENTS = ['(^|/)components/', 'State does not know what shows it.'];
const VIEWS = ['(^|/)views/', 'Only the entry points import views.'];
const UP = ['^\\.\\./', 'Leave the folder by $lib, so that the rules of the rooms can be checked.'];
const STATE = ['(^|/)state/', 'This room knows no state.'];

export default ts.config(
  { ignores: ['dist/', 'dist-fake/', 'src/lib/ipc/bindings.ts'] },
  js.configs.recommended,
  ...ts.configs.strict,
  ...svelte.configs.recommended,
  {
    languageOptions: {
      globals: { ...globals.browser, ...globals.node },
      parserOptions: { extraFileExtensions: ['.svelte'], parser: ts.parser, svelteConfig },
    },
    rules: {
      'no-undef': 'off',
      eqeqeq: 'error',
      'no-console': 'error',
      'no-eval': 'error',
      'max-lines-per-function': ['error', { max: 60, skipBlankLines: true, skipComments: true }],
      'max-lines': ['error', { max: 400 }],
      '@typescript-eslint/no-unused-vars': [
        'error',
        { argsIgnorePattern: '^_', varsIgnorePattern: '^_' },
      ],
      'svelte/no-at-html-tags': 'error',
      'svelte/button-has-type': 'error',
      'svelte/no-target-blank': 'error',
      // Sets that no template reads need no reactivity.
      'svelte/prefer-svelte-reactivity': 'off',
      ...never(TAURI),
    },
  },
  {
    files: ['**/*.svelte'],
    rules: {
      'max-lines': ['error', { max: 300 }],
      'no-useless-assignment': 'off',
      'prefer-const': 'off',
    },
  },
  {
    files: ['**/*.svelte.ts'],
    ignores: ['**/*.test.ts'],
    rules: { 'max-lines': ['error', { max: 250 }] },
  },
  { files: ['src/lib/ipc/**'], rules: never(COMPONENTS, VIEWS, STATE) },
  {
    files: ['src/lib/{markdown,i18n,theme}/**'],
    rules: never(TAURI, IPC, COMPONENTS, VIEWS, STATE),
  },
  { files: ['src/lib/state/**'], rules: never(TAURI, COMPONENTS, VIEWS) },
  { files: ['src/lib/views/**'], rules: never(TAURI, IPC, UP) },
  {
    files: ['src/lib/components/shared/**'],
    rules: never(TAURI, IPC, UP, VIEWS, ['components/(?!shared/)', 'Shared parts know no noun.']),
  },
  ...nouns.map((noun) => ({
    files: [`src/lib/components/${noun}/**`],
    rules: never(TAURI, IPC, UP, VIEWS, [
      `components/(?!shared/|${noun}/)`,
      'Nouns meet in views, not in components.',
    ]),
  })),
  // Suites and calls that only list things are long without being hard to read.
  {
    files: ['**/*.test.{ts,mjs}', 'eslint.config.js', '**/tests/ui/**'],
    rules: {
      'max-lines-per-function': 'off',
      'no-restricted-imports': 'off',
      'no-restricted-syntax': 'off',
    },
  },
);
