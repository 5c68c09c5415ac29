/** Whether a command works here, and why not. */
import * as v from 'valibot';
import { means } from './meaning.ts';
import { known, type Shape } from './quantities.ts';

export const capability = v.strictObject({
  enabled: means(v.boolean(), 'Its feature flag is on.'),
  supported: means(v.boolean(), 'The machine can do it.'),
  reason: means(known(v.string()), 'Why it is not supported, or only in part; otherwise null.'),
});
export type Capability = Shape<typeof capability>;
