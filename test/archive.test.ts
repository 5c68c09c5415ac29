/** The archive that a captured machine is kept in: what is unpacked is what was packed, byte for byte. */
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import t from 'tap';

const ROOT = path.resolve(import.meta.dirname, '../../..');
const { pack, unpack } = (await import(path.join(ROOT, 'scripts/fixtures.mjs'))) as {
  readonly pack: (folder: string, archive: string) => readonly string[];
  readonly unpack: (archive: string, folder: string) => void;
};

const FILES: Readonly<Record<string, Buffer>> = {
  'before/proc/stat': Buffer.from('cpu 1 2 3\ncpu0 1 2 3\n'),
  'before/proc/empty': Buffer.alloc(0),
  'before/proc/newline': Buffer.from('\n'),
  'before/proc/unended': Buffer.from('one\ntwo'),
  'before/proc/like-an-entry': Buffer.from('Path: before/proc/stat\nLines: 2\n'),
  'before/proc/not-utf8': Buffer.from([0x2f, 0xff, 0xfe, 0x0d, 0x0a]),
  'before/sys/a name with spaces': Buffer.from('x\n'),
  'after/proc/stat': Buffer.from('cpu 2 3 4\n'),
};

t.test('files, modes and links come back as they were', async (t) => {
  const folder = t.testdir();
  for (const [name, bytes] of Object.entries(FILES)) {
    mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
    writeFileSync(path.join(folder, name), bytes);
  }
  chmodSync(path.join(folder, 'before/proc/stat'), 0o755);
  symlinkSync('../proc/stat', path.join(folder, 'before/sys/link'));
  writeFileSync(path.join(folder, 'before/sys/binary'), Buffer.from([1, 0, 2]));
  const archive = path.join(folder, 'files.txt');
  t.strictSame(pack(folder, archive), ['before/sys/binary'], 'what holds NUL is left out');
  const out = path.join(folder, 'out');
  unpack(archive, out);
  for (const [name, bytes] of Object.entries(FILES))
    t.ok(readFileSync(path.join(out, name)).equals(bytes), name);
  t.equal(readlinkSync(path.join(out, 'before/sys/link')), '../proc/stat');
  t.equal(lstatSync(path.join(out, 'before/proc/stat')).mode & 0o777, 0o755);
});

t.test('an archive that is none is not taken for one', async (t) => {
  const folder = t.testdir({ 'files.txt': 'Path: a\nLines: 1\nx\nand more\n' });
  t.throws(() => unpack(path.join(folder, 'files.txt'), folder), /files\.txt:4: no header "and more"/);
});
