import { IntlMessageFormat } from 'intl-messageformat';
import en from './locales/en.json';

/** Every text of the window, by key. */
export type MessageKey = keyof typeof en;
type Catalogue = Record<MessageKey, string>;

/** The languages of the app in their own words. */
export const LOCALES = { en: 'English', de: 'Deutsch', ar: 'العربية' } as const;
type Tag = keyof typeof LOCALES;

const RIGHT_TO_LEFT = new Set(['ar', 'fa', 'he', 'ur']);
const loaders: Record<Exclude<Tag, 'en'>, () => Promise<{ default: Catalogue }>> = {
  de: () => import('./locales/de.json'),
  ar: () => import('./locales/ar.json'),
};

function isTag(tag: string): tag is Tag {
  return tag in LOCALES;
}

/** The language in use. Reading a text in a component makes it follow a change of language. */
class Locale {
  tag = $state<Tag>('en');
  private catalogue = $state.raw<Catalogue>(en);
  private formats = new Map<string, IntlMessageFormat>();
  private wanted: Tag = 'en';

  get direction(): 'ltr' | 'rtl' {
    return RIGHT_TO_LEFT.has(this.tag) ? 'rtl' : 'ltr';
  }

  /**
   * The language with its digits, for everything that Intl writes. Web views differ in the digits
   * they take for Arabic; names of models, sizes and fields to type in have Latin ones in any case.
   */
  get intl(): string {
    return `${this.tag}-u-nu-latn`;
  }

  /** Switches to a BCP 47 tag or to the system's language (`system`); unknown ones give English. */
  async use(language: string): Promise<void> {
    const wishes = language === 'system' ? navigator.languages : [language];
    const tag = wishes.map((wish) => wish.split('-')[0] ?? '').find(isTag) ?? 'en';
    this.wanted = tag;
    const catalogue = tag === 'en' ? en : (await loaders[tag]()).default;
    // Another choice may have been made while this one loaded.
    if (this.wanted !== tag) return;
    this.formats = new Map();
    this.catalogue = catalogue;
    this.tag = tag;
    document.documentElement.lang = tag;
    document.documentElement.dir = this.direction;
  }

  text(key: MessageKey, values?: Record<string, string | number>): string {
    const pattern = this.catalogue[key];
    let format = this.formats.get(key);
    if (!format) {
      format = new IntlMessageFormat(pattern, this.intl);
      this.formats.set(key, format);
    }
    return String(format.format(values));
  }

  has(key: string): key is MessageKey {
    return key in this.catalogue;
  }
}

export const locale = new Locale();

/** The text of a key in the language in use. */
export function t(key: MessageKey, values?: Record<string, string | number>): string {
  return locale.text(key, values);
}
