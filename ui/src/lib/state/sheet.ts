import type {
  BlockKind,
  Message,
  ModelChoice,
  Preview,
  Receipt,
  ReceiptBlock,
  StrategyUsed,
  TokenMeter,
} from '../ipc/types';

/** The kinds in the order of the prompt. */
export const KINDS: BlockKind[] = ['system', 'tools', 'memory', 'history', 'user', 'trailing'];

/** A request as it is shown, whether it was sent or not. */
export interface Sheet {
  blocks: ReceiptBlock[];
  meter: TokenMeter;
  model: ModelChoice;
  providerName: string;
  strategy: StrategyUsed;
  usage: Message['usage'];
  /** What was sent; `null` where nothing was. */
  receipt: Receipt | null;
}

export function sheetOf(receipt: Receipt): Sheet {
  const { blocks, meter, model, providerName, strategy, usage } = receipt;
  return { blocks, meter, model, providerName, strategy, usage, receipt };
}

export function sheetOfPreview(preview: Preview): Sheet {
  const { blocks, meter, model, providerName, strategy } = preview;
  return { blocks, meter, model, providerName, strategy, usage: null, receipt: null };
}

/** The part of a request that one kind takes. */
export interface Share {
  kind: BlockKind;
  tokens: number;
  blocks: number;
  /** Blocks that were not sent. */
  leftOut: number;
}

/** What each kind takes that there is any of, in the order of the prompt. */
export function shares(blocks: ReceiptBlock[]): Share[] {
  return KINDS.map((kind) => {
    const all = blocks.filter((block) => block.kind === kind);
    const sent = all.filter((block) => block.included);
    const tokens = sum(sent);
    return { kind, tokens, blocks: sent.length, leftOut: leftOut(all) };
  }).filter((share) => share.blocks + share.leftOut > 0);
}

/** Tokens of what was sent. */
export function sum(blocks: ReceiptBlock[]): number {
  return blocks.reduce((total, block) => total + (block.included ? block.tokens : 0), 0);
}

/** So many were left out; one block may stand for several messages. */
function leftOut(blocks: ReceiptBlock[]): number {
  const count = ({ origin }: ReceiptBlock): number =>
    origin.from === 'earlier' ? origin.messages : 1;
  return blocks.reduce((total, block) => total + (block.included ? 0 : count(block)), 0);
}

/** Neighbours in a list of blocks that can stand behind one line. */
export interface Run {
  /** Place of the first in the list. */
  first: number;
  blocks: ReceiptBlock[];
}

/** Puts neighbours of one kind and fate together where they are more than `most`. */
export function runs(blocks: ReceiptBlock[], most: number): Run[] {
  const found: Run[] = [];
  for (const [first, block] of blocks.entries()) {
    const last = found.at(-1);
    const before = last?.blocks[0];
    const alike = before?.kind === block.kind && before.included === block.included;
    if (last && alike) last.blocks.push(block);
    else found.push({ first, blocks: [block] });
  }
  return found.flatMap((run) =>
    run.blocks.length > most
      ? [run]
      : run.blocks.map((block, place) => ({ first: run.first + place, blocks: [block] })),
  );
}

/** How a block of one request stands in another. */
export interface Difference {
  change: 'added' | 'gone' | 'changed' | 'same';
  before: ReceiptBlock | null;
  after: ReceiptBlock | null;
}

/** What of a block stays the same from request to request. */
function identity({ kind, origin }: ReceiptBlock): string {
  // The text being sent becomes a stored message; how many came before is no other block.
  if (kind === 'user') return 'user';
  return origin.from === 'earlier' ? 'earlier' : `${kind} ${JSON.stringify(origin)}`;
}

/** What was sent in one request and not in the other, or in another size; in the order of the later. */
export function differences(before: ReceiptBlock[], after: ReceiptBlock[]): Difference[] {
  const known = new Map<string, ReceiptBlock[]>();
  for (const block of before.filter((one) => one.included)) {
    const id = identity(block);
    known.set(id, [...(known.get(id) ?? []), block]);
  }
  const now = after.filter((one) => one.included);
  const found = now.map((block): Difference => {
    const old = known.get(identity(block))?.shift() ?? null;
    if (!old) return { change: 'added', before: null, after: block };
    const other =
      block.kind === 'user' && JSON.stringify(old.origin) !== JSON.stringify(block.origin);
    const change = old.tokens === block.tokens && !other ? 'same' : 'changed';
    return { change, before: old, after: block };
  });
  const rest = [...known.values()].flat();
  const gone = before
    .filter((block) => rest.includes(block))
    .map((block): Difference => {
      // Why it did not come along is said where it was left out.
      const left = after.find((one) => !one.included && identity(one) === identity(block)) ?? null;
      return { change: 'gone', before: block, after: left };
    });
  return [...gone, ...found].sort((a, b) => rank(a) - rank(b));
}

function rank({ before, after }: Difference): number {
  const kind = (after ?? before)?.kind;
  return kind ? KINDS.indexOf(kind) : 0;
}

/** JSON with a line for each part; text that is none stays as it is. */
export function pretty(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), null, 2);
  } catch {
    return body;
  }
}
