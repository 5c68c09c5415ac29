// Writes the tables of test/http/http-table.md, below its head, from what both HTTP engines do.
//   node scripts/http-table.mjs   (after a build of the tests; test/http/http-table.test.ts fails while the page is not so)
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const PAGE = path.join(root, 'test/http/http-table.md');
const MODULE = new URL('../build/ts/test/http/http-table.js', import.meta.url).href;

/** Returns the behaviour of `engine`, from a separate process, because a process of the tests has one engine. */
function outcomesOf(engine) {
  const program = `const { treatAll } = await import(${JSON.stringify(MODULE)});
    console.log(JSON.stringify(await treatAll()));`;
  const nowhere = 'unix:path=/dev/null/no-bus';
  const env = {
    ...process.env,
    HOSTWIRE_TEST_ENGINE: engine,
    DBUS_SYSTEM_BUS_ADDRESS: nowhere,
    DBUS_SESSION_BUS_ADDRESS: nowhere,
  };
  const args = ['--input-type=module', '-e', program];
  return JSON.parse(execFileSync(process.execPath, args, { cwd: root, env, encoding: 'utf8' }));
}

const { tableText } = await import(MODULE);
const [head] = readFileSync(PAGE, 'utf8').split(/^## /m);
writeFileSync(PAGE, `${head}${tableText(outcomesOf('uws'), outcomesOf('node'))}\n`);
