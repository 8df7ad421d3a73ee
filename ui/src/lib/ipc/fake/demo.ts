import { seedMemory } from './memory';
import { contextOf } from './seed';
import type { World } from './world';

const HOUR = 3_600_000;

function inHours(hours: number): string {
  return new Date(Date.now() + hours * HOUR).toISOString();
}

/** Companions and conversations in every state of their life. */
export function seedLife(world: World): void {
  const [first] = world.contexts;
  if (!first) return;
  first.tags = ['calm', 'work'];
  const add = (index: number, id: string, fields: object) => {
    const preset = world.presets[index];
    return preset ? world.join({ ...contextOf(preset, id, index), ...fields }) : first;
  };
  add(2, 'context-guide', { name: 'Mira', tags: ['home'], expiresAt: inHours(5) });
  const old = add(3, 'context-old', { name: 'Project Planner', tags: ['work'] });
  world.talk(old.id, 'Planning the move', 2);
  Object.assign(old, { isActive: false, expiresAt: inHours(-30) });
  const gone = add(4, 'context-gone', { name: 'Old Friend' });
  Object.assign(gone, { isActive: false, deletedAt: inHours(-50) });
  reworded(world);
  seedMemory(world);
  remembered(world);
  const mine = world.conversations.filter((one) => one.contextId === first.id);
  const [meeting, sleep, letter] = mine;
  if (meeting) Object.assign(meeting, { isPinned: true, tags: ['team'] });
  if (sleep) Object.assign(sleep, { isArchived: true });
  if (letter) letter.tags = ['home', 'letters'];
  const lost = world.talk(first.id, 'Something I deleted', 1);
  lost.deletedAt = inHours(-3);
  const newest = world.conversation(mine.at(-1)?.id ?? '');
  newest.lastActivityAt = world.now();
  world.operations.seed(world, newest.id);
}

/** A conversation whose last answer rests on older messages. */
function remembered(world: World): void {
  const [meeting, , letter] = world.conversations;
  const reply = world.messages.findLast((one) => one.conversationId === letter?.id);
  const said = world.messages.filter((one) => one.conversationId === meeting?.id).slice(0, 2);
  if (!reply) return;
  reply.citations = said.map(({ id, conversationId, content, createdAt }) => {
    return { messageId: id, conversationId, beginning: content.slice(0, 120), createdAt };
  });
}

/** A conversation in which the persona changed, and another companion answered once. */
function reworded(world: World): void {
  const [context, other] = world.contexts;
  if (!context || !other) return;
  const talk = world.talk(context.id, 'A disagreement with my sister', 2);
  context.personality = 'Calm, attentive, plain-spoken; asks one question at a time.';
  world.reword(context);
  const base = { conversationId: talk.id, reasoning: null, status: 'complete' as const };
  const model = world.settings.defaultModel;
  const ask = (contextId: string, question: string, reply: string): void => {
    const user = { ...base, contextId, role: 'user' as const, model: null, content: question };
    const { id } = world.store({ ...user, parentId: talk.activeLeafId });
    world.store({ ...base, contextId, role: 'assistant', content: reply, model, parentId: id });
  };
  ask(context.id, 'What would you ask her?', 'One thing only: what she hoped you would say.');
  ask(other.id, 'And what speaks against it?', 'Two facts: it is late, and neither of you slept.');
}
