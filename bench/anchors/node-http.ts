/** The upper anchor: a naive server on Node's http. `node node-http.js EVENT_FILE` prints its port. */
import { readFileSync } from 'node:fs';
import http from 'node:http';
import process from 'node:process';

const event = readFileSync(process.argv[2] ?? '', 'utf8');
const payload = JSON.parse(event.slice(event.indexOf('{'), event.lastIndexOf('}') + 1)) as object; // A stream payload.
const clients = new Set<http.ServerResponse>();

const eventNow = () =>
  `data: ${JSON.stringify({ ...payload, timestamp: Math.floor(Date.now() / 1000) })}\n\n`;

const server = http.createServer((request, response) => {
  if (request.url === '/api/status') {
    response.end('{"status":"ok"}');
    return;
  }
  response.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-cache' });
  response.write(eventNow());
  clients.add(response);
  response.on('close', () => clients.delete(response));
});

setInterval(() => {
  for (const client of clients) client.write(eventNow());
}, 1000);

server.listen({ host: '127.0.0.1', port: 0, backlog: 4096 }, () => {
  const address = server.address();
  if (address !== null && typeof address === 'object') process.stdout.write(`${address.port}\n`);
});
