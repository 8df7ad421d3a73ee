import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Notices } from './notices.svelte';

let notices: Notices;
beforeEach(() => {
  vi.useFakeTimers();
  notices = new Notices();
});
afterEach(() => vi.useRealTimers());

const keys = (): (string | null)[] => notices.list.map((one) => one.key);

function undoable(run: () => void = () => undefined): void {
  notices.say('undo.message', {}, { key: 'action.undo', run });
}

describe('notices', () => {
  it('stay while someone looks at them, and then their whole time', () => {
    undoable();
    const id = notices.list[0]?.id ?? 0;
    vi.advanceTimersByTime(11_000);
    notices.hold(id);
    vi.advanceTimersByTime(60_000);
    expect(notices.list).toHaveLength(1);
    notices.release(id);
    vi.advanceTimersByTime(11_000);
    expect(notices.list).toHaveLength(1);
    vi.advanceTimersByTime(2_000);
    expect(notices.list).toHaveLength(0);
  });

  it('that wait for an answer do not go when they are let go', () => {
    notices.ask('a', 'contexts.expiring', { name: 'Mira' }, { key: 'chat.extend', run: vi.fn() });
    notices.release(notices.list[0]?.id ?? 0);
    vi.advanceTimersByTime(60_000);
    expect(notices.list).toHaveLength(1);
  });

  it('that offer something are not pushed out by others', () => {
    undoable();
    for (let turn = 0; turn < 8; turn += 1) notices.say('backups.made');
    expect(keys()[0]).toBe('undo.message');
    expect(notices.list).toHaveLength(4);
    for (let turn = 0; turn < 6; turn += 1) undoable();
    expect(keys().filter((key) => key === 'undo.message')).toHaveLength(7);
  });

  it('about two things of the same name are two', () => {
    const offer = { key: 'chat.extend', run: vi.fn() } as const;
    notices.ask('a', 'contexts.expiring', { name: 'Mira' }, offer);
    notices.ask('b', 'contexts.expiring', { name: 'Mira' }, offer);
    notices.ask('b', 'contexts.expiring', { name: 'Mira the Second' }, offer);
    expect(notices.list.map((one) => one.values.name)).toEqual(['Mira', 'Mira the Second']);
  });

  it('take back the newest first, and only what can be taken back', () => {
    const done: string[] = [];
    undoable(() => done.push('first'));
    undoable(() => done.push('second'));
    notices.say('backups.made');
    expect([notices.undo(), notices.undo(), notices.undo()]).toEqual([true, true, false]);
    expect(done).toEqual(['second', 'first']);
    expect(keys()).toEqual(['backups.made']);
  });

  it('go once what they are about is settled elsewhere', () => {
    const offer = { key: 'action.undo', run: vi.fn() } as const;
    notices.say('undo.context', { name: 'Mira' }, offer, 'a');
    notices.say('undo.context', { name: 'Otto' }, offer, 'b');
    notices.over('a');
    expect(notices.list.map((one) => one.values.name)).toEqual(['Otto']);
    notices.seen('backups.made');
    expect(keys()).toEqual(['undo.context']);
    notices.seen('undo.context');
    expect(keys()).toEqual([]);
  });
});
