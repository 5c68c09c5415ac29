/** The configuration that packages ship: what it says, where each package puts it, and the service that starts with it. */
import '../helpers/service/dead-buses.ts';
import { spawn, spawnSync } from 'node:child_process';
import { copyFileSync, readFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { load as loadYaml } from 'js-yaml';
import t from 'tap';
import { describeExposure, exposureWarning } from '#src/access/exposure.js';
import { checkConfiguration } from '#src/cli/check.js';
import { loadConfig } from '#src/config/load.js';
import { makeFolder, optionsFor, writeFiles } from '../config/loading.ts';
import { startService } from '../helpers/service/service.ts';
import { until } from '../helpers/until.ts';

const ROOT = path.resolve(import.meta.dirname, '../../../..');
const SHIPPED = path.join(ROOT, 'packaging/config.yaml');
const TEXT = readFileSync(SHIPPED, 'utf8');
const textOf = (file: string) => readFileSync(path.join(ROOT, file), 'utf8');

t.test('[10.first-start] it listens on the loopback address only, without a warning', async (t) => {
  const folder = makeFolder(t);
  writeFiles(folder, { 'config.yaml': TEXT });
  const options = optionsFor(folder);
  const { config, notices } = loadConfig(options);
  t.strictSame(notices, []);
  t.equal(config.server.host, '127.0.0.1');
  t.match(config.auth, {
    enabled: false,
    keys_folder: path.join(folder, 'keys'),
    keys: {},
    guests: undefined,
  });
  t.equal(exposureWarning(config), undefined);
  t.match(describeExposure(config), /^this machine only/);
  t.equal(checkConfiguration(options).exitCode, 0);
});

t.test('[10.first-start] the commented lines are settings too', async (t) => {
  const folder = makeFolder(t);
  const opened = TEXT.replace(/^ {2}(?:host|enabled): .*\n/gm, '').replace(/^( +)#(?=\w+: )/gm, '$1');
  writeFiles(folder, { 'config.yaml': opened });
  const { config } = loadConfig(optionsFor(folder));
  t.match(config, { server: { host: '::' }, auth: { enabled: true } });
  t.strictSame(config.auth.allowed_ips.entries, ['127.0.0.1', '::1', '*']);
});

t.test('[10.first-start] each package has it where its service looks', async (t) => {
  t.match(
    textOf('scripts/release/debian.mjs'),
    "'/usr/share/hostwire/config.yaml': 'packaging/config.yaml'",
    'copied by postinst',
  );
  t.match(textOf('scripts/release/bundle.mjs'), "'config.yaml': 'packaging/config.yaml'");
  t.equal(textOf('dist/config.yaml'), TEXT, 'for the service of Windows');
  const tmpfiles = textOf('packaging/tmpfiles/hostwire.conf').split('\n');
  const named = tmpfiles.filter((line) => line.startsWith('z ')).map((line) => line.split(' ')[1] ?? '');
  t.strictSame(
    named.filter((glob) => glob.endsWith('/*') || glob.includes('config.yaml')),
    [],
    'config.yaml stays readable for a user without one, and the folder of keys a folder',
  );
});

t.test(
  '[10.first-start] a container with an empty folder for its configuration is closed, too',
  async (t) => {
    const dockerfile = textOf('packaging/container/Dockerfile');
    t.match(dockerfile, /^ENV XDG_CONFIG_HOME=\/etc$/m);
    t.match(dockerfile, /^WORKDIR \/opt\/hostwire$/m);
    const compose = loadYaml(textOf('packaging/container/compose.yaml')) as {
      readonly services: Readonly<Record<string, { readonly volumes: readonly string[] }>>;
      readonly volumes: object;
    };
    // biome-ignore lint/suspicious/noTemplateCurlyInString: as Compose spells it.
    const variable = '${HOSTWIRE_FILES:-configuration}';
    t.ok(compose.services['hostwire']?.volumes.includes(`${variable}:/etc/hostwire`), 'pairing writes there');
    t.ok(compose.services['control']?.volumes.includes(`${variable}:/etc/hostwire:ro`));
    t.strictSame(Object.keys(compose.volumes), ['configuration']);
    // The same search: the mounted folder, then the working folder.
    const mounted = makeFolder(t);
    const cwd = makeFolder(t);
    writeFiles(cwd, { 'config.yaml': TEXT });
    const variables = { XDG_CONFIG_HOME: path.dirname(mounted) };
    const load = () =>
      loadConfig({ ...optionsFor(mounted), surroundings: { platform: 'linux', cwd, variables } });
    t.strictSame(load().sources.files, [path.join(cwd, 'config.yaml')]);
    writeFiles(mounted, { 'config.yaml': 'server: {port: 1}' });
    t.strictSame(load().sources.files, [path.join(mounted, 'config.yaml')], 'one of the owner comes first');
  },
);

t.test(
  '[10.first-start] reachable here only; once paired, everywhere with the key, and without it on this machine only',
  async (t) => {
    const folder = t.testdir({ hostwire: {} });
    copyFileSync(SHIPPED, path.join(folder, 'hostwire/config.yaml'));
    const env = { XDG_CONFIG_HOME: folder, HOSTWIRE_POWER_BACKEND: 'record', HOSTWIRE_HISTORY_MINUTES: '0' };
    const start = () =>
      startService({
        start: (command, [main = ''], how) =>
          spawn(command, [main, '--port', '0'], { ...how, cwd: folder, env: { ...how.env, ...env } }),
      });
    const status = (address: string, port: number, key?: string, headers = {}) =>
      fetch(`http://${address}:${port}/api/usage`, {
        headers: key === undefined ? headers : { Authorization: `Bearer ${key}` },
      }).then(
        (reply) => reply.status,
        () => 'refused',
      );
    const FORWARDED = { 'X-Forwarded-For': '192.0.2.1' };

    const first = await start();
    t.match(first.stderr(), /listening on http:\/\/127\.0\.0\.1:/);
    t.notMatch(first.stderr(), /\bwarn: (?!power\.backend|running (?:in a container|as root))/);
    t.equal(await status('127.0.0.1', first.port), 200);
    // All of 127.0.0.0/8 are addresses of this machine, and only one of them is listened on.
    t.equal(await status('127.0.0.2', first.port), 'refused');

    const main = path.join(ROOT, 'dist/main.js');
    const how = { cwd: folder, env: { ...process.env, ...env }, encoding: 'utf8' } as const;
    const paired = spawnSync(process.execPath, [main, 'pair', '--json'], how);
    t.equal(paired.status, 0, paired.stderr);
    const { key } = JSON.parse(paired.stdout) as { readonly key: string };
    await until(() => first.stderr().includes('server.host is now'), 'the restart is asked for');
    t.match(first.stderr(), /server\.host is now "?::"?: restart needed, "?127\.0\.0\.1"? stays in effect/);
    t.equal(await status('127.0.0.1', first.port), 200, 'not on this machine');
    t.equal(await status('127.0.0.1', first.port, undefined, FORWARDED), 401, 'without a restart');
    t.equal(await status('127.0.0.1', first.port, key), 200);
    t.equal(await status('127.0.0.2', first.port, key), 'refused');
    t.equal((await first.stop()).code, 0);

    const second = await start();
    t.notMatch(second.stderr(), /\b(?:error|warn): (?!power\.backend|running (?:in a container|as root))/);
    for (const address of ['127.0.0.1', '127.0.0.2']) {
      t.equal(await status(address, second.port, undefined, FORWARDED), 401, address);
      t.equal(await status(address, second.port, key), 200, address);
    }
    t.equal((await second.stop()).code, 0);
  },
);
