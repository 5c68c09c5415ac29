/** `hostwire top` without a terminal. */

import { X509Certificate } from 'node:crypto';
import http from 'node:http';
import os from 'node:os';
import t, { type Test } from 'tap';
import { pinOf } from '#src/tls/certificate.js';
import { ask, jsonOf } from '../../helpers/clients/http.ts';
import { listen } from '../../helpers/clients/listen.ts';
import { FakeHistory } from '../../helpers/fakes/history.ts';
import { startSecure } from '../../helpers/service/secure.ts';
import { type ConfigPart, runToEnd, serveProgram } from '../../helpers/service/service.ts';
import { allFlags, startCommanded } from '../../hub/commanded.ts';
import { isUp, startHub } from '../../hub/setup.ts';
import { judgeScreen } from './judge.ts';
import { startLively } from './lively.ts';

const KEY = 'k'.repeat(40);

const startReal = (t: Test, config: ConfigPart = {}) =>
  serveProgram(t, { config: { stats: { stream_interval_seconds: 1 }, ...config } });

t.test('[9.top-once] --once prints one screen, --json the sample, without escapes', async (t) => {
  const { baseUrl, port } = await startReal(t);
  const env = { COLUMNS: '100', LINES: '30', TERM: 'xterm-256color', LC_ALL: 'C.UTF-8' };
  const once = await runToEnd(['top', '--once', baseUrl], {}, [], env);
  t.same([once.code, once.stderr], [0, '']);
  t.notMatch(once.stdout.replaceAll('\n', ''), /\p{C}/u, 'no escapes, no control characters');
  judgeScreen(t, [...once.stdout.split('\n').slice(0, -1), 'q quit  k end process'], {
    columns: 100,
    rows: 30,
  });
  const piped = await runToEnd(['top', baseUrl], {}, [], { ...env, COLUMNS: '', LINES: '' });
  t.equal(piped.stdout.split('\n').length, 24, 'a pipe gets one screen too, of 80x24 without the keys');
  const json = await runToEnd(['top', '--json', baseUrl]);
  t.equal(json.code, 0);
  const sample = JSON.parse(json.stdout) as Record<string, unknown>;
  const usage = jsonOf(await ask(port, '/api/usage?detail=1')) as object;
  t.same(Object.keys(sample).sort(), Object.keys(usage).sort(), 'as /api/usage?detail=1');
});

t.test('[9.top-history] the charts are full immediately if the service has a history', async (t) => {
  const history = new FakeHistory();
  history.now = () => Date.now() / 1000;
  history.valueAt = () => 50;
  const { baseUrl } = await startLively(t, {}, 'a title', history);
  const env = { COLUMNS: '100', LINES: '60', LC_ALL: 'C.UTF-8' };
  const chartIn = async () => {
    const { stdout, code } = await runToEnd(['top', '--once', baseUrl], {}, [], env);
    t.equal(code, 0);
    const from = stdout.indexOf('\nMemory ');
    return stdout.slice(from, stdout.indexOf('\nNetwork ')).match(/[\u2801-\u28ff]/g)?.length ?? 0;
  };
  // 49 characters wide; of the four rows, two are filled.
  const full = await chartIn();
  t.ok(full >= 96, `${full} characters`);
  history.isOn = false;
  const empty = await chartIn();
  t.ok(empty > 0 && empty <= 4, `${empty} characters without a history`);
});

t.test('[9.top-untrusted] neither --json nor --once prints escapes of others', async (t) => {
  const { baseUrl } = await startLively(t);
  const json = await runToEnd(['top', '--json', baseUrl]);
  t.equal(json.code, 0);
  const screen = await runToEnd(['top', '--once', baseUrl]);
  t.match(screen.stdout, /playing 日本語/);
  for (const { stdout } of [json, screen]) t.notMatch(stdout.replaceAll('\n', ''), /\p{C}/u);
});

t.test('[9.top-refused] an error is a sentence and exit code 1', async (t) => {
  const { baseUrl, stop } = await startReal(t, { auth: { enabled: true, api_key: KEY } });
  const run = async (env: Record<string, string>, ...args: readonly string[]) => {
    const { code, stdout, stderr } = await runToEnd(['top', '--once', ...args], {}, [], env);
    return [code, stdout === '', stderr.replaceAll(baseUrl, 'URL')];
  };
  const [code, isSilent, text] = await run({ HOSTWIRE_KEY: 'wrong' }, baseUrl);
  t.same([code, isSilent], [1, true]);
  t.match(text, /^hostwire: URL: .*key.*\n$/);
  t.match((await run({}, baseUrl))[2], /^hostwire: URL: .*key.*\n$/);
  t.equal((await run({ HOSTWIRE_KEY: KEY }, baseUrl))[0], 0, 'the environment has the key');
  await stop();
  t.match(
    (await run({}, baseUrl))[2],
    /^hostwire: URL: the service cannot be reached: connection refused\n$/,
  );
});

t.test('[9.top-refused] another server, and features that are off', async (t) => {
  const port = await listen(
    t,
    http.createServer((_request, response) => response.end('hello')),
  );
  const refused = await runToEnd(['top', '--once', `http://127.0.0.1:${port}`]);
  t.equal(refused.code, 1);
  t.match(refused.stderr, /^hostwire: http:\/\/127\.0\.0\.1:\d+: .+\n$/);
  const { baseUrl } = await startReal(t, { features: { enable_media: false, enable_processes: false } });
  const { stdout } = await runToEnd(['top', '--once', baseUrl]);
  t.match(stdout, /^Media +disabled in the service$/m);
  t.match(stdout, /^Processes {2}disabled in the service$/m);
});

t.test('[9.top-target] a self-signed certificate is accepted by its pin only', async (t) => {
  const { baseUrl, pair } = await startSecure(t, {}, false);
  const pin = pinOf(new X509Certificate(pair.cert));
  const pinned = await runToEnd(['top', '--once', '--pin', pin, baseUrl]);
  t.same([pinned.code, pinned.stderr], [0, '']);
  const refused = async (...args: readonly string[]) => {
    const { code, stdout, stderr } = await runToEnd(['top', '--once', ...args, baseUrl]);
    t.same([code, stdout], [1, '']);
    return stderr;
  };
  t.match(await refused('--pin', `sha256/${'A'.repeat(43)}=`), /the server's key has the pin/);
  t.equal(
    await refused(),
    `hostwire: ${baseUrl}: the service's certificate is not trusted: self-signed certificate. Compare with the pin that "hostwire doctor" prints on that machine; if it is the following, use --pin ${pin}\n`,
  );
});

t.test('[9.top-refused] the message says which part of an address is wrong', async (t) => {
  const { port, securePort, pair } = await startSecure(t);
  const pin = pinOf(new X509Certificate(pair.cert));
  const textOf = async (...words: readonly string[]) => (await runToEnd(['top', '--once', ...words])).stderr;
  t.match(
    await textOf(`http://127.0.0.1:${securePort}`),
    /: This port speaks HTTPS: the address must begin with https:\/\/\.\n$/,
  );
  const plain = /: the service cannot be reached: that port does not speak TLS; it may be plain HTTP\n$/;
  t.match(await textOf(`https://127.0.0.1:${port}`), plain);
  t.match(await textOf('--pin', pin, `https://127.0.0.1:${port}`), plain);
});

t.test('[9.top-hub] a hub: the list of its machines, and one of them', async (t) => {
  const agent = await startCommanded(t);
  const agents = { pc: { url: agent.service.baseUrl }, gone: { url: 'http://127.0.0.1:1' } };
  const hub = await startHub(t, agents);
  await hub.host('pc', isUp);
  const url = `http://127.0.0.1:${hub.port}`;
  const env = { COLUMNS: '100', LINES: '30', LC_ALL: 'C.UTF-8' };
  const run = (...words: readonly string[]) => runToEnd(['top', ...words], {}, [], env);
  const list = await run(url);
  t.same([list.code, list.stderr], [0, '']);
  t.match(list.stdout, /^Machines {2}1 of 2 up {2}http/);
  t.match(list.stdout, /^gone +unknown +\S.* +- +- +- +- +gone +.+$/m);
  t.match(list.stdout, new RegExp(`^pc +up +\\d+ % +\\d+ % .+ ${os.hostname().slice(0, 10)}`, 'm'));
  const { hosts } = JSON.parse((await run('--json', url)).stdout) as { hosts: { id: string }[] };
  t.same(
    hosts.map(({ id }) => id),
    ['gone', 'pc'],
  );
  const one = await run(url, 'pc');
  t.same([one.code, one.stderr], [0, '']);
  t.match(one.stdout, new RegExp(`^\\S+ +up .*${url}  pc`));
  t.match(one.stdout, /\n +PID USER +CPU +MEMORY NAME/, 'the list of processes is asked for');
  t.match(one.stdout, /^Media +paused {2}A/m);
  agent.configure(allFlags(false));
  const off = await run(url, 'pc');
  t.match(off.stdout, /^Media +disabled in the service$/m, 'the machine says what is off');
  t.match(off.stdout, /^Processes {2}disabled in the service$/m);
  const down = await run(url, 'gone');
  t.same([down.code, down.stdout], [1, '']);
  t.match(down.stderr, /The machine cannot be reached/);
  t.match((await run(url, 'nobody')).stderr, /^hostwire: http.+: .+\n$/);
});
