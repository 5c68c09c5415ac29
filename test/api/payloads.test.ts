/** Every payload is what its schema describes, and the schemas let nothing else through: no key more, none less. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { pathToFileURL } from 'node:url';
import t, { type Test } from 'tap';
import * as v from 'valibot';
import { COMPONENTS } from '#src/api/schemas.js';
import { EventStream, payloadOf } from '../helpers/clients/event-stream.ts';
import { ask, jsonOf } from '../helpers/clients/http.ts';
import { fixtureHost } from '../helpers/fakes/host.ts';
import { FakeMediaHost, playerOf, snapshotOf } from '../helpers/fakes/media.ts';
import { emptyFolder } from '../helpers/scope.ts';
import { serveHere, serveProgram } from '../helpers/service/service.ts';
import { checkMachine, type Name, openapi, TARGETS } from './machine-payloads.ts';

/** Copies of `value`, each with one key more in one of its objects. */
function* withKeysMore(value: unknown): Generator<unknown> {
  if (typeof value !== 'object' || value === null) return;
  if (Array.isArray(value)) {
    // One of them stands for all.
    for (const changed of withKeysMore(value[0])) yield [changed, ...value.slice(1)];
    return;
  }
  yield { ...value, unheard_of: 1 };
  for (const [key, part] of Object.entries(value))
    for (const changed of withKeysMore(part)) yield { ...value, [key]: changed };
}

function checkPayload(t: Test, name: Name, value: unknown, what: string): void {
  t.equal(openapi.judgeNamed(name, value), undefined, `${what} is a ${name}`);
  t.ok(v.is(COMPONENTS[name], value), `${what} is one for valibot too`);
  for (const changed of withKeysMore(value))
    if (openapi.judgeNamed(name, changed) === undefined) t.fail(`${what}: ${JSON.stringify(changed)} passes`);
}

async function checkEverything(t: Test, port: number, what: string): Promise<void> {
  for (const [target, name] of TARGETS) {
    const answer = await ask(port, target);
    t.equal(answer.status, 200);
    checkPayload(t, name, jsonOf(answer), `${what}: ${target}`);
  }
  for (const [target, name] of [
    ['/api/stream', 'Usage'],
    ['/api/stream?detail=1', 'UsageDetail'],
  ] as const) {
    const stream = await EventStream.open(port, target);
    checkPayload(t, name, payloadOf(await stream.next()), `${what}: ${target}`);
    stream.close();
  }
}

t.test('[3.schemas] this machine, through the program', async (t) => {
  const service = await serveProgram(t, { config: { features: { enable_process_control: true } } });
  await checkEverything(t, service.port, 'this machine');
  const { pid } = process;
  for (const [target, name] of [
    ['/api/processes', 'ProcessList'],
    ['/api/processes?grouped=0&limit=20', 'ProcessList'],
    [`/api/processes/${pid}`, 'ProcessDetails'],
  ] as const)
    checkPayload(t, name, jsonOf(await ask(service.port, target)), target);
  // Again: by now shares of the processor are known.
  checkPayload(t, 'UsageDetail', jsonOf(await ask(service.port, '/api/usage?detail=1')), 'the second time');
  const post = (target: string) => ask(service.port, target, { method: 'POST' });
  checkPayload(t, 'PowerResult', jsonOf(await post('/api/pw/sleep?delay=60')), 'an action');
  checkPayload(t, 'Power', jsonOf(await ask(service.port, '/api/pw')), 'something pending');
  checkPayload(t, 'PowerResult', jsonOf(await post('/api/pw/cancel')), 'cancel');
});

t.test('[3.schemas] a machine that has everything, and a player that plays', async (t) => {
  const folder = emptyFolder(t, 'art');
  const picture = path.join(folder, 'cover');
  writeFileSync(picture, Buffer.from('R0lGODlhAQABAAAAACw=', 'base64'));
  const artUrl = pathToFileURL(picture).href;
  const media = new FakeMediaHost();
  media.snapshot = snapshotOf(
    playerOf('mpv', { title: 'Größe', artists: ['Ärzte'], playback: 'playing', volume: 1.5, artUrl }),
    playerOf('vlc', { playback: 'paused' }),
  );
  const service = await serveHere(t, { ...fixtureHost(), media });
  await checkEverything(t, service.port, 'fixture');
  for (const operation of openapi.operations.filter(({ tags }) => tags.includes('media'))) {
    const { method, path: target } = operation;
    const body = { action: 'set_volume', value: 50, player: 'vlc' };
    const answer = await ask(service.port, target, {
      method,
      ...(method === 'POST' ? { body: JSON.stringify(body) } : {}),
    });
    t.equal(answer.status, 200, target);
    openapi.checkAnswer(t, operation, target, answer);
  }
});

/** The machines that differ most in their parts and in the values that cannot be read. */
const MACHINES = [
  'broken-sensors',
  'laptop-two-batteries',
  'no-swap-minimal',
  'odd-mounts',
  'raspberry',
  'wsl',
];

t.test('[3.schemas] machines that were captured', async (t) => {
  for (const name of MACHINES) await checkMachine(t, name);
});
