/** Where the log goes: a standard stream whose reader is slow or gone, and a file. */

import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { AuditFile, openLogFile } from '#src/log/file.js';
import { Output } from '#src/log/output.js';

function setUp() {
  let written = '';
  const state = { room: Number.POSITIVE_INFINITY, isBroken: false };
  const retries: (() => void)[] = [];
  const output = new Output({
    take(bytes) {
      if (state.isBroken) throw new Error('EPIPE');
      const taken = Math.min(state.room, bytes.length);
      state.room -= taken;
      written += bytes.toString('utf8', 0, taken);
      return taken;
    },
    describeLost: (lines) => `lost ${lines}\n`,
    later: (act) => retries.push(act),
  });
  return { output, state, retries, written: () => written };
}

t.test('lines that do not fit are kept, and follow in their order', async (t) => {
  const { output, state, retries, written } = setUp();
  state.room = 3;
  output.write('first\n');
  output.write('second\n');
  t.equal(written(), 'fir');
  t.equal(retries.length, 1, 'one retry for all');
  state.room = 5;
  retries.pop()?.();
  t.equal(written(), 'first\nse');
  state.room = Number.POSITIVE_INFINITY;
  output.write('third\n');
  t.equal(written(), 'first\nsecond\nthird\n');
  t.equal(output.lost, 0);
});

t.test('lines beyond 64 KiB are lost, and counted where they are missing', async (t) => {
  const { output, state, written } = setUp();
  state.room = 0;
  const line = `${'x'.repeat(1023)}\n`;
  for (let i = 0; i < 100; i++) output.write(line);
  t.equal(output.lost, 36);
  state.room = Number.POSITIVE_INFINITY;
  output.write('last\n');
  t.equal(written(), `${line.repeat(64)}lost 36\nlast\n`);
});

t.test('a stream that cannot be written never throws, and reports what it lost when it can be', async (t) => {
  const { output, state, written } = setUp();
  state.isBroken = true;
  for (let i = 0; i < 5; i++) output.write(`${i}\n`);
  t.equal(output.lost, 5);
  state.isBroken = false;
  output.write('again\n');
  t.equal(written(), 'lost 5\nagain\n');
  state.isBroken = true;
  output.write('no\n');
  output.write('no\n');
  state.isBroken = false;
  output.write('again\n');
  t.equal(written(), 'lost 5\nagain\nlost 2\nagain\n', 'a report that was lost is counted with its lines');
});

t.test('a line that was cut is ended before the next', async (t) => {
  const { output, state, written } = setUp();
  state.room = 2;
  output.write('abc\n');
  output.write('kept\n');
  state.isBroken = true;
  output.write('lost\n');
  state.isBroken = false;
  state.room = Number.POSITIVE_INFINITY;
  output.write('next\n');
  t.equal(written(), 'ab\nlost 3\nnext\n');
});

const textOf = (file: string) => readFileSync(file, 'utf8');

t.test(
  '[9.service-log] each line with its time, behind what is there, in a folder that is made',
  async (t) => {
    const file = path.join(t.testdir(), 'hostwire/log/service.log');
    openLogFile(file)('first\n');
    openLogFile(file)('second\n');
    t.match(textOf(file), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z first\n\d{4}\S+Z second\n$/);
  },
);

t.test('[9.service-log] it never grows beyond its bound, and keeps one file of before', async (t) => {
  const file = path.join(t.testdir(), 'service.log');
  const most = 1000;
  writeFileSync(file, 'of an earlier start\n');
  const write = openLogFile(file, most);
  for (let i = 0; i < 200; i++) {
    write(`line ${i} ${'ü'.repeat(i % 50)}\n`);
    t.ok(readFileSync(file).byteLength <= most);
    if (existsSync(`${file}.old`)) t.ok(readFileSync(`${file}.old`).byteLength <= most);
  }
  const kept = textOf(`${file}.old`) + textOf(file);
  t.match(kept, /line 199 /);
  t.notMatch(kept, /earlier start|line 0 /);
  const numbers = [...kept.matchAll(/line (\d+)/g)].map(([, digits]) => Number(digits));
  t.same(
    numbers,
    numbers.map((_, i) => (numbers[0] ?? 0) + i),
    'no line is missing between the two',
  );
});

t.test('[9.service-log] it throws nothing where nothing can be written', async (t) => {
  const folder = t.testdir({ plain: 'a file' });
  t.doesNotThrow(() => openLogFile(path.join(folder, 'plain/service.log'))('x\n'));
  // Where the old one can't go the bound still holds.
  const file = path.join(folder, 'service.log');
  mkdirSync(path.join(`${file}.old`, 'taken'), { recursive: true });
  const write = openLogFile(file, 100);
  for (let i = 0; i < 20; i++) write('0123456789012345678901234567890123456789\n');
  t.ok(readFileSync(file).byteLength <= 100);
});

t.test('[9.audit] a place that takes no lines is reported once, and again after each look', async (t) => {
  const folder = t.testdir({ real: '' });
  const at = (name: string) => path.join(folder, name);
  symlinkSync(at('real'), at('link'));
  spawnSync('mkfifo', [at('pipe')]);
  for (const [name, problem] of [
    ['gone/audit.log', /^log\.file cannot be opened, its lines go to the log: ENOENT/],
    ['link', /^log\.file cannot be opened, its lines go to the log: ELOOP/],
    // A FIFO without a reader, for which the service would wait.
    ['pipe', /^log\.file cannot be opened, its lines go to the log: ENXIO/],
    ['.', /^log\.file cannot be opened, its lines go to the log: EISDIR/],
  ] as const) {
    const problems: string[] = [];
    const file = new AuditFile(at(name), (text) => problems.push(text));
    t.strictSame([file.write('1\n'), file.write('2\n')], [false, false], name);
    t.match(problems, [problem]);
    file.reopen();
    t.match(problems, [problem, problem]);
  }
  t.equal(textOf(at('real')), '', 'nothing behind the link');
});

t.test('[9.audit] it is appended to, and taken up again once there is room for it', async (t) => {
  const folder = t.testdir({ 'audit.log': 'before\n', taken: {} });
  const problems: string[] = [];
  const file = new AuditFile(path.join(folder, 'audit.log'), (text) => problems.push(text));
  t.ok(file.write('1\n'));
  t.equal(textOf(path.join(folder, 'audit.log')), 'before\n1\n');
  const other = new AuditFile(path.join(folder, 'taken'), (text) => problems.push(text));
  t.notOk(other.write('2\n'));
  rmSync(path.join(folder, 'taken'), { recursive: true });
  other.reopen();
  t.ok(other.write('3\n'));
  t.equal(textOf(path.join(folder, 'taken')), '3\n');
  t.equal(problems.length, 1);
});
