/** A server of tools whose description of its one tool stands in a file, and changes with it. It can take for ever. */
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const [, , file] = process.argv;
const say = (id, body) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...body })}\n`);
const ANSWERS = {
  initialize: () => ({
    protocolVersion: '2025-06-18',
    capabilities: { tools: {} },
    serverInfo: { name: 'changing', version: '1.0.0' },
  }),
  'tools/list': () => ({
    tools: [
      {
        name: 'remember',
        description: readFileSync(file, 'utf8'),
        inputSchema: { type: 'object', properties: { what: { type: 'string' } } },
      },
    ],
  }),
  'tools/call': ({ arguments: args }) => ({ content: [{ type: 'text', text: `kept ${args.what}` }] }),
};

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  const answer = ANSWERS[method];
  if (id === undefined) continue;
  if (params?.arguments?.what === 'for ever') continue;
  if (answer) say(id, { result: answer(params) });
  else say(id, { error: { code: -32_601, message: `unknown method ${method}` } });
}
