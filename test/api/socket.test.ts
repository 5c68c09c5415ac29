/** Messages generated from the schemas are understood or refused as they say; all that comes back is as they say. */
import path from 'node:path';
import t from 'tap';
import * as v from 'valibot';
import { schemaWriter } from '#src/api/schemas.js';
import { DEFAULT_CONFIG } from '#src/config/config.js';
import { mediaCommand } from '#src/wire/media.js';
import { OPS } from '#src/wire/socket.js';
import { EVENTS } from '#src/wire/socket-events.js';
import { flawOf } from '../helpers/clients/message-flaw.ts';
import { SocketClient } from '../helpers/clients/socket.ts';
import { serveProgram } from '../helpers/service/service.ts';
import { makeProgram } from './children.ts';
import { bodyRequests, type Known } from './generated-requests.ts';
import type { Part } from './openapi.ts';

const writer = schemaWriter();

/** Returns JSON Schema without a reference at its top. */
function written(schema: v.GenericSchema): Part {
  const { $ref, ...own } = writer.write(schema);
  return typeof $ref === 'string' ? (writer.used()[$ref.split('/').at(-1) ?? ''] as Part) : own;
}

/** In place of those of the ops. */
const SCHEMAS: Readonly<Record<string, v.GenericSchema>> = {
  // The one schema that reads all media commands does not show which of them need a value.
  media: mediaCommand,
  // Each request judges its parameters itself.
  request: v.omit(OPS.request, ['params']),
};

const { program, startChild } = makeProgram(t, 'ws');

const flags = Object.fromEntries(Object.keys(DEFAULT_CONFIG.features).map((flag) => [flag, true]));
const launch = {
  api: { command: program, args: ['0.1'], env: {}, allow_args: true },
};

t.test('[7.documented] every op, sound and not; every event is as its schema says', async (t) => {
  const service = await serveProgram(t, {
    config: { features: flags, processes: { launch }, history: { minutes: 60 } },
  });
  const opened: SocketClient[] = [];
  const open = async () => {
    const client = await SocketClient.open(service.port);
    opened.push(client);
    return client;
  };
  let sent = 0;
  for (const [op, data] of Object.entries(OPS)) {
    const known: Known = {
      topics: ['stats.cpu', 'media'],
      pid: await startChild(),
      name: op === 'request' ? 'system' : path.basename(program),
      app: 'api',
      // Not before `since`, which no schema can say.
      until: -1,
    };
    let client = await open();
    const cases = bodyRequests(written(SCHEMAS[op] ?? data), known);
    const bare = v.is(data, {}) ? [{ what: 'without data', body: undefined, wrong: undefined }] : [];
    for (const [i, { what, body, wrong }] of [...cases, ...bare].entries()) {
      // A burst of 40 messages is accepted, then 20 per second.
      if (i % 30 === 29) client = await open();
      const id = i % 2 === 0 ? i : `message ${i}`;
      if (op === 'process_kill' && wrong === undefined && 'pid' in Object(body))
        Object.assign(Object(body), { pid: await startChild() });
      client.sayText(JSON.stringify({ op, id, data: body }));
      sent++;
      const answer = await client.take((told) => told.id === id);
      const isRefused = answer.type === 'error' && answer.data['code'] === 'INVALID_DATA';
      t.equal(isRefused, wrong !== undefined, `${op} ${what}: ${answer.text.slice(0, 200)}`);
    }
  }
  const last = await open();
  last.say('subscribe', { topics: ['stats', 'media', 'processes', 'power'], detail: true });
  for (const type of ['system_stats', 'media_update', 'process_list', 'power_update']) await last.take(type);
  last.say('get', { topics: ['system'] });
  await last.take('system');
  last.say('power', { action: 'cancel' });
  await last.take('power_feedback');
  last.say('request', { name: 'media.pause', steps: true });
  await last.take('step');
  await last.take('answer');
  const closing = last.take('closing');
  await service.stop();
  await closing;
  const told = opened.flatMap((client) => client.told);
  t.strictSame(
    told.flatMap((each) => flawOf(each) ?? []),
    [],
  );
  const seen = new Set(told.map(({ type }) => type));
  // Nothing here makes a watch rule fire or plays a track: contract/socket-history and socket-terms have them.
  const expected = Object.keys(EVENTS).filter((type) => type !== 'event' && type !== 'art');
  t.strictSame([...seen].sort(), expected.sort(), 'every other event came');
  t.comment(`figure: ${sent} generated messages, ${seen.size} events`);
});
