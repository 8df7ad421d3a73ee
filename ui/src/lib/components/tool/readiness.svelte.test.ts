import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { PAUSE, Readiness } from './readiness.svelte';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

describe('a new question', () => {
  it('takes no answer at once, and none until a pointer has rested', () => {
    const readiness = new Readiness();
    readiness.wait();
    vi.advanceTimersByTime(PAUSE - 1);
    expect(readiness.isReady).toBe(false);
    dispatchEvent(new Event('pointerdown'));
    vi.advanceTimersByTime(PAUSE - 1);
    dispatchEvent(new Event('pointerup'));
    vi.advanceTimersByTime(PAUSE - 1);
    expect(readiness.isReady).toBe(false);
    vi.advanceTimersByTime(1);
    expect(readiness.isReady).toBe(true);
  });

  it('waits no longer once it is closed', () => {
    const readiness = new Readiness();
    readiness.wait()();
    dispatchEvent(new Event('pointerup'));
    vi.advanceTimersByTime(10 * PAUSE);
    expect(readiness.isReady).toBe(false);
  });
});
