/** Remains of connections that the service closed. */
import { readFileSync } from 'node:fs';
import net from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { startService } from '../helpers/service/service.ts';

const PARALLEL = 20;
const WARM_UP = 4000;
const COUNTED = 8000;
/** Half of what uWebSockets.js has lost for each (src/clock.ts). V8 and the C library give back in steps: 456 KB once. */
const MAX_BYTES_EACH = 232;

/** Bytes in use below the program break, where the C library keeps small blocks. */
function heapBytesOf(pid: number): number {
  const maps = readFileSync(`/proc/${pid}/smaps`, 'utf8');
  return Number(/\[heap\]\n[\s\S]*?^Anonymous:\s+(\d+)/m.exec(maps)?.[1]) * 1024;
}

/** Sends a request whose answer ends the connection, and waits for the end. */
const ask = (port: number) =>
  new Promise<void>((resolve, reject) => {
    const socket = net.connect(port, '127.0.0.1');
    socket.on('connect', () =>
      socket.write('GET /api/status HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n'),
    );
    socket.on('error', reject);
    socket.on('close', () => resolve());
    socket.resume();
  });

async function askOften(port: number, count: number): Promise<void> {
  let left = count;
  const worker = async () => {
    while (left-- > 0) await ask(port);
  };
  await Promise.all(Array.from({ length: PARALLEL }, worker));
  await sleep(200);
}

t.test('nothing is kept of a connection that an answer has ended', async (t) => {
  const service = await startService();
  t.teardown(() => service.stop());
  await askOften(service.port, WARM_UP);
  const before = heapBytesOf(service.pid);
  await askOften(service.port, COUNTED);
  const each = (heapBytesOf(service.pid) - before) / COUNTED;
  t.ok(each < MAX_BYTES_EACH, `${each.toFixed(0)} bytes of each`);
});
