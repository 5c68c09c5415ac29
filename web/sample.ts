/** What the page is told, in the form that `detail=1` has. */
import type { Section, StatsPayload } from '../src/client/client.ts';
import type { Capability } from '../src/wire/capability.ts';
import type { SystemDetail } from '../src/wire/system.ts';

export type Sample = StatsPayload<Section, true>;
export type System = SystemDetail;
export type { Capability };

/** A section's own shape: it may be absent from a sample. */
export type Detail<S extends Section> = NonNullable<Sample[S]>;
