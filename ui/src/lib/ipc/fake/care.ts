import type { CareBackend } from '../care';
import type { CareCard, CareSign, Helpline } from '../types';
import type { World } from './world';

/** What the in-memory backend takes for a sign. The real rules are the core's. */
const SIGNS: [RegExp, CareSign][] = [
  [/end my life|hurt myself|nicht mehr leben|إيذاء نفسي/i, 'selfHarm'],
  [/he hits me|threatens me/i, 'danger'],
];

const always = { hours: '24/7' };
const CALL = (number: string) => ({ kind: 'call' as const, number });

const LISTS: Record<string, Omit<Helpline, 'region'>[]> = {
  US: [
    { ...always, name: '911', contact: CALL('911'), languages: 'en', kind: 'emergency' },
    {
      ...always,
      name: '988 Suicide & Crisis Lifeline',
      contact: { kind: 'callOrText', number: '988' },
      languages: 'en es',
      kind: 'crisis',
    },
    {
      ...always,
      name: 'Crisis Text Line',
      contact: { kind: 'text', number: '741741', keyword: 'HOME' },
      languages: 'en es',
      kind: 'crisis',
    },
    {
      ...always,
      name: 'National Domestic Violence Hotline',
      contact: CALL('1-800-799-7233'),
      languages: 'en es',
      kind: 'violence',
    },
  ],
  DE: [
    { ...always, name: '112', contact: CALL('112'), languages: 'de', kind: 'emergency' },
    {
      ...always,
      name: 'TelefonSeelsorge',
      contact: CALL('0800 1110111'),
      languages: 'de',
      kind: 'crisis',
    },
    {
      name: 'Nummer gegen Kummer',
      contact: CALL('116 111'),
      languages: 'de',
      hours: '',
      kind: 'young',
    },
  ],
  '': [
    { ...always, name: '112', contact: CALL('112'), languages: '', kind: 'emergency' },
    {
      ...always,
      name: 'Find A Helpline',
      contact: { kind: 'web', address: 'https://findahelpline.com' },
      languages: '',
      kind: 'directory',
    },
  ],
};

function cardOf(region: string, sign: CareSign): CareCard {
  const known = region in LISTS ? region : '';
  const helplines = (LISTS[known] ?? []).map((line) => ({ ...line, region: known }));
  return { sign, region: known, helplines };
}

/** The card for a message, if it holds a sign. */
export function careFor(world: World, text: string): CareCard | null {
  const sign = SIGNS.find(([words]) => words.test(text))?.[1];
  return sign ? cardOf(world.settings.helplineRegion || 'US', sign) : null;
}

/** Helplines of the in-memory backend. */
export function careCalls(world: World): CareBackend {
  return {
    careHelplines: (region) =>
      Promise.resolve(cardOf(region ?? (world.settings.helplineRegion || 'US'), 'selfHarm')),
  };
}
