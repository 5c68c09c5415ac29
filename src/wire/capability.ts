/** Whether something can be done here, and why not. */
import * as v from 'valibot';
import { known, type Shape } from './quantities.ts';

export const capability = v.strictObject({
  enabled: v.pipe(v.boolean(), v.description('Its feature flag is on.')),
  supported: v.pipe(v.boolean(), v.description('The machine can do it.')),
  reason: v.pipe(known(v.string()), v.description('Why it is not supported; null where it is.')),
});
export type Capability = Shape<typeof capability>;
