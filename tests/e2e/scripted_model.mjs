// A model server on loopback that answers at once and knows what it will say: for journeys that are not about the model.

import { once } from 'node:events';
import { createServer } from 'node:http';

/** The name of its one model. */
export const MODEL = 'still-water';

/**
 * Starts it; `reply` makes the answer of a list of messages and the names of the tools that may be called: a text, or
 * `{tool, args}`. The address is that of its OpenAI-compatible side.
 */
export async function scriptedModel(reply) {
  const server = createServer(async (request, response) => {
    if (request.url === '/v1/models') {
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ data: [{ id: MODEL, context_length: 8192 }] }));
    } else if (request.url === '/v1/chat/completions') {
      let body = '';
      for await (const piece of request.setEncoding('utf8')) body += piece;
      const { messages, tools = [] } = JSON.parse(body);
      stream(response, reply(messages, tools.map((tool) => tool.function.name)));
    } else {
      response.writeHead(404).end();
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { address: `http://127.0.0.1:${server.address().port}/v1`, stop: () => server.close().closeAllConnections() };
}

let calls = 0;

function stream(response, answer) {
  response.setHeader('content-type', 'text/event-stream');
  const say = (value) => response.write(`data: ${typeof value === 'string' ? value : JSON.stringify(value)}\n\n`);
  if (typeof answer === 'string') {
    for (const word of answer.split(/(?<= )/)) say({ choices: [{ delta: { content: word } }] });
    say({ choices: [{ delta: {}, finish_reason: 'stop' }] });
  } else {
    calls += 1;
    const called = { name: answer.tool, arguments: JSON.stringify(answer.args) };
    say({ choices: [{ delta: { tool_calls: [{ index: 0, id: `call-${calls}`, type: 'function', function: called }] } }] });
    say({ choices: [{ delta: {}, finish_reason: 'tool_calls' }] });
  }
  say({ choices: [], usage: { prompt_tokens: 60, completion_tokens: 20 } });
  say('[DONE]');
  response.end();
}
