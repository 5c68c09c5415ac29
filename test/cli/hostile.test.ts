/** A hostile server, and a program with a hostile name: nothing that they chose commands the terminal of a command. */
import http from 'node:http';
import net from 'node:net';
import process from 'node:process';
import t, { type Test } from 'tap';
import { WebSocketServer } from 'ws';
import { missing, partly, printRows } from '#src/cli/doctor/rows.js';
import { findPortProblem } from '#src/cli/ports.js';
import { drawScreen } from '#src/cli/top/layout.js';
import { paint } from '#src/cli/top/text.js';
import { FIRST_POINTS } from '#src/cli/top/view.js';
import { ClientError, connect, request, streamStats } from '#src/client/client.js';
import { check } from '#src/client/pending.js';
import type { SocketConstructor } from '#src/client/socket-options.js';
import { listen } from '../helpers/clients/listen.ts';
import { HOSTILE, OBEYED } from '../helpers/hostile-texts.ts';
import { runToEnd } from '../helpers/service/service.ts';
import { rowOf, SAMPLE, viewOf } from './top/views.ts';

const sample = {
  ...SAMPLE,
  host: HOSTILE,
  disks: [
    {
      fs: HOSTILE,
      used: 1,
      available: 1,
      used_percent: 50,
      stale: false,
      read_rate: 1,
      write_rate: 1,
    },
  ],
  gpu: {
    current_load: 1,
    devices: [{ name: HOSTILE, load: 1, temperature: 1, memory_used: 1, power_watts: 1 }],
  },
  network: {
    ...SAMPLE.network,
    interfaces: [{ name: HOSTILE, kind: HOSTILE, up: true, send_rate: 1, receive_rate: 1 }],
  },
  sensors: [{ label: HOSTILE, kind: 'temperature', value: 54, unit: HOSTILE }],
  batteries: [{ name: HOSTILE, percent: 5, state: HOSTILE }],
};
const media = {
  status: 'active',
  title: HOSTILE,
  artist: HOSTILE,
  playing: true,
  position: 1,
  duration: 2,
  rate: 1,
  player: HOSTILE,
};
const row = { ...rowOf(11, HOSTILE), user: HOSTILE, path: HOSTILE };

interface Refusals {
  /** Code of an operation's error. */
  readonly op?: string;
  /** HTTP status that refuses the upgrade. */
  readonly status?: number;
}

/** A server whose every text is hostile. */
async function startHostile(t: Test, { op: refusedOp, status }: Refusals = {}): Promise<string> {
  const body = JSON.stringify({
    error: HOSTILE.repeat(300),
    code: HOSTILE,
    details: { allowed: [HOSTILE] },
  });
  const server = net.createServer((socket) => {
    socket.on('error', () => socket.destroy());
    socket.once('data', (bytes: Buffer) => {
      if (status === undefined && /^upgrade: websocket/im.test(bytes.toString('latin1'))) {
        socket.unshift(bytes);
        upgrades.emit('connection', socket);
      } else
        socket.end(
          `HTTP/1.1 ${status ?? 500} evil reason\r\nContent-Type: application/json\r\n` +
            `Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
        );
    });
  });
  const upgrades = http.createServer();
  const sockets = new WebSocketServer({ server: upgrades });
  sockets.on('connection', (socket) => {
    const send = (type: string, id: unknown, data: object) => socket.send(JSON.stringify({ type, id, data }));
    const features = { enable_media: true, enable_processes: true, [HOSTILE]: true };
    send('connected', undefined, { version: HOSTILE, protocol: 2, features, message: HOSTILE });
    socket.on('message', (text) => {
      const { op, id, data } = JSON.parse(String(text)) as {
        op: string;
        id: unknown;
        data: { topics?: string[] };
      };
      const name = op === 'get' ? `get ${data.topics?.[0]}` : op;
      if (name === refusedOp || !['get stats', 'get media', 'process_list'].includes(name))
        send('error', id, { code: HOSTILE, message: HOSTILE.repeat(2000), details: HOSTILE });
      else if (name === 'get stats') send('system_stats', id, sample);
      else if (name === 'get media') send('media_update', id, media);
      else send('process_list', id, { total_count: 1, processes: [row] });
    });
  });
  t.teardown(() => sockets.clients.forEach((socket) => socket.terminate()));
  return `http://127.0.0.1:${await listen(t, server)}`;
}

t.test(
  '[9.untrusted-texts] hostwire top prints a hostile sample, and the reasons why there is none',
  async (t) => {
    for (const [refusals, code] of [
      [{}, 0],
      [{ op: 'get stats' }, 1],
      [{ status: 403 }, 1],
      [{ status: 500 }, 1],
    ] as const) {
      const url = await startHostile(t, refusals);
      for (const args of [['--once'], ['--json']]) {
        const { stdout, stderr, code: ended } = await runToEnd(['top', url, ...args]);
        const name = `${JSON.stringify(refusals)} ${args}`;
        t.equal(ended, code, name);
        t.match(code === 0 ? stdout : stderr, /evil/, name);
        t.notMatch(stdout, OBEYED, `${name}: standard output`);
        t.notMatch(stderr, OBEYED, `${name}: standard error`);
        t.ok(stderr.length < 1000, `${name}: ${stderr.length} characters`);
      }
    }
  },
);

t.test('[9.untrusted-texts] the screen of hostwire top has its own escape sequences only', async (t) => {
  const connected = {
    version: HOSTILE,
    protocol: 2,
    run: '1',
    clock: 0,
    features: { enable_media: true, enable_processes: true },
  };
  for (const changed of [
    {},
    { note: HOSTILE },
    { outage: { sinceMs: 0, reason: HOSTILE } },
    { ending: row },
    { isTyping: true },
  ]) {
    const view = viewOf({
      url: HOSTILE,
      connected,
      // A server sends what it likes.
      sample: sample as never,
      media: { status: media as never, atMs: 0 }, // As above.
      processes: { total: 1, rows: [row], listing: { sort: 'cpu', query: '', offset: 0 } },
      traces: FIRST_POINTS,
      listing: { sort: 'cpu', query: HOSTILE, offset: 0 },
      ...changed,
    });
    const { lines } = drawScreen(view, { columns: 150, rows: 50 }, false);
    const shown = lines.map((line) => paint(line, 'none', false)).join('\n');
    t.match(shown, /evil/);
    t.notMatch(shown, OBEYED, Object.keys(changed).join());
    const coloured = lines.map((line) => paint(line, 'colours', true)).join('\n');
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the sequences that `paint` writes
    t.notMatch(coloured.replaceAll(/\x1b\[[\d;]*[mG]/g, ''), OBEYED, Object.keys(changed).join());
  }
});

function checkError(t: Test, error: unknown): void {
  if (!(error instanceof ClientError)) {
    t.fail(`not an error of the client: ${String(error)}`);
    return;
  }
  t.match(error.message, /^evil/);
  t.ok(error.message.length <= 500, `${error.message.length} characters`);
  for (const text of [error.message, error.code, error.stack ?? '']) t.notMatch(text, OBEYED);
  t.match(error.code, /^\w{1,64}$/);
}

function thrownBy(act: () => void): unknown {
  try {
    act();
    return undefined;
  } catch (error) {
    return error;
  }
}

t.test('[9.untrusted-texts] errors of the client are clean, short, and of a code', async (t) => {
  const url = await startHostile(t, { status: 500 });
  checkError(t, await request('/api/usage', { url }).catch((error: unknown) => error));
  const stream = await new Promise((resolve) => {
    const lasting = streamStats({
      url,
      onSample: () => undefined,
      onState: (state) => {
        if (state.state !== 'waiting') return;
        lasting.close();
        resolve(state.error);
      },
    });
  });
  checkError(t, stream);
  // The parts of a socket that the client uses are those of the package ws.
  const { WebSocket } = (await import('ws')) as unknown as { readonly WebSocket: SocketConstructor };
  const socket = connect({ url: await startHostile(t, { op: 'get stats' }), WebSocket });
  t.teardown(() => socket.close());
  const events: unknown[] = [];
  socket.on('error', (event) => events.push(event));
  checkError(t, await socket.get(['stats']).catch((error: unknown) => error));
  checkError(t, await socket.subscribe(['media']).catch((error: unknown) => error));
  for (const data of [null, { code: 5, message: {} }, { code: { toString: 1 }, message: null }])
    t.throws(() => check({ type: 'error', data }), {
      name: 'ClientError',
      code: 'INTERNAL',
      message: 'no reason',
    });
  const feedback = { success: false, final: true, code: HOSTILE, message: HOSTILE };
  checkError(
    t,
    thrownBy(() => check({ type: 'power_feedback', data: feedback })),
  );
});

t.test(
  '[9.untrusted-texts] the name of the process that holds the port, at the start and in hostwire doctor',
  async (t) => {
    const { title } = process;
    t.teardown(() => {
      process.title = title;
    });
    // Linux keeps 15 bytes.
    process.title = 'ev\x1b[2J\u009bm\u202ex';
    const port = await listen(t, net.createServer());
    const problem = await findPortProblem('127.0.0.1', port);
    t.equal(problem?.reason, `already in use by process ${process.pid} (ev?[2J?m?x)`);
    const args = ['--host', '127.0.0.1', '--port', String(port)];
    for (const command of [[], ['doctor'], ['doctor', '--json']]) {
      const { stdout, stderr } = await runToEnd([...command, ...args]);
      t.match(command.length === 0 ? stderr : stdout, /\(ev\?\[2J\?m\?x\)/);
      t.notMatch(stdout, OBEYED);
      t.notMatch(stderr, OBEYED);
    }
  },
);

t.test('[9.untrusted-texts] a row of hostwire doctor is one line for each of its texts', async (t) => {
  const rows = [
    missing(HOSTILE, HOSTILE, { reason: HOSTILE, remedy: HOSTILE }),
    partly('x', HOSTILE, { reason: HOSTILE }),
  ];
  const text = printRows(rows.map((each) => ({ ...each, subject: 'row' })));
  t.notMatch(text, OBEYED);
  t.equal(text.split('\n').length, 6);
});
