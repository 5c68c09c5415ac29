/** The pages of hubs are enough: the steps of docs/hub.md, and an agent of 60 lines of Python by docs/websocket.md. */
import '../../helpers/service/dead-buses.ts';
import { spawn } from 'node:child_process';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import t from 'tap';
import type { HostList } from '#src/wire/hub.js';
import { NO_BROKER, NO_NATS } from '../../exporters/mqtt/broker.ts';
import { payloadOf } from '../../helpers/clients/event-stream.ts';
import { ask, jsonOf, valuesOf } from '../../helpers/clients/http.ts';
import { checkTime } from '../../helpers/limits.ts';
import { emptyFolder } from '../../helpers/scope.ts';
import { findFreePort } from '../../helpers/service/free-port.ts';
import { until } from '../../helpers/until.ts';
import { dialled, KEY } from '../dial-in/setup.ts';
import { isDown, isUp, startHub } from '../setup.ts';

const ROOT = path.resolve(import.meta.dirname, '../../../../..');
const MAX_STEPS = 20;
const MAX_MS = 30_000;
const WATCHING = 'hostwire top';

t.setTimeout(280_000);

/** The lines after the prompt, each with those of its here-document. */
function stepsOf(page: string): readonly string[] {
  const block = /^## First use\n[\s\S]*?^```\n([\s\S]*?)^```$/m.exec(page)?.[1] ?? '';
  return block.split(/^\$ /m).slice(1);
}

t.test('[I.hub.first-use] six machines in twenty steps', { skip: NO_BROKER || NO_NATS }, async (t) => {
  const steps = stepsOf(readFileSync(path.join(ROOT, 'docs/hub.md'), 'utf8'));
  t.ok(steps.length > 10 && steps.length <= MAX_STEPS, `${steps.length} steps`);
  t.match(steps.at(-1), WATCHING, 'the last one shows them, until it is ended');
  let script = steps.slice(0, -1).join('');
  const ports = new Map<string, number>();
  for (const [port] of script.matchAll(/\b(?:99\d\d|1883|1884|4222)\b/g))
    if (!ports.has(port)) ports.set(port, await findFreePort());
  script = script.replaceAll(/\b(?:99\d\d|1883|1884|4222)\b/g, (port) => String(ports.get(port)));

  const folder = emptyFolder(t, 'first-use');
  const program = path.join(folder, 'hostwire');
  writeFileSync(program, `#!/bin/sh\nexec '${process.execPath}' '${path.join(ROOT, 'dist/main.js')}' "$@"\n`);
  chmodSync(program, 0o755);
  const env = {
    ...process.env,
    PATH: `${folder}:/usr/sbin:/usr/bin:/bin`,
    HOME: folder,
    HOSTWIRE_POWER_BACKEND: 'record',
  };
  const begunAtMs = performance.now();
  // A group of its own, which ends with the test.
  const shell = spawn('/bin/bash', ['-e', '-c', `${script}wait`], { cwd: folder, env, detached: true });
  t.teardown(() => process.kill(-(shell.pid ?? 0), 'SIGKILL'));
  let said = '';
  for (const stream of [shell.stdout, shell.stderr])
    stream.on('data', (text) => {
      said += text;
    });
  const rows = async () => {
    const answer = await ask(ports.get('9980') ?? 0, '/api/hosts').catch(() => undefined);
    return answer === undefined ? [] : (jsonOf(answer) as HostList).hosts;
  };
  const isUp = async () => (await rows()).filter(({ state }) => state === 'up').length === 6;
  await until(isUp).catch(() => t.fail(said));
  const tookMs = performance.now() - begunAtMs;
  t.same(
    (await rows()).map(({ id }) => id),
    ['attic', 'desk', 'nas', 'office', 'pc', 'tv'],
  );
  checkTime(t, tookMs, MAX_MS, 'from the first step until all are up');
  t.comment(`figure: ${steps.length} steps, six machines up after ${(tookMs / 1000).toFixed(1)} s`);
});

const FILE = path.resolve(import.meta.dirname, '../../../../../test/hub/system/python-agent.py');

t.test('[I.hub.dial] an agent in 60 lines of Python', async (t) => {
  t.ok(readFileSync(FILE, 'utf8').trimEnd().split('\n').length <= 60, 'it is short');
  const commands = { all: { commands: ['*'], labels: {} } };
  const hub = await startHub(t, { pc: dialled() }, { hub: { commands } });
  const agent = spawn('python3', [FILE, String(hub.port), 'pc'], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, KEY },
  });
  t.teardown(() => agent.kill('SIGKILL'));
  t.match(await hub.host('pc', isUp), { name: 'python', version: '0.1' });
  const stream = await hub.open('/api/hosts/pc/stream?fields=cpu');
  for (let events = 0; events < 2; events++) {
    const sample = payloadOf(await stream.next());
    t.strictSame(Object.keys(sample), ['timestamp', 'uptime', 'cpu']);
  }
  const control = async (action: string) =>
    await ask(hub.port, '/api/hosts/pc/media/control', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ action }),
    });
  let heard = '';
  agent.stdout.setEncoding('utf8').on('data', (text) => {
    heard += text;
  });
  const played = await control('play');
  t.strictSame([played.status, valuesOf(played, 'x-media-delivered')], [200, ['true']]);
  await until(() => heard === 'played\n');
  t.match(jsonOf(await control('pause')), { code: 'not_supported' });
  agent.kill('SIGKILL');
  await hub.host('pc', isDown);
  t.notOk(stream.isEnded, 'its viewer waits for the next one');
});
