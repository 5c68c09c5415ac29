/** Messages between a hub and a machine are held back for 20 s, and delivered twice: nothing is done twice or late. */
import net from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { listen } from '../../../helpers/clients/listen.ts';
import { startRepeater } from '../../../socket/broker/repeater.ts';
import { isFull } from './parts.ts';
import { Scene } from './scene.ts';
import { WAYS } from './ways.ts';

t.setTimeout(1_800_000);

const ROUNDS = isFull ? 3 : 1;
const DELAY_MS = 20_000;

/** Returns what came on a connection since the last call, each WebSocket message of it twice. */
function repeatMessages(): (bytes: Buffer) => Buffer {
  let rest = Buffer.alloc(0);
  let isOpen = false;
  return (bytes) => {
    rest = Buffer.concat([rest, bytes]);
    const out: Buffer[] = [];
    const pass = (length: number, times: number) => {
      for (let time = 0; time < times; time++) out.push(rest.subarray(0, length));
      rest = rest.subarray(length);
    };
    const headEnd = isOpen ? -1 : rest.indexOf('\r\n\r\n');
    if (headEnd >= 0) pass(headEnd + 4, 1);
    isOpen ||= headEnd >= 0;
    for (let length = frameLength(rest); isOpen && length <= rest.length; length = frameLength(rest))
      pass(length, ((rest[0] ?? 0) & 0x0f) === 1 ? 2 : 1);
    return Buffer.concat(out);
  };
}

/** The length of the WebSocket frame at the beginning of `bytes`, of which the head may be missing. */
function frameLength(bytes: Buffer): number {
  if (bytes.length < 4) return bytes.length === 2 && bytes[1] === 0 ? 2 : Number.POSITIVE_INFINITY;
  const second = bytes.readUInt8(1);
  const short = second & 0x7f;
  if (short === 127 && bytes.length < 10) return Number.POSITIVE_INFINITY;
  const [head, data] =
    short === 126
      ? [4, bytes.readUInt16BE(2)]
      : short === 127
        ? [10, Number(bytes.readBigUInt64BE(2))]
        : [2, short];
  return head + (second >= 0x80 ? 4 : 0) + data;
}

/** A path whose bytes arrive `delayMs` after they were sent, in both directions, also if the sender has closed by then. */
class SlowPath {
  delayMs = 0;
  /** WebSocket messages arrive twice. */
  repeats = false;

  async open(t: Test, port: number): Promise<number> {
    const server = net.createServer((near) => {
      const far = net.connect(port, '127.0.0.1');
      this.#pass(near, far);
      this.#pass(far, near);
      t.teardown(() => [near, far].forEach((socket) => socket.destroy()));
    });
    return await listen(t, server);
  }

  #pass(from: net.Socket, to: net.Socket): void {
    const repeated = this.repeats ? repeatMessages() : (bytes: Buffer) => bytes;
    let dueMs = 0;
    const later = (act: () => void) => {
      dueMs = Math.max(dueMs, performance.now() + this.delayMs);
      setTimeout(act, dueMs - performance.now()).unref();
    };
    from
      .on('data', (bytes) => {
        const passed = repeated(bytes);
        later(() => to.write(passed));
      })
      .on('error', () => undefined)
      .on('close', () => later(() => to.end()));
  }
}

for (const { name, skip, start } of WAYS)
  t.test(`[I.hub.faults.delayed] a path of 20 s to a machine ${name}`, { skip }, async (t) => {
    const path = new SlowPath();
    path.repeats = !name.startsWith('behind');
    const { broker, ...cast } = await start(t, { through: async (port) => await path.open(t, port) });
    const scene = await Scene.set(t, { ...cast, what: `a path of 20 s to a machine ${name}` });
    if (broker !== undefined) await startRepeater(t, broker);
    for (let round = 1; round <= ROUNDS; round++) {
      await sleep(2000);
      scene.commander.burst(10);
      await sleep(1000);
      path.delayMs = DELAY_MS;
      scene.commander.burst(10);
      await scene.shown('down');
      await sleep(DELAY_MS + 2000);
      path.delayMs = 0;
      const endMs = performance.now();
      await scene.shown('up');
      t.ok((await scene.viewer.sampleAfter(endMs)) > endMs, 'the stream goes on');
    }
    await scene.end();
  });
