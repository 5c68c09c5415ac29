// Runs test files with tap, each in a process of its own, and writes TAP to standard output:
//   node scripts/tap.mjs JOBS SECONDS FILE.test.js…
// Not `tap run`: its hooks for TypeScript, mocks and process records are loaded into every test and every service that a
// test starts, and nothing here uses them.
import process from 'node:process';
import { t } from 'tap';

const [jobs, seconds, ...files] = process.argv.slice(2);
// tap's limit in each file, which is 30 s otherwise.
process.env.TAP_TIMEOUT = seconds;
t.jobs = Number(jobs);
// The limit is per file; the run as a whole has none.
t.setTimeout(0);
// tap's spawn puts hooks that record processes into NODE_OPTIONS; they also lose V8's counts of coverage.
const command = ['-u', 'NODE_OPTIONS', process.execPath];
for (const file of files) {
  const options = { buffered: true, timeout: Number(seconds) * 1000 };
  const ended = t.spawn('env', [...command, file], options, file);
  ended.then((result) => {
    if (result?.ok === false) process.stderr.write(`not ok: ${file}\n`);
  });
}
