/**
 * Every limit of the sources is in a list, with what it is counted by: one that all clients share says why none of them can
 * use it up. A new limit without a row fails, and so does a row without a limit.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { findLimits } from './limits/found.ts';

const LIST = path.resolve(import.meta.dirname, '../../../test/limits/limits.txt');
const COUNTED_BY = new Set(['value', 'connection', 'address', 'network', 'key', 'machine', 'own', 'all']);

interface Row {
  readonly limit: string;
  readonly by: string;
  readonly beyond: string;
  readonly why: string | undefined;
}

const limitOf = (file: string, name: string, value: number | string) => `${file} | ${name} | ${value}`;

const rows: readonly Row[] = readFileSync(LIST, 'utf8')
  .split('\n')
  .filter((line) => line !== '' && !line.startsWith('#'))
  .map((line) => {
    const [file = '', name = '', value = '', by = '', beyond = '', why] = line.split(' | ');
    return { limit: limitOf(file, name, value), by, beyond, why };
  });

t.test('each limit of src/ has a row, and each row a limit', async (t) => {
  const found = findLimits().map(({ file, name, value }) => limitOf(file, name, value));
  const listed = rows.map(({ limit }) => limit);
  t.strictSame(
    found.filter((limit) => !listed.includes(limit)),
    [],
    'limits without a row in test/limits/limits.txt, as a row begins',
  );
  t.strictSame(
    listed.filter((limit) => !found.includes(limit)),
    [],
    'rows whose limit is not in src/, or has another value',
  );
  t.equal(new Set(listed).size, listed.length, 'one row for each');
});

t.test('each says what it is counted by, and what happens beyond it', async (t) => {
  for (const { limit, by, beyond } of rows) {
    t.ok(COUNTED_BY.has(by), `${limit}: ${by}`);
    t.ok(beyond.length > 2, limit);
  }
});

t.test(
  'a limit that all clients share says why one address or clients without the key cannot use it up',
  async (t) => {
    for (const { limit, by, why } of rows) t.equal(why !== undefined && why.length > 10, by === 'all', limit);
  },
);
