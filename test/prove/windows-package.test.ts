/** The zip and the installer for Windows, made on Linux: unpacked, installed, updated and removed under Wine. */
import '../helpers/service/dead-buses.ts';
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { emptyFolder } from '../helpers/scope.ts';
import { make } from '../packaging/made.ts';
import { DRIVE_C, PREFIX, runNode, startOnWindows, windowsPath } from '../windows/wine.ts';

t.setTimeout(1_800_000);
const ROOT = path.resolve(import.meta.dirname, '../../../..');
const LIMIT_MS = 180_000;
const SERVICE_KEY = 'HKLM\\System\\CurrentControlSet\\Services\\hostwire';
const ENVIRONMENT_KEY = 'HKLM\\System\\CurrentControlSet\\Control\\Session Manager\\Environment';
const FOLDER = path.join(DRIVE_C, 'Program Files/hostwire');

const TOOLS = ['wine', 'wixl', 'msibuild', 'msiinfo', 'zip', 'x86_64-w64-mingw32-g++-posix'];
const missing = TOOLS.filter((name) => spawnSync('which', [name], { stdio: 'ignore' }).status !== 0);
const skip = missing.length > 0 && `missing: ${missing.join(', ')}`;

const wine = (program: string, ...words: readonly string[]) => runNode(words, { program });
const install = (installer: string, ...words: readonly string[]) =>
  wine('msiexec', '/i', windowsPath(installer), ...words, '/qn');
const remove = (installer: string) => wine('msiexec', '/x', windowsPath(installer), '/qn');
/** The values of a key; nothing where there is none. */
async function registry(key: string): Promise<string> {
  const { code, stdout } = await wine('reg', 'query', key);
  return code === 0 ? stdout : '';
}
const megabytes = (file: string) => (statSync(file).size / 1e6).toFixed(1);

/** Starts the service; returns the port that it listens on. */
async function startService(t: Test, log: string): Promise<number> {
  rmSync(log, { force: true });
  const started = await wine('net', 'start', 'hostwire');
  t.equal(started.code, 0, started.stdout + started.stderr);
  const limit = performance.now() + LIMIT_MS;
  while (performance.now() < limit) {
    const text = existsSync(log) ? readFileSync(log, 'utf8') : '';
    const port = /listening on http:\/\/127\.0\.0\.1:(\d+)\n/.exec(text)?.[1];
    if (port !== undefined) return Number(port);
    await sleep(200);
  }
  throw new Error('it does not listen');
}

const status = async (port: number) => (await fetch(`http://127.0.0.1:${port}/api/status`)).json();

t.test('for Windows', { skip }, async (t) => {
  const { provideWindows, endWine } = (await import(path.join(ROOT, 'scripts/wine.mjs'))) as {
    readonly provideWindows: () => object;
    readonly endWine: () => void;
  };
  provideWindows();
  // If Wine restarted between two commands, it would start the service automatically, as Windows does.
  spawnSync('wineserver', ['-p60'], { env: { ...process.env, WINEPREFIX: PREFIX }, stdio: 'ignore' });
  t.teardown(endWine);
  execFileSync(process.execPath, [path.join(ROOT, 'scripts/prebuild.mjs'), 'win32-x64'], { stdio: 'ignore' });
  const output = emptyFolder(t, 'windows');
  const [archive = '', installer = ''] = make('windows.mjs', output);
  t.comment(`figure: ${megabytes(archive)} MB as .zip, ${megabytes(installer)} MB as .msi`);

  await t.test('the zip is unpacked and runs, from a path with spaces', async (t) => {
    const place = mkdtempSync(path.join(DRIVE_C, 'host wire '));
    t.teardown(() => rmSync(place, { recursive: true, force: true }));
    execFileSync('python3', ['-m', 'zipfile', '-e', archive, place]);
    const name = path.basename(archive, '.zip');
    const folder = `C:\\${path.basename(place)}\\${name}`;
    const command = `${folder}\\hostwire.cmd`;
    const version = await wine('cmd', '/c', command, '--version');
    t.match(version.stdout, /^\d.*\ncommit: .*\nHTTP engine: uWebSockets\.js \(its binary loads here\)\n/);
    const refused = await wine('cmd', '/c', command, '--what');
    t.equal(refused.code, 2, 'its exit code is that of the program');
    t.match(refused.stderr, 'unknown option "--what"');
    const program = path.join(place, name, 'node.exe');
    const service = await startOnWindows({}, { program, main: `${folder}\\dist\\main.js` });
    t.same(await status(service.port), { status: 'ok' });
    t.equal((await service.stop()).code, 0);
  });

  await t.test('the installer says what it does, and opens no port', async (t) => {
    const info = (...words: readonly string[]) => execFileSync('msiinfo', words, { encoding: 'utf8' });
    const tables = info('tables', installer).split('\n');
    t.strictSame(
      tables.filter((name) => /firewall|ServiceConfig|LockPermissions/i.test(name)),
      [],
    );
    const rows = (table: string) => info('export', installer, table).trimEnd().split(/\r?\n/).slice(3);
    const node = rows('File').find((row) => row.includes('|node.exe\t') || row.includes('\tnode.exe\t'));
    const [file] = node?.split('\t') ?? [];
    t.strictSame(
      rows('CustomAction').map((row) => row.split('\t').slice(0, 4)),
      [
        ['UndoService', '3410', file, '"[INSTALLDIR]dist\\main.js" service remove'],
        ['AddService', '3090', file, '"[INSTALLDIR]dist\\main.js" service install'],
        ['RemoveService', '3154', file, '"[INSTALLDIR]dist\\main.js" service remove'],
      ],
      'these programs and no other are run, as the system',
    );
    t.strictSame(rows('Environment'), ['Path\t=-*PATH\t[~];[INSTALLDIR]\tPath']);
    const order = rows('InstallExecuteSequence').map((row) => row.split('\t'));
    const at = (name: string) => Number(order.find(([action]) => action === name)?.[2]);
    t.ok(at('InstallInitialize') < at('RemoveExistingProducts'));
    t.ok(at('RemoveExistingProducts') < at('RemoveService') && at('RemoveService') < at('RemoveFiles'));
    t.ok(at('InstallFiles') < at('AddService') && at('AddService') < at('UndoService'));
    t.match(info('suminfo', installer), /^Template: x64;1033$/m);
  });

  const data = path.join(DRIVE_C, 'ProgramData/hostwire');
  const log = path.join(data, 'log/service.log');
  rmSync(data, { recursive: true, force: true });
  mkdirSync(path.dirname(log), { recursive: true });
  const config = { server: { host: '127.0.0.1', port: 0 }, power: { backend: 'record' } };
  writeFileSync(path.join(data, 'config.json'), JSON.stringify(config), { mode: 0o600 });
  t.teardown(() => rmSync(data, { recursive: true, force: true }));
  const path0 = await registry(ENVIRONMENT_KEY);

  await t.test('the installer registers the service, which serves, and removes all of it', async (t) => {
    const startedAt = performance.now();
    const installed = await install(installer);
    t.equal(installed.code, 0, installed.stdout);
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
    t.match(await registry(SERVICE_KEY), '"C:\\Program Files\\hostwire\\dist\\main.js" --service');
    t.match(await registry(SERVICE_KEY), 'NT AUTHORITY\\LocalService');
    t.match(await registry(ENVIRONMENT_KEY), /\bPATH\b.*;C:\\Program Files\\hostwire\\\n/);
    t.same(await status(await startService(t, log)), { status: 'ok' });
    t.equal((await remove(installer)).code, 0);
    t.equal(await registry(SERVICE_KEY), '', 'the service is stopped and removed');
    t.equal(await registry('HKLM\\Software\\hostwire'), '');
    t.notOk(existsSync(FOLDER));
    // Wine leaves a ";".
    t.equal((await registry(ENVIRONMENT_KEY)).replace(/;$/m, ''), path0);
    t.ok(existsSync(path.join(data, 'config.json')), 'configuration and log stay');
    t.comment(`figure: installed in ${seconds} s under Wine`);
  });

  await t.test('a service without a configuration gets one that only this machine reaches', async (t) => {
    rmSync(path.join(data, 'config.json'));
    const file = path.join(data, 'config.yaml');
    t.equal((await install(installer)).code, 0);
    t.equal(readFileSync(file, 'utf8'), readFileSync(path.join(ROOT, 'packaging/config.yaml'), 'utf8'));
    writeFileSync(file, '# mine\n', { mode: 0o600 });
    t.equal((await remove(installer)).code, 0);
    t.equal((await install(installer)).code, 0);
    t.equal(readFileSync(file, 'utf8'), '# mine\n', 'one that is there stays');
    t.equal((await remove(installer)).code, 0);
    rmSync(file);
    writeFileSync(path.join(data, 'config.json'), JSON.stringify(config), { mode: 0o600 });
  });

  await t.test('without the service, where it is not wanted', async (t) => {
    t.equal((await install(installer, 'ADDLOCAL=Program')).code, 0);
    t.equal(await registry(SERVICE_KEY), '');
    t.ok(existsSync(path.join(FOLDER, 'hostwire.cmd')));
    t.equal((await remove(installer)).code, 0);
    t.notOk(existsSync(FOLDER));
  });

  await t.test('a service of another hostwire stops the installation, and stays', async (t) => {
    const program = 'C:\\other\\node.exe';
    await wine('sc', 'create', 'hostwire', `binPath=${program}`);
    const installed = await install(installer);
    t.not(installed.code, 0);
    t.match(installed.stderr, 'already registered');
    t.match(await registry(SERVICE_KEY), program);
    t.notOk(existsSync(FOLDER));
    await wine('sc', 'delete', 'hostwire');
  });

  await t.test('an update takes the place of what is installed, in the folder that was chosen', async (t) => {
    const chosen = path.join(DRIVE_C, 'chosen');
    t.equal((await install(installer, 'INSTALLDIR=C:\\chosen')).code, 0);
    t.match(await registry(SERVICE_KEY), 'C:\\chosen\\dist\\main.js --service');
    const other = path.join(output, 'other.msi');
    const edit = [
      '-q',
      "UPDATE `Property` SET `Value` = '{4C0C9D19-0000-4000-8000-000000000001}' WHERE `Property` = 'ProductCode'",
    ];
    execFileSync('cp', [installer, other]);
    execFileSync('msibuild', [other, ...edit]);
    await startService(t, log);
    t.equal((await install(other)).code, 0);
    t.match(await registry(SERVICE_KEY), 'C:\\chosen\\dist\\main.js', 'registered again');
    t.notOk(existsSync(FOLDER));
    t.same(await status(await startService(t, log)), { status: 'ok' });
    t.equal((await remove(other)).code, 0);
    t.equal(await registry(SERVICE_KEY), '');
    t.notOk(existsSync(chosen));
  });
});
