/**
 * Machines that dial a hub by docs/websocket.md, each from an address of its own (127.4.x.y):
 *   dial-agents PORT COUNT    prints `ready`, then for each line of its standard input its counters as JSON
 * They have the ids d0, d1, … and the keys of passwords.ts.
 */
import process from 'node:process';
import readline from 'node:readline';
import { WebSocket } from 'ws';
import { counters, Machine } from './machine.ts';
import { dialKeyOf } from './passwords.ts';
import { Session } from './session.ts';

/** As the service: without an end to be seen in the reconnections of others. */
const [MIN_PAUSE_MS, MAX_PAUSE_MS] = [500, 5000];
const [port = 0, count = 0] = process.argv.slice(2).map(Number);
const RUN = Math.random().toString(16).slice(2);

const more = { online: 0, ended: 0 };

function dial(index: number, machine = new Machine()): void {
  const id = `d${index}`;
  const socket = new WebSocket(`ws://127.0.0.1:${port}/api/agent?id=${id}&run=${RUN}`, {
    localAddress: `127.4.${index >> 8}.${1 + (index & 127)}`,
    headers: { Authorization: `Bearer ${dialKeyOf(id)}` },
  });
  let session: Session | undefined;
  socket
    .on('error', () => undefined)
    .on('open', () => {
      session = new Session(id, RUN, machine, (text) => socket.send(text, () => undefined));
      if (++more.online === count) console.log('ready');
    })
    .on('close', () => {
      if (session !== undefined) more.ended++;
      session?.end();
      setTimeout(() => dial(index, machine), MIN_PAUSE_MS + Math.random() * (MAX_PAUSE_MS - MIN_PAUSE_MS));
    })
    .on('message', (data) => session?.take(String(data)));
}

for (let index = 0; index < count; index++) dial(index);
readline
  .createInterface(process.stdin)
  .on('line', () => console.log(JSON.stringify({ ...counters, ...more })))
  .on('close', () => process.exit(0));
