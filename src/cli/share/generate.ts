/**
 * Writes the completions and the manual page below dist/share/, as they are installed below /usr/local/share/, when the
 * service is built; the service itself loads nothing of this folder.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { PROGRAM_URL } from '../../program-url.ts';
import { formatBash } from './bash.ts';
import { formatFish } from './fish.ts';
import { formatMan } from './man.ts';
import { formatZsh } from './zsh.ts';

const { version } = JSON.parse(readFileSync(new URL('../package.json', PROGRAM_URL), 'utf8')) as {
  readonly version: string;
};

/** Returns the commit's date, so that the same commit gives the same page. */
function dateOfBuild(): string {
  const file = new URL('commit.txt', PROGRAM_URL);
  const [date] = /\d{4}-\d\d-\d\d/.exec(existsSync(file) ? readFileSync(file, 'utf8') : '') ?? [];
  return date ?? '1970-01-01';
}

for (const [name, text] of Object.entries({
  'bash-completion/completions/hostwire': formatBash(),
  'zsh/site-functions/_hostwire': formatZsh(),
  'fish/vendor_completions.d/hostwire.fish': formatFish(),
  'man/man1/hostwire.1': formatMan(version, dateOfBuild()),
})) {
  const file = new URL(`share/${name}`, PROGRAM_URL);
  mkdirSync(new URL('.', file), { recursive: true });
  writeFileSync(file, text);
}
