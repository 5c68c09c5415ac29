/** The Debian package: lintian, and its installation, upgrade, removal and purge in clean root filesystems. */
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import t, { type Test } from 'tap';
import { checkTime } from '../helpers/limits.ts';
import { emptyFolder } from '../helpers/scope.ts';
import { DebianRoot, differences, whyNoRoot } from '../packaging/debian-root.ts';
import { digestOf, make, makeAddon } from '../packaging/made.ts';

const MAX_BYTES = 35e6;
/** From the start to the first event. */
const MAX_FIRST_EVENT_MS = 1000;
/** Packages that every machine for which the package is made has anyway. */
const PACKAGES = ['systemd-sysv', 'dbus', 'polkitd', 'procps'];

t.setTimeout(1_800_000);
const skip = whyNoRoot('lintian', 'dpkg-deb') ?? false;
const MANUAL = '/usr/share/man/man1/hostwire.1.gz';
const RULE = '/etc/polkit-1/rules.d/50-hostwire.rules';

async function expectServing(t: Test, root: DebianRoot): Promise<number> {
  const asService = [
    'setpriv',
    '--reuid=hostwire',
    '--regid=hostwire',
    '--clear-groups',
    '/usr/bin/hostwire',
  ];
  const { event, exitCode, firstEventMs, log } = await root.serve(asService);
  t.ok(JSON.parse(event).memory.used > 0, event);
  t.equal(exitCode, 0);
  t.notMatch(
    log,
    /\b(?:error|warn): (?!power\.backend is record)/,
    'as the user of the system unit nothing is missing',
  );
  checkTime(t, firstEventMs, MAX_FIRST_EVENT_MS, 'from the start to the first event');
  return firstEventMs;
}

const OPENED = /^ {2}host: "::" # hostwire pair$[\s\S]*^ {2}enabled: true # hostwire pair$/m;
/** A user without rights, and that of the system unit. */
const NOBODY = 'setpriv --reuid=65534 --regid=65534 --clear-groups';
const SERVICE = 'setpriv --reuid=hostwire --regid=hostwire --clear-groups';

/** As installed, only this machine gets in, whichever user starts the service. */
function expectClosed(t: Test, root: DebianRoot): void {
  t.equal(root.run('stat -c "%a %U %G" /etc/hostwire/config.yaml').trim(), '644 root root');
  for (const user of [NOBODY, SERVICE]) {
    const report = JSON.parse(root.run(`${user} env HOME=/nonexistent hostwire check --json`));
    t.strictSame(report.files, ['/etc/hostwire/config.yaml'], user);
    t.match(report.settings['server.host'], {
      value: '127.0.0.1',
      origin: /^\/etc\/hostwire\/config\.yaml:\d+$/,
    });
    t.notMatch(report.notices, [{ level: /error|warn/ }]);
  }
}

/** The service reads the keys that root pairs, and no other user can change them. */
function expectPairing(t: Test, root: DebianRoot): void {
  const refused = root.run(`${NOBODY} env HOME=/nonexistent hostwire pair 2>&1 || true`);
  t.match(refused, 'this user cannot write to /etc/hostwire. Run it as root ("sudo hostwire pair"');
  t.notMatch(root.run('cat /etc/hostwire/config.yaml'), OPENED);
  const report = JSON.parse(root.run('umask 077; hostwire pair --json'));
  t.match(
    report.restart,
    /^(?:systemctl restart hostwire|restart the container)$/,
    'tests may run in a container',
  );
  t.match(root.run('cat /etc/hostwire/config.yaml'), OPENED);
  t.equal(root.run('stat -c "%a %U %G" /etc/hostwire/config.yaml').trim(), '644 root root');
  root.run('systemd-tmpfiles --create hostwire.conf');
  const { keys } = JSON.parse(root.run(`${SERVICE} hostwire keys --json`));
  t.match(keys, [{ name: 'phone' }]);
}

const TMPFILES_BEFORE = 'd /etc/hostwire 0750 root hostwire - -\nz /etc/hostwire/* 0640 root hostwire - -\n';

/** The package as it was before it had a configuration, or (`hasConffile`) while that was a file that dpkg manages. */
function makeBefore(file: string, folder: string, hasConffile: boolean): string {
  const tree = path.join(folder, `before-${hasConffile}`);
  execFileSync('dpkg-deb', ['--raw-extract', file, tree]);
  const change = (name: string, edit: (text: string) => string) =>
    writeFileSync(path.join(tree, name), edit(readFileSync(path.join(tree, name), 'utf8')));
  change('DEBIAN/control', (text) => text.replace(/^Version: .*$/m, 'Version: 0.1.0~alpha-0'));
  const config = '/etc/hostwire/config.yaml';
  if (hasConffile) {
    change('DEBIAN/conffiles', (text) => `${config}\n${text}`);
    cpSync(path.join(tree, 'usr/share/hostwire/config.yaml'), path.join(tree, config), { recursive: true });
  } else change('usr/lib/tmpfiles.d/hostwire.conf', () => TMPFILES_BEFORE);
  change('DEBIAN/postinst', (text) => text.replace('! is_configured', 'false'));
  const made = path.join(folder, `before-${hasConffile}.deb`);
  execFileSync('dpkg-deb', ['-Znone', '--root-owner-group', '--build', tree, made], { stdio: 'pipe' });
  return made;
}

/** Runs at each start of the machine: the files that may have secrets get the mode and the group that they keep. */
const BOOT = 'systemd-tmpfiles --create hostwire.conf';

/** States of an installation: the package before, what was done to /etc/hostwire, and what an upgrade says. */
const UPGRADES = [
  { what: 'no configuration', had: 'before', done: ':', isOpen: true },
  {
    what: 'config.json',
    had: 'before',
    done: `echo '{"server":{"port":1,"host":"::"}}' >config.json; ${BOOT}`,
  },
  { what: 'a config.yaml of their own', had: 'before', done: `echo 'server: {port: 1}' >config.yaml` },
  {
    what: 'a folder with another owner and mode',
    had: 'before',
    done: `echo 'server: {port: 1}' >config.yaml; chgrp adm . config.yaml; chmod 0710 .; chmod 0600 config.yaml`,
  },
  { what: 'the shipped configuration', had: 'conffile', done: ':' },
  {
    what: 'the shipped configuration, changed',
    had: 'conffile',
    done: `sed -i 's/127.0.0.1/::1/' config.yaml`,
  },
  { what: 'the shipped configuration, removed', had: 'conffile', done: 'rm config.yaml', isOpen: true },
] as const;

t.test('the Debian package', { skip }, async (t) => {
  const folder = emptyFolder(t, 'deb');
  makeAddon('linux-x64');
  const [first = ''] = make('debian.mjs', path.join(folder, 'first'));
  const [again = ''] = make('debian.mjs', path.join(folder, 'again'));
  const [next = ''] = make('debian.mjs', folder, '--revision', '2');
  t.equal(digestOf(again), digestOf(first), 'two runs make the same bytes');
  t.ok(statSync(first).size <= MAX_BYTES, `${statSync(first).size} bytes`);
  t.comment(`figure: ${(statSync(first).size / 1e6).toFixed(1)} MB`);

  await t.test('lintian reports no error', async (t) => {
    const { status, stdout } = spawnSync('lintian', ['--fail-on', 'error', first], { encoding: 'utf8' });
    t.equal(status, 0, stdout);
    t.strictSame(stdout.match(/^[EW]: hostwire: \S+/gm) ?? [], [], 'and no warning');
  });

  await t.test('it depends on what Debian 11 has', async (t) => {
    const depends = execFileSync('dpkg-deb', ['-f', first, 'Depends'], { encoding: 'utf8' });
    t.match(depends, /^libc6 \(>= 2\.31\), libgcc-s1, libstdc\+\+6 \(>= [5-9]\), /);
  });

  await t.test('an upgrade leaves /etc/hostwire as it is, and says if it is open', async (t) => {
    const root = new DebianRoot('bookworm', PACKAGES);
    t.teardown(() => root.remove());
    root.add(first, 'hostwire.deb');
    root.add(makeBefore(first, folder, false), 'before.deb');
    root.add(makeBefore(first, folder, true), 'conffile.deb');
    const shown = `find /etc/hostwire -printf '%p %m %u %g\\n' -type f -exec cat {} +`;
    for (const { what, had, done, ...says } of UPGRADES) {
      root.run(`dpkg --install /media/test/${had}.deb && cd /etc/hostwire && ${done}`);
      const before = root.run(shown);
      // As unattended-upgrades runs it: no question is answered.
      const said = root.run('dpkg --install /media/test/hostwire.deb </dev/null 2>&1');
      t.equal(root.run(shown), before, what);
      t.equal(/has no configuration, and the upgrade adds none/.test(said), 'isOpen' in says, said);
      const report = JSON.parse(root.run('cd / && hostwire check --json'));
      t.notMatch(report.notices, [{ level: 'error' }], what);
      root.run('dpkg --purge hostwire');
    }
  });

  for (const release of ['bookworm', 'trixie'])
    await t.test(`installed, upgraded, removed and purged on Debian's ${release}`, async (t) => {
      const root = new DebianRoot(release, PACKAGES);
      t.teardown(() => root.remove());
      for (const [name, file] of Object.entries({ 'hostwire.deb': first, 'next.deb': next }))
        root.add(file, name);
      const install = (name: string) => root.timed(`apt-get install -y /media/test/${name}`);
      const before = root.list();

      const installed = install('hostwire.deb');
      t.match(installed.text, /systemctl --user enable --now hostwire/, 'it says how to go on');
      const added = differences(before, root.list());
      t.strictSame(
        added.filter((change) => change.startsWith('- ')),
        [],
      );
      t.strictSame(
        added.filter((change) => /\.wants\//.test(change)),
        [],
        'nothing is enabled',
      );
      t.equal(root.run('stat -c "%a %U %G" /etc/hostwire').trim(), '755 root root');
      expectClosed(t, root);
      t.match(root.run('getent passwd hostwire'), /:\/usr\/sbin\/nologin$/m);
      const conffiles = root.run(`dpkg-query -W -f '\${Conffiles}' hostwire`);
      t.strictSame(conffiles.match(/\/etc\S+/g), [RULE]);
      root.run(
        `dpkg --verify hostwire &&
          systemd-analyze verify --man=no /usr/lib/systemd/system/hostwire.service /usr/lib/systemd/system/hostwire-hub.service`,
      );
      t.ok(root.list().has(MANUAL), MANUAL);
      const firstEventMs = await expectServing(t, root);

      expectPairing(t, root);
      // Programs on this machine without a key, such as the test.
      root.run(`rm ${RULE}; sed -i 's/^  #allowed_ips/  allowed_ips/' /etc/hostwire/config.yaml
        cp /usr/share/doc/hostwire/examples/hub.example.yaml /etc/hostwire/hub.yaml
        systemctl enable hostwire hostwire-hub && systemctl --global enable hostwire`);
      const upgraded = install('next.deb');
      t.match(root.run('dpkg-query -W hostwire'), /-2$/m);
      t.notMatch(upgraded.text, /systemctl --user enable/, 'an upgrade says nothing');
      t.notOk(root.list().has(RULE), 'a rule that was removed stays so');
      t.match(root.run('cat /etc/hostwire/config.yaml'), OPENED, 'and what was changed, too');
      await expectServing(t, root);

      const removed = root.timed('apt-get remove -y hostwire');
      const left = differences(before, root.list()).map((change) => change.slice(2));
      t.ok(left.includes('/etc/hostwire/config.yaml'), 'a removal keeps the configuration');
      t.ok(left.includes('/etc/hostwire/keys/phone.yaml'), 'and the keys');
      t.strictSame(
        left.filter((file) => /^\/usr\/(?!lib\/hostwire\b)/.test(file)),
        [],
      );
      root.run('apt-get purge -y hostwire');
      t.strictSame(differences(before, root.list()), [], 'a purge leaves nothing');
      t.comment(
        `figure: ${release}: installed in ${installed.seconds} s, first event ${firstEventMs.toFixed(0)} ms after the start, upgraded in ${upgraded.seconds} s, removed in ${removed.seconds} s`,
      );
    });
});
