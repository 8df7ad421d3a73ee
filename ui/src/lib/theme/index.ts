export type ThemeName = 'system' | 'light' | 'dark';

/** Sets the colours of the whole page; `system` leaves them to the system. */
export function applyTheme(theme: ThemeName): void {
  const { dataset } = document.documentElement;
  if (theme === 'system') delete dataset.theme;
  else dataset.theme = theme;
}
