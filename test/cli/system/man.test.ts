/** The manual page that the build makes of the table of commands and options. */
import { execFileSync, spawnSync } from 'node:child_process';
import path from 'node:path';
import t from 'tap';
import { COMMANDS, OPTION_LIST } from '#src/cli/words.js';

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
