import { describe, expect, it } from 'vitest';
import type { BackupInfo } from '$lib/state/types';
import { fileName, problemOf } from './backup';

const backup = (problem: string | null): BackupInfo => ({
  path: '/backups/a.ekbackup',
  id: null,
  kind: null,
  madeAt: null,
  sizeBytes: 1,
  contexts: null,
  conversations: null,
  messages: null,
  verifiedAt: null,
  problem,
  isNewest: false,
});

describe('a backup', () => {
  it('is called damaged only where the core says so', () => {
    expect(problemOf(backup(null))).toBeNull();
    expect(problemOf(backup('damaged'))?.raw).toBeNull();
    expect(problemOf(backup('page 7 does not fit'))).toEqual({
      text: 'This file cannot be relied on:',
      raw: 'page 7 does not fit',
    });
  });

  it('has a file name on every system', () => {
    expect([fileName('/a/b.ekbackup'), fileName('C:\\a\\b.ekbackup')]).toEqual([
      'b.ekbackup',
      'b.ekbackup',
    ]);
  });
});
