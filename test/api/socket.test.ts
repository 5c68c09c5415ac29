/** Messages generated from the AsyncAPI document are understood or refused as it says; all that comes back is in it. */
import { spawn } from 'node:child_process';
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { Ajv, type ValidateFunction } from 'ajv';
import t, { type Test } from 'tap';
import WebSocket from 'ws';
import { asyncapiDocument } from '#src/api/asyncapi.js';
import { DEFAULT_CONFIG } from '#src/config/config.js';
import { PATIENCE_MS } from '../helpers/limits.ts';
import { startService } from '../helpers/service/service.ts';
import { bodyRequests, type Known } from './generated-requests.ts';
import type { Part } from './openapi.ts';

// Written by ourselves: its shape is held by the official schema in documents.test.ts.
const document = asyncapiDocument('0') as {
  readonly components: { readonly messages: Record<string, { payload: Part }>; readonly schemas: Part };
};
const { messages, schemas } = document.components;
const events = Object.keys(messages).filter((name) => name !== 'sample' && !name.startsWith('op_'));
const ops = Object.keys(messages).flatMap((name) => (name.startsWith('op_') ? [name.slice(3)] : []));

const ajv = new Ajv({ strict: false });
ajv.addSchema(document, 'asyncapi.json');
const validators = new Map<string, ValidateFunction>(
  events.map((name) => [name, ajv.compile({ $ref: `asyncapi.json#/components/messages/${name}/payload` })]),
);

interface Message {
  readonly type: string;
  readonly id?: string | number;
  readonly data: Part;
}

/** A client that holds everything it is sent against the document. */
class CheckedSocket {
  readonly #t: Test;
  readonly #socket: WebSocket;
  readonly received: Message[] = [];
  #wake: () => void = () => {};

  private constructor(t: Test, socket: WebSocket) {
    this.#t = t;
    this.#socket = socket;
    socket.on('message', (bytes: Buffer) => this.#onMessage(bytes.toString()));
    socket.on('close', () => this.#wake());
  }

  static async open(t: Test, port: number): Promise<CheckedSocket> {
    const socket = new WebSocket(`ws://127.0.0.1:${port}/api/ws`);
    const checked = new CheckedSocket(t, socket);
    await new Promise<void>((resolve, reject) => socket.once('open', resolve).once('error', reject));
    return checked;
  }

  #onMessage(text: string): void {
    // The next line says whether it is one.
    const message = JSON.parse(text) as Message;
    const validate = validators.get(message.type);
    if (validate === undefined) this.#t.fail(`${message.type} is not documented`);
    else if (!validate(message)) this.#t.fail(`${text.slice(0, 500)}: ${ajv.errorsText(validate.errors)}`);
    this.received.push(message);
    this.#wake();
  }

  send(message: object): void {
    this.#socket.send(JSON.stringify(message));
  }

  async until(
    what: string,
    isWanted: (message: Message) => boolean,
    limitMs = PATIENCE_MS,
  ): Promise<Message> {
    const deadline = performance.now() + limitMs;
    for (;;) {
      const found = this.received.find(isWanted);
      if (found !== undefined) return found;
      const left = deadline - performance.now();
      if (left <= 0 || this.#socket.readyState === WebSocket.CLOSED) throw new Error(`no ${what}`);
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, left);
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  }

  close(): void {
    this.#socket.close();
  }
}

const folder = mkdtempSync(path.join(tmpdir(), 'hostwire-asyncapi-'));
const program = path.join(folder, `hw ws ${process.pid}`);
copyFileSync('/bin/sleep', program);
const children: ReturnType<typeof spawn>[] = [];
t.teardown(() => {
  for (const child of children) child.kill('SIGKILL');
  rmSync(folder, { recursive: true });
});

async function startChild(): Promise<number> {
  const child = spawn(program, ['120'], { stdio: 'ignore' });
  children.push(child);
  await new Promise((resolve) => child.once('spawn', resolve));
  return child.pid ?? 0;
}

/** A schema without the references in its first two levels. */
const resolved = (schema: Part): Part => {
  const { $ref } = schema;
  return typeof $ref === 'string' ? (schemas[$ref.split('/').at(-1) ?? ''] as Part) : schema;
};

const flags = Object.fromEntries(Object.keys(DEFAULT_CONFIG.features).map((flag) => [flag, true]));
const launch = {
  api: { command: program, args: ['0.1'], env: {}, allow_args: true },
};

t.test('[7.documented] every op, sound and not; every event is as documented', async (t) => {
  const service = await startService({
    config: { features: flags, processes: { launch }, history: { minutes: 60 } },
  });
  t.teardown(() => service.stop());
  const seen = new Set<string>();
  let sent = 0;
  for (const op of ops) {
    const known: Known = {
      topics: ['stats.cpu', 'media'],
      pid: await startChild(),
      name: path.basename(program),
      app: 'api',
      // Not before `since`, which no schema can say.
      until: -1,
    };
    const payload = messages[`op_${op}`]?.payload ?? {};
    const { data, op: word } = payload['properties'] as { readonly data: Part; readonly op: Part };
    t.strictSame(word, { type: 'string', const: op });
    let socket = await CheckedSocket.open(t, service.port);
    const opened = [socket];
    const cases = bodyRequests(resolved(data), known);
    const bare = (payload['required'] as readonly string[]).includes('data') ? [] : [{ op }];
    for (const [i, request] of [...cases, ...bare].entries()) {
      // A burst of 40 messages is accepted, then 20 per second.
      if (i % 30 === 29) {
        socket = await CheckedSocket.open(t, service.port);
        opened.push(socket);
      }
      const id = i % 2 === 0 ? i : `message ${i}`;
      const isCase = 'what' in request;
      if (isCase && op === 'process_kill' && request.wrong === undefined && 'pid' in Object(request.body))
        Object.assign(Object(request.body), { pid: await startChild() });
      socket.send(isCase ? { op, id, data: request.body } : { op, id });
      sent++;
      const answer = await socket.until(`${op} ${id}`, (message) => message.id === id);
      const what = isCase ? `${op} ${request.what}` : `${op} without data`;
      const isRefused = answer.type === 'error' && answer.data['code'] === 'INVALID_DATA';
      t.equal(
        isRefused,
        isCase && request.wrong !== undefined,
        `${what}: ${JSON.stringify(answer).slice(0, 200)}`,
      );
    }
    for (const each of opened) {
      for (const { type } of each.received) seen.add(type);
      each.close();
    }
  }
  const last = await CheckedSocket.open(t, service.port);
  last.send({ op: 'subscribe', data: { topics: ['stats', 'media', 'processes', 'power'], detail: true } });
  for (const type of ['system_stats', 'media_update', 'process_list', 'power_update'])
    await last.until(type, (message) => message.type === type);
  last.send({ op: 'power', data: { action: 'cancel' } });
  await last.until('feedback', (message) => message.type === 'power_feedback');
  const closing = last.until('closing', (message) => message.type === 'closing');
  await service.stop();
  await closing;
  for (const { type } of last.received) seen.add(type);
  // Nothing here makes a watch rule fire: contract/socket-history has it.
  const expected = events.filter((type) => type !== 'event');
  t.strictSame([...seen].sort(), [...expected].sort(), 'every other documented event came');
  t.comment(`figure: ${sent} generated messages, ${ops.length} ops, ${seen.size} events`);
});
