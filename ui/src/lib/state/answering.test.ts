import { describe, expect, it } from 'vitest';
import { providers } from '../ipc/fake/seed';
import type { ModelInfo } from '../ipc/types';
import { answers } from './answering';

const model = (name: string, embedding = false): ModelInfo => ({
  name,
  embedding,
  window: null,
  sizeBytes: null,
  forTryingOut: false,
  locality: 'local',
});

describe('a model', () => {
  it('answers unless it makes embeddings', () => {
    expect(answers(model('nomic-embed-text', true))).toBe(false);
    for (const name of ['e5-large', 'intfloat/e5-base-v2', 'multilingual-e5-small'])
      expect(answers(model(name))).toBe(false);
    for (const name of ['qwen3:8b', 'phase5-chat', 'gemma3e5-it'])
      expect(answers(model(name))).toBe(true);
  });

  it('that was entered by hand is meant', () => {
    const [, provider] = providers();
    if (!provider) throw new Error('no provider');
    const byHand = { ...provider, manualModels: ['my-embed'] };
    expect(answers(model('my-embed', true), byHand)).toBe(true);
    expect(answers(model('other-embed', true), byHand)).toBe(false);
  });
});
