/** The log of a service without a console. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { AuditFile, openLogFile } from '#src/log/file.js';

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
