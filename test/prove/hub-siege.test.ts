/** Besieges a hub with 50 machines for 20 minutes and writes "The siege of a hub" in docs/evidence/security-proof.md. */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { isNodeEngine } from '../helpers/service/engine.ts';
import { renderSiege, withSiege } from '../siege/page.ts';
import { printTable, runSieges, SECONDS, SEED, summariesOf } from '../siege/run.ts';
import { HUB } from '../siege/service.ts';

const PAGE = path.resolve(import.meta.dirname, '../../../../docs/evidence/security-proof.md');
const FULL_SECONDS = 1200;
const isFull = Number.isNaN(SECONDS);
const seconds = isFull ? FULL_SECONDS : SECONDS;

t.setTimeout(3_600_000);
const sieges = await runSieges(t, [HUB], seconds);
const summaries = summariesOf(sieges);
printTable(t, summaries);

// The page has the hub as it is by default; the figures of Node's engine are a row of docs/evidence/proofs.md.
if (!isNodeEngine)
  t.test(
    'the section of the page is written',
    { skip: !isFull && 'a short siege is no proof' },
    async (t) => {
      if (!t.equal(sieges.length, 1, 'the hub was besieged')) return;
      const when = new Date().toISOString().slice(0, 10);
      const parts = { sieges, summaries, minutes: seconds / 60, seed: SEED, when, what: 'hub' } as const;
      writeFileSync(PAGE, withSiege(readFileSync(PAGE, 'utf8'), renderSiege(parts), 'hub'));
    },
  );
