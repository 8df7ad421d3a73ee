import { locale, t } from '$lib/i18n';

/** Regions that have helplines of their own. */
const REGIONS = [
  ...['AT', 'AU', 'BE', 'BR', 'CA', 'CH', 'DE', 'DK', 'ES', 'FI', 'FR', 'GB', 'IE'],
  ...['IN', 'IT', 'JP', 'KR', 'MX', 'NL', 'NO', 'NZ', 'PL', 'PT', 'SE', 'US'],
];

/** Stands for every other region: the code that CLDR keeps for an unknown one. */
export const ELSEWHERE = 'ZZ';

/** The regions with their names in the language in use, by name; everywhere else last. */
export function regions(): { code: string; name: string }[] {
  const names = new Intl.DisplayNames(locale.intl, { type: 'region' });
  const known = REGIONS.map((code) => ({ code, name: names.of(code) ?? code }));
  return [
    ...known.toSorted((a, b) => a.name.localeCompare(b.name, locale.tag)),
    { code: ELSEWHERE, name: t('care.elsewhere') },
  ];
}

/** The entry of the list that a card's region belongs to. */
export function listed(region: string): string {
  const code = region.toUpperCase();
  return REGIONS.includes(code) ? code : ELSEWHERE;
}

/** Languages by name, from codes divided by blanks. */
export function languages(codes: string): string {
  const names = new Intl.DisplayNames(locale.intl, { type: 'language' });
  const list = codes.split(' ').flatMap((code) => (code === '' ? [] : [names.of(code) ?? code]));
  return new Intl.ListFormat(locale.intl, { type: 'conjunction' }).format(list);
}
