/**
 * Writes the manual page below dist/share/, as it is installed below /usr/local/share/, when the service is built; the
 * service itself loads nothing of this folder.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { PROGRAM_URL } from '../../program-url.ts';
import { formatMan } from './man.ts';

const { version } = JSON.parse(readFileSync(new URL('../package.json', PROGRAM_URL), 'utf8')) as {
  readonly version: string;
};

/** Returns the commit's date, so that the same commit gives the same page. */
function dateOfBuild(): string {
  const file = new URL('commit.txt', PROGRAM_URL);
  const [date] = /\d{4}-\d\d-\d\d/.exec(existsSync(file) ? readFileSync(file, 'utf8') : '') ?? [];
  return date ?? '1970-01-01';
}

const page = new URL('share/man/man1/hostwire.1', PROGRAM_URL);
mkdirSync(new URL('.', page), { recursive: true });
writeFileSync(page, formatMan(version, dateOfBuild()));
