// A model server on loopback that answers at once and knows what it will say: for journeys that are not about the model.

import { once } from 'node:events';
import { createServer } from 'node:http';

/** The name of its one model. */
export const MODEL = 'still-water';

/** Starts it; `reply` makes the answer of a list of messages. The address is that of its OpenAI-compatible side. */
export async function scriptedModel(reply) {
  const server = createServer(async (request, response) => {
    if (request.url === '/v1/models') {
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ data: [{ id: MODEL, context_length: 8192 }] }));
    } else if (request.url === '/v1/chat/completions') {
      let body = '';
      for await (const piece of request.setEncoding('utf8')) body += piece;
      stream(response, reply(JSON.parse(body).messages));
    } else {
      response.writeHead(404).end();
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { address: `http://127.0.0.1:${server.address().port}/v1`, stop: () => server.close().closeAllConnections() };
}

function stream(response, text) {
  response.setHeader('content-type', 'text/event-stream');
  const say = (value) => response.write(`data: ${typeof value === 'string' ? value : JSON.stringify(value)}\n\n`);
  for (const word of text.split(/(?<= )/)) say({ choices: [{ delta: { content: word } }] });
  say({ choices: [{ delta: {}, finish_reason: 'stop' }] });
  say({ choices: [], usage: { prompt_tokens: 60, completion_tokens: 20 } });
  say('[DONE]');
  response.end();
}
