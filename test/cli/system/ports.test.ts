/** The row of `hostwire doctor` on ports that need a privilege or IPv6; and the manual page that the build makes. */
import { execFileSync, spawnSync } from 'node:child_process';
import path from 'node:path';
import process from 'node:process';
import t from 'tap';
import { COMMANDS, OPTION_LIST } from '#src/cli/words.js';
import { checkRecognised } from '../port-row.ts';

t.test('[9.port-cause] by hostwire itself, on all addresses', async (t) => {
  await checkRecognised(t, '::');
});

t.test(
  '[9.port-cause] a port that needs a privilege',
  { skip: process.getuid?.() !== 0 && 'only root can become someone else' },
  async (t) => {
    const script = `
      const { findPortProblem } = await import(${JSON.stringify(import.meta.resolve('#src/cli/ports.js'))});
      process.setgroups([]); process.setgid(65534); process.setuid(65534);
      console.log((await findPortProblem('127.0.0.1', 80))?.reason);`;
    // A network namespace has the kernel's default for the first port that needs none.
    const { stdout, stderr } = spawnSync(
      'unshare',
      [
        '--net',
        'sh',
        '-c',
        'ip link set lo up; exec "$@"',
        'sh',
        process.execPath,
        '--input-type=module',
        '-e',
        script,
      ],
      { encoding: 'utf8' },
    );
    t.equal(stdout, 'this user is not allowed to listen on port 80\n', stderr);
  },
);

const PAGE = path.resolve(import.meta.dirname, '../../../../../dist/share/man/man1/hostwire.1');

const lacks = (command: string) =>
  spawnSync(command, ['-V'], { stdio: 'ignore' }).error !== undefined && `no ${command}`;

t.test(
  '[9.man] the page names every command and option, without a warning of groff',
  { skip: lacks('man') || lacks('groff') },
  async (t) => {
    const env = { ...process.env, MANWIDTH: '100', MANROFFSEQ: '', LC_ALL: 'C.UTF-8' };
    const args = ['--warnings', '--encoding=UTF-8', '--local-file', PAGE];
    const { status, stdout, stderr } = spawnSync('man', args, { env, encoding: 'utf8' });
    t.equal(status, 0);
    t.equal(stderr, '');
    const words = [...COMMANDS, ...OPTION_LIST.map(({ names }) => names.join(', '))];
    for (const word of words) t.match(stdout, new RegExp(`^ {5}${word}(?: |$)`, 'm'), word);
    for (const shown of [
      '"keygen --tls [--out FOLDER] [NAME…]"',
      '(~/.config/hostwire if',
      '%ProgramData%\\hostwire',
    ])
      t.match(stdout.replaceAll(/\s+/g, ' '), shown);
    const name = execFileSync('lexgrog', [PAGE], { encoding: 'utf8' });
    t.match(name, 'hostwire - streams this computer', 'apropos finds it');
  },
);

t.test('[9.man] mandoc has no warning', { skip: lacks('mandoc') }, async (t) => {
  const { status, stdout } = spawnSync('mandoc', ['-T', 'lint', '-W', 'warning', PAGE], { encoding: 'utf8' });
  t.equal(status, 0);
  t.equal(stdout, '');
});
