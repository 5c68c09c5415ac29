/**
 * Documentation of an operation beside its row in wire/operations.ts. Only types: each OperationDocs stands beside the
 * payloads that it names, and api/operations.ts collects them.
 */
import type * as v from 'valibot';
import type { ErrorCode } from '../errors.ts';
import type { OPERATIONS, OperationId } from './operations.ts';

/** Parameters shared by several operations, and those of paths; api/parameters.ts describes them. */
export type ParameterName =
  | 'fields'
  | 'detail'
  | 'name'
  | 'id'
  | 'label'
  | 'state'
  | 'host'
  | 'limit'
  | 'after';

/** Headers of some successful answers only; api/responses.ts describes them. */
export type AnswerHeader = 'X-Ignored-Fields' | 'X-Media-Delivered' | 'ETag';

/** The request that docs/api.md shows. A test sends it. */
export interface Example {
  /** The typed path: with a query, and without the `*` of the row's path. Default: the path itself. */
  readonly target?: string;
  readonly body?: Readonly<Record<string, unknown>>;
  /** Options of curl. */
  readonly options?: string;
}

export interface OperationDocs {
  readonly summary: string;
  /** Sentences in Markdown, for the OpenAPI document and docs/api.md alike. */
  readonly description?: string;
  readonly parameters?: readonly ParameterName[];
  /** Its entries are parameters of the query. */
  readonly query?: { readonly entries: v.ObjectEntries };
  /** The schema of a JSON body. */
  readonly body?: v.GenericSchema;
  /** The payloads of a 200, the one with `detail=1` second. None: a JSON object of no documented shape. */
  readonly payloads: readonly v.GenericSchema[];
  /** The answer is 101, for a request with an upgrade. */
  readonly isUpgrade?: true;
  /** The answer is a picture of one of these types instead of JSON. */
  readonly imageTypes?: readonly string[];
  /** The answer is text of one of these types instead of JSON. */
  readonly textTypes?: readonly string[];
  /** The answer is a stream of events, each with a payload. */
  readonly isStream?: true;
  /** An answer may be longer than this, which is the most that passes through a broker. */
  readonly maxThroughBroker?: string;
  readonly headers?: readonly AnswerHeader[];
  /** Codes beyond those of every operation with its method and body. */
  readonly errors: readonly ErrorCode[];
  readonly example?: Example;
}

type Body<Id extends OperationId> = (typeof OPERATIONS)[Id] extends { readonly body: 'json' }
  ? { readonly body: v.GenericSchema }
  : { readonly body?: never };

/** One OperationDocs per operation; with a body if the row says that it is read as JSON. */
export type DocsOf<Ids extends OperationId> = { readonly [Id in Ids]: OperationDocs & Body<Id> };
