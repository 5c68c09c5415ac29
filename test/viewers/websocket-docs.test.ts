/** docs/websocket.md is complete: every op, event, code and topic, and a session that runs as written. */
import '../helpers/service/dead-buses.ts';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { CLOSE_CODES } from '#src/http/engine.js';
import { REQUESTS } from '#src/machine/requests.js';
import { TOPIC_NAMES } from '#src/viewers/socket/topics.js';
import { OPS } from '#src/wire/socket.js';
import { EVENTS, errorCode, feedbackCode } from '#src/wire/socket-events.js';
import { SocketClient } from '../helpers/clients/socket.ts';
import { fixtureHost } from '../helpers/fakes/host.ts';
import { serveHere } from '../helpers/service/service.ts';

const page = readFileSync(path.resolve(import.meta.dirname, '../../../../docs/websocket.md'), 'utf8');

/** The words in backticks in the first column of the table whose head begins with `head`. */
function firstColumn(head: string): readonly string[] {
  const lines = page.split('\n');
  const from = lines.findIndex((line) => line.startsWith(`| ${head} |`));
  const rows = lines.slice(from + 2);
  const end = rows.findIndex((line) => !line.startsWith('|'));
  return rows
    .slice(0, end)
    .flatMap((row) => [...(row.split('|')[1] ?? '').matchAll(/`([^`]+)`/g)].map(([, word = '']) => word));
}

t.test('the tables name every item, and nothing else', async (t) => {
  t.strictSame(firstColumn('op').toSorted(), Object.keys(OPS).sort());
  t.strictSame(firstColumn('type').toSorted(), Object.keys(EVENTS).sort());
  t.strictSame(firstColumn('code of feedback').toSorted(), [...feedbackCode.options].sort());
  t.strictSame(firstColumn('code of `error`').toSorted(), [...errorCode.options].sort());
  const actions = /^media\.(?!play$)/;
  t.strictSame(
    firstColumn('name').toSorted(),
    [...REQUESTS.keys()].filter((name) => !actions.test(name)).sort(),
  );
  const topics = firstColumn('topic');
  for (const name of [...TOPIC_NAMES, 'events']) t.ok(topics.includes(name), name);
  for (const code of Object.values(CLOSE_CODES)) t.match(page, String(code));
});

const session = [...(/```session\n([\s\S]*?)```/.exec(page)?.[1] ?? '').matchAll(/^([<>]) (.*)$/gm)];

/** A pattern for a line of the page: `…` stands for anything, a number for any number. */
function patternOf(line: string): RegExp {
  const escaped = line.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
  const open = escaped.replaceAll('\\{…\\}', '\\{.*\\}').replaceAll('…', '.*');
  return new RegExp(`^${open.replaceAll(/:\d{4,}/g, ':\\d+')}$`);
}

t.test('the session runs as written', async (t) => {
  const service = await serveHere(t, fixtureHost(), { stats: { stream_interval_seconds: 1 } });
  const client = await SocketClient.openIn(t, service.port);
  t.ok(session.length > 10);
  for (const [, direction, line = ''] of session) {
    if (direction === '>') {
      client.sayText(line);
      continue;
    }
    const pattern = patternOf(line);
    const told = await client.take(({ text }) => pattern.test(text));
    t.match(told.text, pattern);
  }
});
