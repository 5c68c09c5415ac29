/** Tens of thousands of requests, judged by the service and by an oracle written independently from the specification. */
import t from 'tap';
import { condense } from '#src/access/condense.js';
import { type AccessPolicy, compileAccess, decideAccess } from '#src/access/decide.js';
import { corsHeaders } from '#src/access/origins.js';
import type { Decision } from '#src/access/request.js';
import { createRandom, repetitions, SHARE } from '../helpers/random.ts';
import {
  type Case,
  DIMENSION_NAMES,
  neighboursOf,
  randomCase,
  requestOfCase,
  settingsOfCase,
} from './cases.ts';
import { numberOf, type Opinion, opinionOn, writtenOut } from './oracle.ts';
import { configOf, MACHINE_NAMES, verdictOf } from './setup.ts';

const policies = new Map<string, AccessPolicy>();

function policyOf(c: Case): AccessPolicy {
  const settings = settingsOfCase(c);
  const id = JSON.stringify(settings);
  let policy = policies.get(id);
  if (policy === undefined) {
    policy = compileAccess(configOf(settings), MACHINE_NAMES);
    policies.set(id, policy);
  }
  return policy;
}

function decide(c: Case): Decision {
  const request = requestOfCase(c);
  const decision = decideAccess(policyOf(c), request);
  // The part of an open stream's request that is kept must yield the same decision after a reload.
  const again = decideAccess(policyOf(c), condense(request));
  if (verdictOf(again) !== verdictOf(decision) || again.client !== decision.client)
    throw new Error(`condensed, it is ${verdictOf(again)}: ${JSON.stringify(c)}`);
  return decision;
}

function asOpinion(decision: Decision): Opinion {
  const number = decision.client === undefined ? undefined : numberOf(decision.client);
  const origin = corsHeaders(decision).find(([name]) => name === 'Access-Control-Allow-Origin')?.[1];
  return {
    verdict: verdictOf(decision),
    client: number === undefined ? undefined : writtenOut(number),
    cors: origin,
    isWrongKey: !decision.isAllowed && decision.isWrongKey,
  };
}

interface Difference {
  readonly case: Case;
  readonly decided: Opinion;
  readonly expected: Opinion;
}

/** At most three, so that a failure can be read. */
class Differences {
  readonly found: Difference[] = [];

  compare(c: Case, decision: Decision): void {
    const decided = asOpinion(decision);
    const expected = opinionOn(c);
    if (this.found.length < 3 && JSON.stringify(decided) !== JSON.stringify(expected)) {
      this.found.push({ case: c, decided, expected });
    }
  }
}

// Ten seconds of work; a busy machine may take many times as long.
t.setTimeout(280_000);

t.test(
  '1.matrix each refusal has a twin that passes, and the oracle agrees',
  { timeout: 240_000 },
  async (t) => {
    const seed = 20;
    const random = createRandom(seed);
    const count = repetitions(t, 300, seed);
    const differences = new Differences();
    const seen = new Set<string>();
    const refused = new Map<string, number>();
    const untwinned: Case[] = [];
    for (let bases = 0; bases < count; ) {
      const base = randomCase(random, 55);
      if (!decide(base).isAllowed) continue;
      bases += 1;
      for (const c of [base, ...neighboursOf(base)]) {
        seen.add(JSON.stringify(c));
        const decision = decide(c);
        differences.compare(c, decision);
        if (decision.isAllowed) continue;
        const verdict = verdictOf(decision);
        refused.set(verdict, (refused.get(verdict) ?? 0) + 1);
        // The base passes; it is the twin if it differs in one dimension only.
        if (DIMENSION_NAMES.filter((name) => c[name] !== base[name]).length !== 1) untwinned.push(c);
      }
    }
    t.same(differences.found, []);
    t.same(untwinned, []);
    t.ok(seen.size >= 20_000 * SHARE, `${seen.size} different cases`);
    for (const verdict of ['400', '401', '403', '403 host_not_allowed', '403 origin_not_allowed']) {
      const times = refused.get(verdict) ?? 0;
      t.ok(times >= 200 * SHARE, `${times} × ${verdict}`);
    }
  },
);

t.test('1.matrix the oracle agrees where everything varies together', { timeout: 240_000 }, async (t) => {
  const seed = 77;
  const random = createRandom(seed);
  const cases = repetitions(t, 30_000, seed);
  const differences = new Differences();
  const verdicts = new Map<string, number>();
  for (let count = 0; count < cases; count++) {
    const c = randomCase(random, count % 100);
    const decision = decide(c);
    differences.compare(c, decision);
    const verdict = verdictOf(decision);
    verdicts.set(verdict, (verdicts.get(verdict) ?? 0) + 1);
  }
  t.same(differences.found, []);
  for (const verdict of [
    'keyed',
    'keyless',
    'preflight',
    '400',
    '401',
    '403',
    '403 host_not_allowed',
    '403 origin_not_allowed',
  ]) {
    const times = verdicts.get(verdict) ?? 0;
    t.ok(times >= 100 * SHARE, `${times} × ${verdict}`);
  }
});
