import { bytes, explain, locale, moment, t, type MessageKey } from '$lib/i18n';
import type { Job, JobResult } from '$lib/state/types';

/** The sentences about each job, by its name without anything but letters. */
const TEXTS: Record<string, [MessageKey, MessageKey]> = {
  title: ['activity.job.title', 'activity.job.title.text'],
  titles: ['activity.job.title', 'activity.job.title.text'],
  drill: ['activity.job.drill', 'activity.job.drill.text'],
  check: ['activity.job.check', 'activity.job.check.text'],
  backup: ['activity.job.backup', 'activity.job.backup.text'],
  expiry: ['activity.job.expiry', 'activity.job.expiry.text'],
  cleanup: ['activity.job.cleanup', 'activity.job.cleanup.text'],
  vacuum: ['activity.job.vacuum', 'activity.job.vacuum.text'],
};

/** How a result is shown. */
export const RESULTS: Record<JobResult, { key: MessageKey; tone: 'accent' | 'danger' | 'warn' }> = {
  ok: { key: 'activity.ok', tone: 'accent' },
  failed: { key: 'activity.failed', tone: 'danger' },
  interrupted: { key: 'activity.interrupted', tone: 'warn' },
};

function texts(name: string): [MessageKey, MessageKey] | undefined {
  return TEXTS[name.toLowerCase().replaceAll(/[^a-z]/g, '')];
}

/** The title of a job; one of a newer version is called by its name. */
export function titleOf(name: string): string {
  const key = texts(name)?.[0];
  return key ? t(key) : name;
}

/** What a job is for; empty where that is not known. */
export function textOf(name: string): string {
  const key = texts(name)?.[1];
  return key ? t(key) : '';
}

/** Why a run failed, in the language in use where its message begins with an error's code. */
export function failureOf(job: Job): { what: string; todo: string; raw: string } {
  const message = job.message ?? '';
  const [, code = '', rest = ''] = /^([a-z_]+): (.*)$/s.exec(message) ?? [];
  if (locale.has(`error.${code}`))
    return { ...explain({ code, message: rest, details: {} }), raw: message };
  return { what: t('activity.failed.text'), todo: '', raw: message };
}

/** What a run says that it has done, by the core's words for it. */
const DEEDS: Record<string, MessageKey> = {
  'warned about': 'activity.did.warned',
  expired: 'activity.did.rested',
  woken: 'activity.did.woken',
  'to the trash': 'activity.did.trashed',
  'contexts purged': 'activity.did.contexts',
  'conversations purged': 'activity.did.conversations',
  'messages forgotten': 'activity.did.messages',
  'too much to go without being asked': 'activity.did.waits',
  'databases from before a restore removed': 'activity.did.databases',
  titles: 'activity.did.titles',
  'places damaged': 'activity.did.damaged',
  'backups not whole': 'activity.did.unusable',
};

/** What the last run has done, in the language in use; what is not known, as the core says it. */
export function deedsOf(job: Job): string[] {
  if (job.result !== 'ok' || job.message === null) return [];
  return job.message.split(/[,;] /).map(deed);
}

function deed(said: string): string {
  const [, figure = '', what = ''] = /^(\d+) (.+)$/.exec(said) ?? [];
  const key = DEEDS[what];
  if (key) return t(key, { count: Number(figure) });
  if (what === 'bytes given back') return t('activity.did.space', { size: bytes(Number(figure)) });
  const [, began] = /^the run of (.+ UTC) was cut off$/.exec(said) ?? [];
  if (began === undefined) return said;
  return t('activity.did.cutOff', { when: moment(began.replace(' UTC', 'Z').replace(' ', 'T')) });
}
