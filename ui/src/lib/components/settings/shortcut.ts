const NAMES: Record<string, string> = {
  ' ': 'Space',
  ArrowUp: 'Up',
  ArrowDown: 'Down',
  ArrowLeft: 'Left',
  ArrowRight: 'Right',
};

/** The keys of an event in the shell's notation (`CommandOrControl+Shift+Space`); `null` while only modifiers are held. */
export function accelerator(event: KeyboardEvent): string | null {
  if (['Control', 'Shift', 'Alt', 'Meta', 'AltGraph', 'Dead', 'Process'].includes(event.key))
    return null;
  const modifiers = [
    event.ctrlKey || event.metaKey ? 'CommandOrControl' : '',
    event.altKey ? 'Alt' : '',
    event.shiftKey ? 'Shift' : '',
  ].filter((name) => name !== '');
  const letter = /^(?:Key|Digit)(.)$/.exec(event.code)?.[1];
  const key = letter ?? NAMES[event.key] ?? event.key;
  const alone = /^F\d{1,2}$/.test(key);
  // A plain letter as a global shortcut would swallow it in every other app.
  if (!alone && !modifiers.some((name) => name !== 'Shift')) return null;
  return [...modifiers, key].join('+');
}

/** A shortcut as the keys of this machine are called. */
export function written(shortcut: string): string {
  const mac = navigator.platform.startsWith('Mac');
  return shortcut.replace('CommandOrControl', mac ? '⌘' : 'Ctrl');
}
