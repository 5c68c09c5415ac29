/**
 * The container image: built from the Dockerfile, run as the services of compose.yaml and with nothing of the host.
 * HOSTWIRE_FULL=1 also compiles the addon in the image, which takes minutes.
 */
import '../../helpers/service/dead-buses.ts';
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { EventStream, payloadOf } from '../../helpers/clients/event-stream.ts';
import { ask, jsonOf } from '../../helpers/clients/http.ts';
import { checkTime, PATIENCE_MS } from '../../helpers/limits.ts';
import { findFreePort } from '../../helpers/service/free-port.ts';
import { until } from '../../helpers/until.ts';
import { type ComposeService, readService } from '../container/compose.ts';
import { type BuiltImage, buildImage, whyNoImage } from '../container/image.ts';
import { type Running, runImage } from '../container/run.ts';

t.setTimeout(3_500_000);

const isFull = process.env['HOSTWIRE_FULL'] === '1';
const skip = whyNoImage() ?? false;

/** Nothing of a test reaches this machine's own configuration or buses. */
const NOT_HERE = {
  configuration: undefined,
  '/run/dbus/system_bus_socket': undefined,
  '/run/user/1000/bus': undefined,
};

/** A service that answers on `port`; ends with the test. */
async function start(
  t: Test,
  image: BuiltImage,
  service: ComposeService,
  variables: Readonly<Record<string, string>>,
  sources: Readonly<Record<string, string>> = {},
): Promise<Running> {
  const here = { HOSTWIRE_SERVER_HOST: '127.0.0.1', HOSTWIRE_POWER_BACKEND: 'record', ...variables };
  const running = await runImage(image, service, here, { ...NOT_HERE, ...sources });
  t.teardown(() => running.stop());
  for (const end = Date.now() + PATIENCE_MS; !running.log().includes('listening on'); await sleep(20))
    if (Date.now() > end || running.child.exitCode !== null)
      throw new Error(`it does not start: ${running.log()}`);
  return running;
}

const get = async (port: number, target: string) => jsonOf(await ask(port, target));
const doctor = (image: BuiltImage, running: Running) => {
  const { stdout, stderr } = running.exec([...image.command, 'doctor', '--json']);
  if (stdout === '') throw new Error(stderr);
  const rows = JSON.parse(stdout) as readonly Readonly<Record<string, string>>[];
  return (subject: string) => rows.find((row) => row['subject'] === subject);
};

t.test('the container image', { skip }, async (t) => {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'hostwire-image-'));
  let image: BuiltImage | undefined;
  t.teardown(() => {
    image?.remove();
    rmSync(folder, { recursive: true, force: true });
  });
  const startedAt = Date.now();
  image = buildImage(folder, isFull);
  const built = image;
  const { base, program, compressed } = built.sizes;
  const mb = (bytes: number) => `${(bytes / 1e6).toFixed(0)} MB`;
  t.comment(`built in ${Math.round((Date.now() - startedAt) / 1000)} s`);
  t.comment(`figure: ${mb(program)} over a base of ${mb(base)}; ${mb(compressed)} compressed with gzip`);
  t.ok(program < 130e6, 'at most 130 MB over the base');
  t.ok(compressed < 70e6, 'at most 70 MB to download with a small base');

  await t.test('a stream, as a user without rights; the health check', async (t) => {
    const port = await findFreePort();
    const before = Date.now();
    const running = await start(t, built, {}, { HOSTWIRE_SERVER_PORT: String(port) });
    const stream = await EventStream.open(port);
    const event = payloadOf(await stream.next());
    stream.close();
    checkTime(t, Date.now() - before, 1000, 'from the start to the first event');
    t.type(event['cpu'], 'object');
    const status = readFileSync(`/proc/${running.pid}/status`, 'utf8');
    for (const line of [
      'Uid:\t10001\t10001',
      'Gid:\t10001\t10001',
      'CapEff:\t0000000000000000',
      'NoNewPrivs:\t1',
    ])
      t.match(status, line);
    t.equal(running.exec(built.health).status, 0);
    t.equal(running.exec(built.health, { HOSTWIRE_SERVER_PORT: '1' }).status, 1, 'nobody answers');
    const { stdout } = running.exec([...built.command, '--version']);
    t.match(stdout, /^0\.\d\S+\ncommit: [0-9a-f]{12} of .*\nHTTP engine: uWebSockets\.js \(.*\nNode: v22\./);
    t.equal(await running.stop(), 0, 'SIGTERM ends the first process');
  });

  await t.test('without anything of the host it says what it cannot see', async (t) => {
    const port = await findFreePort();
    const running = await start(t, built, {}, { HOSTWIRE_SERVER_PORT: String(port) });
    const reason = "the container's own are shown (disks, network, processes, host name)";
    t.match(
      running.log(),
      `warn: running in a container: ${reason}; mount the host's root folder read-only at /host, and set host.root`,
    );
    const rowOf = doctor(built, running);
    t.match(rowOf('container'), { status: 'partly', reason });
    t.match(await get(port, '/api/system'), { hostname: 'container' });
    t.match(await get(port, '/api/processes'), { total_count: 1 });
    t.equal(
      (await ask(port, '/api/pw/sleep', { method: 'POST' })).status,
      200,
      'power is only recorded here',
    );
  });

  await t.test('compose.yaml: host.root has disks and processes of the host', async (t) => {
    const port = await findFreePort();
    const settings = t.testdir({ 'config.yaml': `server:\n  port: ${port}\n` });
    const running = await start(t, built, readService('hostwire'), {}, { configuration: settings });
    const { blocks, bsize } = statfsSync('/');
    const { disks } = (await get(port, '/api/system')) as {
      readonly disks: readonly { readonly mount: string; readonly size: number }[];
    };
    t.equal(disks.find(({ mount }) => mount === '/')?.size, blocks * bsize, 'the disk of the host');
    t.match(await get(port, '/api/system'), { hostname: os.hostname() });
    const child = spawn('sleep', ['1000'], { argv0: 'hostwire-outside' });
    t.teardown(() => child.kill());
    const { total_count: count } = (await get(port, '/api/processes')) as { readonly total_count: number };
    t.ok(count > 5, `${count} processes`);
    t.equal(running.exec(built.health).status, 0, 'with the port of the configuration file');
    const rowOf = doctor(built, running);
    t.match(rowOf('container'), { status: 'works', source: 'running in a container; the host is at /host' });
    t.match(rowOf('disks'), { status: 'works' });
    writeFileSync(path.join(settings, 'config.yaml'), 'server:\n  port: 1\n');
    t.equal(running.exec(built.health).status, 1, 'not where it listened before');
  });

  await t.test("compose.yaml: pid: host ends processes of the user, and no other's", async (t) => {
    const port = await findFreePort();
    const control = { HOSTWIRE_SERVER_PORT: String(port), HOSTWIRE_FEATURES_ENABLE_PROCESS_CONTROL: 'true' };
    const running = await start(t, built, readService('control'), control);
    t.match(readFileSync(`/proc/${running.pid}/status`, 'utf8'), 'Uid:\t1000\t1000');
    const mine = spawn('setpriv', ['--reuid', '1000', '--regid', '1000', '--clear-groups', 'sleep', '1000']);
    const other = spawn('sleep', ['1000']);
    t.teardown(() => other.kill());
    const ended = new Promise((resolve) => mine.once('exit', (_code, signal) => resolve(signal)));
    const kill = async (pid: number | undefined) =>
      await ask(port, '/api/processes/kill', {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ pid }),
      });
    await until(() => readFileSync(`/proc/${mine.pid}/status`, 'utf8').includes('Uid:\t1000'));
    t.equal((await kill(mine.pid)).status, 200);
    t.equal(await ended, 'SIGTERM');
    t.equal((await kill(other.pid)).status, 409);
    t.equal(other.exitCode, null);
  });
});
