/** What the OpenAPI document says of an operation beside the schemas. */
import type * as v from 'valibot';
import type { ErrorCode } from '../errors.ts';
import type { Parameter } from './parameters.ts';

export type Tag = 'stats' | 'power' | 'media' | 'processes' | 'service';

export interface Operation {
  readonly id: string;
  readonly tag: Tag;
  readonly summary: string;
  readonly description?: string;
  /** May change more than the rest. */
  readonly isExperimental?: true;
  /** No key is asked for. */
  readonly isPublic?: true;
  /** The flag of the configuration that allows it. */
  readonly feature?: string;
  readonly parameters?: readonly Parameter[];
  /** Its entries are parameters of the query. */
  readonly query?: { readonly entries: v.ObjectEntries };
  readonly body?: v.GenericSchema;
  /** A body of any kind is read and not looked at. */
  readonly ignoresBody?: true;
  /** What a 200 carries: with detail it is the second one. */
  readonly payloads: readonly v.GenericSchema[];
  /** Answered with 101 where it is asked for with an upgrade. */
  readonly upgrades?: true;
  /** Instead of JSON: bytes of one of these types. */
  readonly imageTypes?: readonly string[];
  /** Instead of JSON: events whose lines hold it. */
  readonly isStream?: true;
  readonly headers?: readonly ('X-Ignored-Fields' | 'X-Media-Delivered' | 'ETag')[];
  /** Those that not every operation has. */
  readonly errors: readonly ErrorCode[];
}

export type Methods = Readonly<Partial<Record<'GET' | 'POST', Operation>>>;

/** By the path of the route table. */
export type Operations = Readonly<Record<string, Methods>>;
