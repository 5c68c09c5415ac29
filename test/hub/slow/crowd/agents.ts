/**
 * A thousand agents that hubs pull, one per address 127.1.x.y, as a program of its own so that it is not measured with a hub:
 *   agents PORT    prints `ready`, then for each line of its standard input its counters as JSON
 */
import net from 'node:net';
import process from 'node:process';
import readline from 'node:readline';
import { counters, Machine, type Sample, SECTIONS } from './machine.ts';

const HEAD =
  'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\nTransfer-Encoding: chunked\r\n\r\n';

const machines = new Map<string | undefined, Machine>();

function machineAt(address: string | undefined): Machine {
  const machine = machines.get(address) ?? new Machine();
  machines.set(address, machine);
  return machine;
}

function chunkOf({ begin, sections }: Sample): string {
  const event = `data: {${begin},${SECTIONS.map((name) => sections[name]).join(',')}}\n\n`;
  return `${event.length.toString(16)}\r\n${event}\r\n`;
}

function answerCheck(socket: net.Socket, isHead: boolean): void {
  const body = isHead ? '' : '{"hostname":"simulated"}';
  const type = isHead ? 'text/event-stream' : 'application/json';
  const clock = `X-Hostwire-Clock: abc ${Math.floor(performance.now())}`;
  socket.write(
    `HTTP/1.1 200 OK\r\nContent-Type: ${type}\r\n${clock}\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  );
}

function serve(socket: net.Socket): void {
  let detach: (() => void) | undefined;
  socket.on('error', () => undefined);
  socket.on('close', () => detach?.());
  // As the service closes an idle connection.
  socket.setTimeout(10_000, () => detach === undefined && socket.end());
  socket.on('data', (bytes) => {
    const request = bytes.toString('latin1');
    if (!request.startsWith('GET /api/stream')) {
      answerCheck(socket, request.startsWith('HEAD'));
      return;
    }
    socket.write(HEAD);
    const machine = machineAt(socket.localAddress);
    detach = machine.attach((sample) => socket.write(chunkOf(sample)));
    // The first one does not wait for the next tick.
    machine.sample();
  });
}

net
  .createServer({ noDelay: true }, serve)
  .listen({ port: Number(process.argv[2]), host: '0.0.0.0', backlog: 4096 }, () => console.log('ready'));
readline.createInterface(process.stdin).on('line', () => console.log(JSON.stringify(counters)));
