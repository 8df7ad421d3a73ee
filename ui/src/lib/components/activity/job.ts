import { explain, locale, t, type MessageKey } from '$lib/i18n';
import type { Job, JobResult } from '$lib/state/types';

/** The sentences about each job, by its name without anything but letters. */
const TEXTS: Record<string, [MessageKey, MessageKey]> = {
  title: ['activity.job.title', 'activity.job.title.text'],
  titles: ['activity.job.title', 'activity.job.title.text'],
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
