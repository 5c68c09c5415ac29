/** Payloads of captured machines, by their schemas. */
import type { Test } from 'tap';
import { openapiDocument } from '#src/api/openapi.js';
import type { COMPONENTS } from '#src/api/schemas.js';
import { ask } from '../helpers/clients/http.ts';
import { openFixture } from '../helpers/machine/fixtures.ts';
import { startHere } from '../helpers/service/service.ts';
import { Openapi } from './openapi.ts';

export const openapi = new Openapi(openapiDocument('0'));

export type Name = keyof typeof COMPONENTS;

/** The targets that can be requested, with the schema of each answer. */
export const TARGETS: readonly (readonly [target: string, name: Name])[] = [
  ['/api/usage', 'Usage'],
  ['/api/usage?fields=gpu,memory', 'Usage'],
  ['/api/usage?fields=none', 'Usage'],
  ['/api/usage?detail=1', 'UsageDetail'],
  ['/api/usage?detail=1&fields=disks', 'UsageDetail'],
  ['/api/system', 'System'],
  ['/api/system?detail=1', 'SystemDetail'],
  ['/api/media/status', 'Media'],
  ['/api/media/status?detail=1', 'MediaDetail'],
  ['/api/pw', 'Power'],
];

/** Checks the answers of a service on the captured machine `name`. */
export async function checkMachine(t: Test, name: string): Promise<void> {
  const machine = openFixture(t, name);
  const service = await startHere(machine.openHost());
  const targets = TARGETS.filter(([target]) => /^\/api\/(usage|system)/.test(target));
  const answers = await Promise.all(targets.map(([target]) => ask(service.port, target)));
  for (const [i, [target, schema]] of targets.entries()) {
    const value = JSON.parse(answers[i]?.body.toString() ?? '');
    t.equal(openapi.judgeNamed(schema, value), undefined, `${name}: ${target} is a ${schema}`);
  }
  await service.stop();
}
