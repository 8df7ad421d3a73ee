import type { Backend } from '../backend';
import { failure } from '../error';
import type { Call } from '../quick';

/**
 * A backend that refuses all but some calls, as the shell does where a window's capabilities lack a
 * command. A refusal is an error of the page, so that no test overlooks it; every call is told to
 * the page by an event, so that a test can count them.
 */
export function narrowed<B extends Backend>(backend: B, allowed: readonly Call[]): B {
  const calls: readonly string[] = allowed;
  const heard = ['listen', 'onFileDrop', 'onFocus'];
  const narrow = ([name, member]: [string, unknown]): [string, unknown] => {
    if (typeof member !== 'function' || heard.includes(name) || name === 'emit')
      return [name, member];
    if (!calls.includes(name)) return [name, () => refuse(name)];
    const told = (...args: unknown[]): unknown => {
      window.dispatchEvent(new CustomEvent('fake-call', { detail: name }));
      // Looked up at each call: a test may have put another in its place.
      return (backend as unknown as Record<string, (...args: unknown[]) => unknown>)[name]?.(
        ...args,
      );
    };
    return [name, told];
  };
  return Object.fromEntries(Object.entries(backend).map(narrow)) as unknown as B;
}

function refuse(name: string): Promise<never> {
  const error = failure('internal', `${name} is not allowed in this window`);
  window.reportError(error);
  return Promise.reject(error);
}
