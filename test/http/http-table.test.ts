/** Each form of a request has the outcome in http-table.md on this engine, and what was done is answered. */
import { readFileSync } from 'node:fs';
import t from 'tap';
import { isNodeEngine } from '../helpers/service/engine.ts';
import { cellOf, readTable } from './http-table.ts';
import { FORMS, startTable } from './request-forms.ts';

const rows = readTable(readFileSync('test/http/http-table.md', 'utf8'));
const table = await startTable();
t.teardown(() => table.stop());

t.test('[1.http-table] the page has a row for each form, in this order', async (t) => {
  t.strictSame(
    rows.map(([section, name]) => [section, name]),
    FORMS.map(({ section, name }) => [section, name]),
  );
});

for (const [at, form] of FORMS.entries())
  t.test(`[1.http-table] ${form.section}: ${form.name}`, async (t) => {
    const [, , uws, node] = rows[at] ?? [];
    const outcome = await table.treat(form);
    t.equal(
      cellOf(outcome),
      isNodeEngine ? node : uws,
      'as in http-table.md; node scripts/http-table.mjs writes it',
    );
    t.equal(outcome.answered, outcome.done, 'what was done is answered, what was refused is not done');
  });
