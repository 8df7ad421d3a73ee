import { failure } from '../error';
import type { Conversation } from '../types';
import type { fakeBackend } from './index';

type FakeBackend = ReturnType<typeof fakeBackend>;

/** Lets tests play what happens outside of this page. */
export function playElsewhere(backend: FakeBackend): void {
  const { world } = backend;
  const newest = () => [...world.conversations].sort(byActivity)[0];
  const play = <T>(name: string, act: (detail: T) => void): void =>
    window.addEventListener(name, (event) => act((event as CustomEvent<T>).detail));
  // Quick chat asks in the newest conversation and hands it over at once.
  play<string>('fake-asked', (text) => {
    const conversation = newest();
    if (!conversation) return;
    const { id, contextId } = conversation;
    const request = { contextId, conversationId: id, text, agentId: null };
    void backend.chatSend({ kind: 'new', ...request }, () => undefined);
    world.moved = id;
    backend.emit('navigate', null);
  });
  const expire = (id: string): void =>
    void Object.assign(world.context(id), { isActive: false, expiresAt: world.now() });
  play<string>('fake-expire', (id) => {
    expire(id);
    backend.emit('change', { noun: 'context', id });
  });
  play<string>('fake-expire-unheard', expire);
  play<string>('fake-gone', (id) => void backend.contextDelete(id));
  // From now on a call fails, until it is named again.
  const whole = { ...backend } as Record<string, unknown>;
  const broken = backend as unknown as Record<string, unknown>;
  play<string>('fake-fail', (name) => {
    const fail = () => Promise.reject(failure('storage', `${name} failed`));
    broken[name] = broken[name] === whole[name] ? fail : whole[name];
  });
}

function byActivity(a: Conversation, b: Conversation): number {
  return b.lastActivityAt.localeCompare(a.lastActivityAt);
}
