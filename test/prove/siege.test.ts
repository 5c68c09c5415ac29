/**
 * The siege of 20 minutes: without authentication, with it, and under sanitizers. Writes the section "The siege" of
 * docs/evidence/security-proof.md.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { isNodeEngine } from '../helpers/service/engine.ts';
import { renderSiege, withSiege } from '../siege/page.ts';
import { printTable, runSieges, SECONDS, SEED, summariesOf } from '../siege/run.ts';
import { KEYED, OPEN, SANITIZED } from '../siege/service.ts';

const PAGE = path.resolve(import.meta.dirname, '../../../../docs/evidence/security-proof.md');
const FORMS = [OPEN, KEYED, SANITIZED];
const FULL_SECONDS = 1200;
const isFull = Number.isNaN(SECONDS);
const seconds = isFull ? FULL_SECONDS : SECONDS;

t.setTimeout(3_600_000);
const sieges = await runSieges(t, FORMS, seconds);
const summaries = summariesOf(sieges);
printTable(t, summaries);

// The page describes the service with its default engine; the figures of Node's are a row of docs/evidence/proofs.md.
if (!isNodeEngine)
  t.test(
    'the section of the page is written',
    { skip: !isFull && 'a short siege is no proof' },
    async (t) => {
      if (!t.equal(sieges.length, FORMS.length, 'all forms were besieged')) return;
      const when = new Date().toISOString().slice(0, 10);
      const section = renderSiege({ sieges, summaries, minutes: seconds / 60, seed: SEED, when });
      writeFileSync(PAGE, withSiege(readFileSync(PAGE, 'utf8'), section));
    },
  );
