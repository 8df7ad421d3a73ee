import { describe, expect, it } from 'vitest';
import type { Job } from '$lib/state/types';
import { failureOf, textOf, titleOf } from './job';

const job = (message: string | null): Job => ({
  name: 'cleanup',
  lastStartedAt: null,
  lastEndedAt: null,
  nextRunAt: null,
  result: 'failed',
  message,
  durationMs: null,
  runs: 1,
  isRunning: false,
});

describe('a job', () => {
  it('is called by its title however its name is written', () => {
    expect(['cleanup', 'clean-up', 'clean_up', 'CleanUp'].map(titleOf)).toEqual(
      Array(4).fill('Clean-up'),
    );
    expect([titleOf('time-travel'), textOf('time-travel')]).toEqual(['time-travel', '']);
  });

  it('says why it failed, by the code where there is one', () => {
    expect(failureOf(job('disk_full: no space')).what).toBe('The disk is full.');
    expect(failureOf(job('disk_full: no space')).raw).toBe('disk_full: no space');
    const plain = failureOf(job('something odd: happened'));
    expect([plain.what, plain.raw]).toEqual([
      'The last run did not succeed. It is tried again at its next time.',
      'something odd: happened',
    ]);
    expect(failureOf(job(null)).raw).toBe('');
  });
});
