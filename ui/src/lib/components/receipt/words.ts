import { t, type MessageKey } from '$lib/i18n';
import { standardOf } from '$lib/state/strategy';
import { laidOut } from '$lib/state/text';
import type {
  BlockKind,
  Origin,
  ReceiptBlock,
  ReceiptRound,
  RoundCall,
  RoundMessage,
  StrategyUsed,
} from '$lib/state/types';

/** What a kind of block is called. */
export const KIND_NAMES: Record<BlockKind, MessageKey> = {
  system: 'receipt.kind.system',
  tools: 'receipt.kind.tools',
  memory: 'receipt.kind.memory',
  history: 'receipt.kind.history',
  user: 'receipt.kind.user',
  trailing: 'receipt.kind.trailing',
};

/** The colour of a kind. The words beside it say the same. */
export const KIND_COLOURS: Record<BlockKind, string> = {
  system: 'var(--kind-system)',
  tools: 'var(--kind-tools)',
  memory: 'var(--kind-memory)',
  history: 'var(--kind-history)',
  user: 'var(--kind-user)',
  trailing: 'var(--kind-trailing)',
};

const PLAIN: Partial<Record<Origin['from'], MessageKey>> = {
  revision: 'receipt.from.revision',
  anchor: 'receipt.from.anchor',
  userText: 'receipt.from.user',
  clock: 'receipt.from.clock',
  summary: 'receipt.from.summary',
  state: 'receipt.from.state',
  recalled: 'receipt.from.recalled',
  goals: 'receipt.from.goals',
  tools: 'receipt.from.tools',
};

/** Where a block comes from, in words. */
export function originOf({ origin, role, kind }: ReceiptBlock): string {
  if (origin.from === 'earlier') return t('receipt.from.earlier', { count: origin.messages });
  if (origin.from === 'provider') return t('receipt.from.provider', { name: origin.name });
  if (kind === 'user') return t('receipt.from.user');
  const key = PLAIN[origin.from];
  if (key) return t(key);
  return role === 'assistant' ? t('receipt.from.reply') : t('receipt.from.message');
}

/** The stored message behind a block. */
export function messageOf({ origin }: ReceiptBlock): string | null {
  return origin.from === 'message' || origin.from === 'recalled' ? origin.id : null;
}

/** What a strategy is called, with its version. */
export function strategyOf({ id, version }: StrategyUsed, nameOf: (id: string) => string): string {
  const standard = standardOf(id);
  const name = standard ? t(standard.name) : nameOf(id);
  return t('receipt.strategy.version', { name, version });
}

const toolOf = ({ server, tool }: RoundCall): string =>
  server === '' ? tool : `${tool} ${t('tool.of', { server })}`;

/** The tools that a round tells of, or what else it adds. */
export function toolsOf({ messages }: ReceiptRound): string {
  const calls = messages.flatMap((one) => (one.from === 'model' ? one.calls : []));
  const names = [...new Set(calls.map((call) => call.tool))];
  return names.length === 0 ? t('receipt.round.app') : names.join(', ');
}

/** What a round adds, each part with what it is called. */
export function partsOf({ messages }: ReceiptRound): { name: string; text: string }[] {
  const parts = (one: RoundMessage): { name: string; text: string }[] => {
    if (one.from === 'app') return [{ name: t('receipt.round.app'), text: one.text }];
    if (one.from === 'tool')
      return [{ name: t('receipt.round.gave', { tool: toolOf(one.call) }), text: one.text }];
    const said = one.text === '' ? [] : [{ name: t('receipt.round.said'), text: one.text }];
    const asked = one.calls.map((call) => ({
      name: t('receipt.round.asked', { tool: toolOf(call) }),
      text: laidOut(call.arguments),
    }));
    return [...said, ...asked];
  };
  return messages.flatMap(parts);
}
