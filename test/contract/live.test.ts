/** The real machine through the program itself: exactly the documented keys, and plausible numbers. */
import os from 'node:os';
import t from 'tap';
import { checkHeaders, JSON_HEADERS } from '../helpers/clients/answers.ts';
import { EventStream, payloadOf } from '../helpers/clients/event-stream.ts';
import { ask, jsonOf } from '../helpers/clients/http.ts';
import { serveProgram } from '../helpers/service/service.ts';

const service = await serveProgram(t, { config: { stats: { stream_interval_seconds: 1 } } });

const shapeOf = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(shapeOf);
  if (typeof value !== 'object' || value === null) return typeof value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, shapeOf(inner)]));
};

function* numbersIn(value: unknown): Generator<number> {
  if (typeof value === 'number') yield value;
  else if (typeof value === 'object' && value !== null)
    for (const inner of Object.values(value)) yield* numbersIn(inner);
}

t.test(
  '[3.live] [3.finite] [I.gpu] default payloads of this machine, on the stream and from usage',
  async (t) => {
    const stream = await EventStream.openIn(t, service.port);
    const payloads = [jsonOf(await ask(service.port, '/api/usage'))];
    for (let i = 0; i < 3; i++) payloads.push(payloadOf(await stream.next()));
    for (const payload of payloads) {
      // Every value read from it is checked by the comparison of shapes.
      const { gpu, disks, memory } = payload as {
        readonly gpu: unknown;
        readonly disks: readonly unknown[];
        readonly memory: { readonly used: number; readonly free: number };
      };
      const number = 'number';
      t.strictSame(shapeOf({ ...Object(payload), gpu: 0, disks: 0 }), {
        timestamp: number,
        uptime: number,
        cpu: { current_load: number, current_temp: number, current_speed: number },
        memory: { used: number, free: number, used_percent: number },
        gpu: number,
        disks: number,
        network: { bytesSent: number, bytesRecv: number },
      });
      if (gpu !== null)
        t.strictSame(shapeOf(gpu), { current_load: number, current_temp: number, current_memory: number });
      for (const disk of disks)
        t.strictSame(shapeOf(disk), { fs: 'string', used: number, available: number, used_percent: number });
      t.ok(Math.abs(memory.used + memory.free - os.totalmem()) < 1024 ** 2, 'used + free = total');
      for (const value of numbersIn(payload)) t.ok(Number.isFinite(value) && value >= 0, `${value}`);
    }
  },
);

t.test('[3.finite] no number of detail is negative, except a signal level', async (t) => {
  const payload = JSON.stringify(jsonOf(await ask(service.port, '/api/usage?detail=1')));
  t.notMatch(payload.replace(/"(signal_dbm|value)":-/g, ''), /":-|NaN|Infinity/);
});

t.test('[2.live] the program itself answers with the same headers', async (t) => {
  for (const path of ['/api/status', '/api/usage', '/api/system?detail=1']) {
    const answer = await ask(service.port, path);
    t.equal(answer.status, 200);
    checkHeaders(t, answer, JSON_HEADERS);
  }
});

t.test(
  '[2.headers-16k] a header block of nearly 16 KiB is read: cookies of other services come along',
  async (t) => {
    const answer = await ask(service.port, '/api/status', { headers: { Cookie: 'a'.repeat(15_000) } });
    t.equal(answer.status, 200);
  },
);
