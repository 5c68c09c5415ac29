// Runs test files with tap and writes TAP to standard output:
//   node scripts/tap.mjs PLAN.json    { "jobs", "seconds", "runs": [{ "name", "files", "after" }] }
// Each run has a process of its own, with all of its files. One with `after` begins when the run of that name has ended.
// Not `tap run`: its hooks for TypeScript, mocks and process records are loaded into every test and every service that a
// test starts, and nothing here uses them.
import { readFileSync } from 'node:fs';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { t } from 'tap';

const { jobs, seconds, runs } = JSON.parse(readFileSync(process.argv[2], 'utf8'));
// tap's limit in each file, which is 30 s otherwise.
process.env.TAP_TIMEOUT = String(seconds);
t.jobs = jobs;
// The limit is per run; all of them together have none.
t.setTimeout(0);
// tap's spawn puts hooks that record processes into NODE_OPTIONS; they also lose V8's counts of coverage.
const command = ['-u', 'NODE_OPTIONS', process.execPath];
const GROUP = fileURLToPath(new URL('tap-group.mjs', import.meta.url));

function start({ name, files }) {
  const options = { buffered: true, timeout: seconds * 1000 };
  const args = files.length === 1 ? files : [GROUP, ...files];
  const ended = t.spawn('env', [...command, ...args], options, name);
  ended.then((result) => {
    if (result?.ok === false) process.stderr.write(`not ok: ${name}\n`);
  });
  return ended;
}

const ends = new Map();
for (const run of runs) {
  const before = ends.get(run.after);
  if (before === undefined) ends.set(run.name, start(run));
  else before.then(() => start(run));
}
