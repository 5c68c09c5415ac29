/**
 * A thousand machines that hubs connect to, one per address 127.1.x.y, as a program of its own so that it is not measured with a hub:
 *   agents PORT    prints `ready`, then for each line of its standard input its counters as JSON
 */
import process from 'node:process';
import readline from 'node:readline';
import { type WebSocket, WebSocketServer } from 'ws';
import { counters, Machine } from './machine.ts';
import { Session } from './session.ts';

const RUN = Math.random().toString(16).slice(2);
/** By address: several hubs may connect to each. */
const machines = new Map<string, Machine>();

function serve(socket: WebSocket, address: string): void {
  const machine = machines.get(address) ?? new Machine();
  machines.set(address, machine);
  const session = new Session('simulated', RUN, machine, (text) => socket.send(text, () => undefined));
  socket
    .on('error', () => undefined)
    .on('close', () => session.end())
    .on('message', (data) => session.take(String(data)));
}

new WebSocketServer(
  { port: Number(process.argv[2]), host: '0.0.0.0', backlog: 4096, perMessageDeflate: false },
  () => console.log('ready'),
).on('connection', (socket, { socket: { localAddress = '' } }) => serve(socket, localAddress));
readline.createInterface(process.stdin).on('line', () => console.log(JSON.stringify(counters)));
