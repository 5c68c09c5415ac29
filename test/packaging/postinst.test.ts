/** The script that ends an installation of the Debian package, run in a folder: what it does to the configuration. */
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import t, { type Test } from 'tap';

const PACKAGING = path.resolve(import.meta.dirname, '../../../../packaging');
const SHIPPED = readFileSync(path.join(PACKAGING, 'config.yaml'), 'utf8');

/** Programs that would change this machine. */
const STUBBED = ['systemd-sysusers', 'systemd-tmpfiles', 'systemctl', 'deb-systemd-invoke', 'useradd'];

/** Runs it over an installation whose /etc/hostwire has `files`; none: there is no such folder. */
function configure(t: Test, before: string, files?: Readonly<Record<string, string>>) {
  const root = t.testdir({ stubs: {}, etc: {}, usr: { share: { hostwire: { 'config.yaml': SHIPPED } } } });
  const folder = path.join(root, 'etc/hostwire');
  if (files !== undefined) {
    mkdirSync(folder);
    for (const [name, text] of Object.entries(files))
      writeFileSync(path.join(folder, name), text, { mode: 0o600 });
    chmodSync(folder, 0o750);
  }
  for (const name of STUBBED) symlinkSync('/bin/true', path.join(root, 'stubs', name));
  const { status, stdout, stderr } = spawnSync(
    'sh',
    [path.join(PACKAGING, 'debian/postinst'), 'configure', before],
    { encoding: 'utf8', env: { DPKG_ROOT: root, PATH: `${path.join(root, 'stubs')}:/usr/bin:/bin` } },
  );
  t.equal(status, 0, stderr);
  const modeOf = (file: string) => (statSync(file).mode & 0o777).toString(8);
  const found = readdirSync(folder).map((name) => {
    const file = path.join(folder, name);
    return [name, { text: readFileSync(file, 'utf8'), mode: modeOf(file) }] as const;
  });
  return { said: stdout, mode: modeOf(folder), files: Object.fromEntries(found) };
}

const OPEN = /\/etc\/hostwire has no configuration, and the upgrade adds none\..*listens on\nevery address/;
const FIRST = /^hostwire is installed/;
const OWN = { text: 'server: {port: 1}\n', mode: '600' };

t.test('the first installation has the shipped configuration, which says who gets in', async (t) => {
  const { said, mode, files } = configure(t, '');
  t.strictSame([mode, files], ['755', { 'config.yaml': { text: SHIPPED, mode: '644' } }]);
  t.match(said, FIRST);
  t.match(said, /^No other machine reaches it until `hostwire pair`/m);
});

t.test('an upgrade without a configuration adds none, and says that the service is open', async (t) => {
  const { said, mode, files } = configure(t, '0.1.0~alpha-1', {});
  t.strictSame([mode, files], ['750', {}]);
  t.match(said, OPEN);
});

for (const name of ['config.json', 'config.yaml', 'config.yml'])
  t.test(`a ${name} of the administrator stays the only one`, async (t) => {
    const upgraded = configure(t, '0.1.0~alpha-1', { [name]: OWN.text, 'hub.yaml': OWN.text });
    const kept = { [name]: OWN, 'hub.yaml': OWN };
    t.strictSame(upgraded, { said: '', mode: '750', files: kept });
    const first = configure(t, '', { [name]: OWN.text });
    t.strictSame([first.mode, first.files], ['750', { [name]: OWN }]);
    t.match(first.said, FIRST);
    t.match(first.said, /^Its configuration is the one that was in \/etc\/hostwire\.$/m);
  });
