/** packaging/: what the units start and as whom, and polkit allows one user a few actions. */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import vm from 'node:vm';
import t from 'tap';
import '../helpers/service/dead-buses.ts';
import { emptyFolder } from '../helpers/scope.ts';
import { HUB_UNIT, ROOT, SYSTEM_UNIT } from './unit-files.ts';

/** Directives of a unit, in order: [key, value]. */
function directivesOf(file: string): readonly (readonly [string, string])[] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => /^[A-Z]\w*=/.test(line))
    .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]);
}

t.test('the system unit does not restrict disks, stats and V8', async (t) => {
  const used = new Set(directivesOf(SYSTEM_UNIT).map(([key]) => key));
  // Each of these hides disks or makes them read-only, hides /proc, or keeps V8 from running what it compiles.
  for (const key of [
    'ProtectSystem',
    'ProtectHome',
    'PrivateTmp',
    'PrivateDevices',
    'ReadOnlyPaths',
    'InaccessiblePaths',
    'TemporaryFileSystem',
    'RootDirectory',
    'DynamicUser',
    'ProtectProc',
    'ProcSubset',
    'PrivateUsers',
    'PrivateNetwork',
    'MemoryDenyWriteExecute',
  ])
    t.notOk(used.has(key), key);
  const families = directivesOf(SYSTEM_UNIT).find(([key]) => key === 'RestrictAddressFamilies')?.[1];
  t.strictSame(families?.split(' ').sort(), ['AF_INET', 'AF_INET6', 'AF_NETLINK', 'AF_UNIX']);
});

t.test('the hub unit: its own file, another user than the service, no devices and no bus', async (t) => {
  const unit = new Map(directivesOf(HUB_UNIT));
  t.equal(unit.get('ExecStart'), 'node /opt/hostwire/dist/main.js hub --config /etc/hostwire/hub.yaml');
  t.equal(unit.get('ConditionPathExists'), '/etc/hostwire/hub.yaml');
  t.equal(unit.get('DynamicUser'), 'yes');
  t.equal(unit.get('User'), 'hostwire-hub', 'not the one of the polkit rule');
  t.equal(unit.get('SupplementaryGroups'), 'hostwire', 'which may read /etc/hostwire');
  t.ok(Number(unit.get('LimitNOFILE')) >= 200_000, 'a descriptor per viewer');
  t.equal(unit.get('PrivateDevices'), 'yes');
  t.notOk(unit.has('DeviceAllow') || unit.has('MemoryDenyWriteExecute'));
  t.equal(unit.get('StateDirectory'), 'hostwire-hub');
  t.match(unit.get('InaccessiblePaths'), /\/run\/dbus\b/);
  t.equal(unit.get('After'), 'network.target', 'no bus is waited for');
});

t.test('units of packages start the program of the package, with their arguments', async (t) => {
  const { unitFor, UNITS } = (await import(path.join(ROOT, 'scripts/release/tree.mjs'))) as {
    readonly unitFor: (file: string, command: string) => string;
    readonly UNITS: readonly string[];
  };
  t.equal(UNITS.length, 3);
  for (const unit of UNITS) {
    const start = /^ExecStart=(.*)$/m.exec(unitFor(`packaging/systemd/${unit}`, '/x/node /x/main.js'))?.[1];
    const more = unit.endsWith('hub.service') ? ' hub --config /etc/hostwire/hub.yaml' : '';
    t.equal(start, `/x/node /x/main.js${more}`, unit);
  }
  const scripts = ['postinst', 'prerm', 'postrm'].map((name) =>
    readFileSync(path.join(ROOT, 'packaging/debian', name), 'utf8'),
  );
  for (const script of scripts) t.match(script, /hostwire-hub\.service/, 'restarted, stopped, purged');
});

type Rule = (action: { readonly id: string }, subject: { readonly user: string }) => string | undefined;

/** The rules of the shipped file, as polkitd takes them in: its JavaScript is ECMAScript 5. */
function shippedRules(): readonly Rule[] {
  const rules: Rule[] = [];
  const polkit = {
    addRule: (rule: Rule) => rules.push(rule),
    Result: { YES: 'yes', NO: 'no', NOT_HANDLED: undefined },
  };
  const file = path.join(ROOT, 'packaging/polkit/50-hostwire.rules');
  vm.runInNewContext(readFileSync(file, 'utf8'), { polkit }, { filename: file });
  return rules;
}

t.test('the polkit rule: one user, twelve actions, nothing else', async (t) => {
  const rules = shippedRules();
  t.equal(rules.length, 1);
  const ask = (id: string, user: string) => rules[0]?.({ id }, { user });
  for (const act of ['power-off', 'reboot', 'suspend', 'hibernate'])
    for (const end of ['', '-multiple-sessions', '-ignore-inhibit']) {
      const id = `org.freedesktop.login1.${act}${end}`;
      t.equal(ask(id, 'hostwire'), 'yes', id);
      for (const user of ['root', 'hostwire2', 'alice', '', 'HOSTWIRE'])
        t.equal(ask(id, user), undefined, user);
    }
  for (const id of [
    'org.freedesktop.login1.halt',
    'org.freedesktop.login1.manage',
    'org.freedesktop.login1.power-off-ignore-inhibit2',
    'org.freedesktop.systemd1.manage-units',
    'org.freedesktop.policykit.exec',
    'toString',
  ])
    t.equal(ask(id, 'hostwire'), undefined, id);
});

t.test('the unit, the rule, the folder and the keys name the same user', async (t) => {
  const unit = new Map(directivesOf(SYSTEM_UNIT));
  t.equal(unit.get('User'), 'hostwire');
  t.equal(unit.get('Group'), 'hostwire');
  const text = (file: string) => readFileSync(path.join(ROOT, 'packaging', file), 'utf8');
  t.match(text('sysusers/hostwire.conf'), /^u hostwire - "[^"]+" - -$/m);
  t.match(text('tmpfiles/hostwire.conf'), /^d \/etc\/hostwire - - - - -$/m);
  t.match(text('udev/60-hostwire-uinput.rules'), /^KERNEL=="uinput", .*GROUP="hostwire", MODE="0660"/m);
});

t.test('the install script installs a program that runs, readable by others, and removes it', async (t) => {
  const folder = emptyFolder(t, 'install');
  const script = path.join(ROOT, 'scripts/install.mjs');
  const install = (...args: readonly string[]) =>
    execFileSync(process.execPath, [script, '--destdir', folder, ...args], { encoding: 'utf8' });
  install('--media-keys');
  const main = path.join(folder, 'opt/hostwire/dist/main.js');
  t.match(execFileSync(process.execPath, [main, '--version'], { encoding: 'utf8' }), /^\d+\.\d+\.\d+/);
  const check = execFileSync(process.execPath, [main, 'check'], { encoding: 'utf8', cwd: folder, env: {} });
  t.match(check, /port/, 'with its libraries');
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((file) =>
    path.join(folder, file),
  );
  t.strictSame(
    files.filter((file) => (statSync(file).mode & 0o044) !== 0o044),
    [],
    'another user can read all of it',
  );
  t.equal(readdirSync(path.join(folder, 'etc/systemd/system')).length, 2, 'the service and the hub');
  for (const kind of ['systemd/user', 'polkit-1/rules.d', 'sysusers.d', 'tmpfiles.d', 'udev/rules.d'])
    t.equal(readdirSync(path.join(folder, 'etc', kind)).length, 1, kind);
  install('--remove');
  t.notOk(existsSync(main));
  t.strictSame(
    readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => file.includes('hostwire')),
    [],
  );
});
