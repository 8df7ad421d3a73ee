/** Care: whom to call, beside a conversation in which a sign of danger was found. */

export type CareSign = 'selfHarm' | 'danger';
export type HelplineKind = 'emergency' | 'crisis' | 'violence' | 'young' | 'directory';

/** How to reach a helpline. */
export type HelplineContact =
  | { kind: 'call'; number: string }
  | { kind: 'callOrText'; number: string }
  | { kind: 'text'; number: string; keyword: string }
  | { kind: 'web'; address: string };

export interface Helpline {
  /** ISO 3166 code, empty = everywhere. */
  region: string;
  name: string;
  contact: HelplineContact;
  /** Codes of the languages spoken there, divided by blanks; empty = not known. */
  languages: string;
  /** `24/7`, or hours of the day, local time; empty = see the organisation. */
  hours: string;
  kind: HelplineKind;
}

export interface CareCard {
  sign: CareSign;
  region: string;
  helplines: Helpline[];
}

export interface CareBackend {
  /** The helplines of a region; `null` is the one of the settings or of the system. */
  careHelplines(region: string | null): Promise<CareCard>;
}
