/**
 * A thousand agents that hubs connect to, one per address 127.1.x.y, as a program of its own so that it is not measured with a hub:
 *   agents PORT    prints `ready`, then for each line of its standard input its counters as JSON
 */
import process from 'node:process';
import readline from 'node:readline';
import { type WebSocket, WebSocketServer } from 'ws';
import { counters } from './machine.ts';
import { Reporter } from './reporter.ts';

const reporters = new Set<Reporter>();

function serve(socket: WebSocket): void {
  const send = (topic: string, payload: string) => socket.send(`${topic}\n${payload}`, () => undefined);
  const reporter = new Reporter(send);
  reporters.add(reporter);
  socket
    .on('error', () => undefined)
    .on('close', () => {
      reporter.rest();
      reporters.delete(reporter);
    })
    .on('message', (data) => {
      const text = String(data);
      const end = text.indexOf('\n');
      reporter.take(text.slice(0, end), text.slice(end + 1));
    });
  send('status', reporter.status('online', { version: '0.0.0-simulated', protocol: 1, name: 'simulated' }));
}

new WebSocketServer(
  { port: Number(process.argv[2]), host: '0.0.0.0', backlog: 4096, perMessageDeflate: false },
  () => console.log('ready'),
).on('connection', serve);
setInterval(() => reporters.forEach((reporter) => reporter.expire()), 1000);
readline.createInterface(process.stdin).on('line', () => console.log(JSON.stringify(counters)));
