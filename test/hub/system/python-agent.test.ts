/** docs/websocket.md is enough for an agent: one of 60 lines in another language is watched, commanded and goes. */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import t from 'tap';
import { payloadOf } from '../../helpers/clients/event-stream.ts';
import { ask, jsonOf, valuesOf } from '../../helpers/clients/http.ts';
import { until } from '../../helpers/until.ts';
import { dialled, KEY } from '../dial-in/setup.ts';
import { isDown, isUp, startHub } from '../setup.ts';

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
