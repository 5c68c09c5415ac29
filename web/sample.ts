/** The type of a sample on this page: as with `detail=1`. */
import type { Section, StatsPayload } from '../src/client/client.ts';
import type { Capability } from '../src/wire/capability.ts';
import type { SystemDetail } from '../src/wire/system.ts';

export type Sample = StatsPayload<Section, true>;
export type System = SystemDetail;
export type { Capability };

/** The type of a section, which may be absent from a sample. */
export type Detail<S extends Section> = NonNullable<Sample[S]>;
