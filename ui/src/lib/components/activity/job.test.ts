import { describe, expect, it } from 'vitest';
import type { Job } from '$lib/state/types';
import { deedsOf, failureOf, textOf, titleOf } from './job';

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

  it('says what it did in words, and as the core says it where that is not known', () => {
    const done = (message: string | null) => deedsOf({ ...job(message), result: 'ok' });
    expect(done('1 expired, 2 to the trash')).toEqual([
      '1 companion has expired.',
      '2 expired companions went to the trash.',
    ]);
    expect(done('4096 bytes given back')).toEqual(['4.1 kB were given back to the disk.']);
    expect(done('3 titles; the run of 2026-05-12 08:30 UTC was cut off')).toEqual([
      '3 conversations got titles.',
      expect.stringMatching(/^The run of .*2026.* was cut off\.$/),
    ]);
    expect(done('7 stones turned')).toEqual(['7 stones turned']);
    expect([done(null), deedsOf(job('1 expired'))]).toEqual([[], []]);
  });
});
