/** The service loads only the wire's schemas of requests. The rest is for types, tests and documents. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';

const BUILT = path.resolve(import.meta.dirname, '../../src');

/** Everything that is loaded with `file`, which is below build/ts/src/. */
function loadedWith(file: string, seen = new Set<string>()): ReadonlySet<string> {
  if (seen.has(file)) return seen;
  seen.add(file);
  const text = readFileSync(path.join(BUILT, file), 'utf8');
  for (const [, name = ''] of text.matchAll(/(?:\bfrom|\bimport\(?)\s*['"](\.[^'"]+)['"]/g))
    loadedWith(path.posix.join(path.posix.dirname(file), name), seen);
  return seen;
}

t.test('the service loads the schemas of requests, and no others', async (t) => {
  const loaded = [...loadedWith('main.js')];
  t.ok(loaded.includes('service.js'), `${loaded.length} files`);
  t.strictSame(
    loaded.filter((file) => file.startsWith('api/')),
    [],
  );
  const names = [
    'closing-reasons',
    'history-requests',
    'host-states',
    'hub-operations',
    'hub-socket',
    'inspect',
    'meaning',
    'operations',
    'requests',
    // The names of series, for watch rules.
    'series',
    'severities',
    'socket',
  ];
  const expected = names.map((name) => `wire/${name}.js`);
  const wire = loaded.filter((file) => file.startsWith('wire/'));
  t.ok(wire.length >= 2, wire.join(', '));
  t.strictSame(
    wire.filter((file) => !expected.includes(file)),
    [],
  );
  const all = readdirSync(path.join(BUILT, 'wire')).filter((file) => file.endsWith('.js'));
  t.ok(all.length > 8, 'there are more of them');
});
