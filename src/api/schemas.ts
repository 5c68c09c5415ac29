/** Schemas that the API documents refer to by name, and the conversion of any schema to JSON Schema. */
import { toJsonSchema, toJsonSchemaDefs } from '@valibot/to-json-schema';
import type * as v from 'valibot';
import { capability } from '../wire/capability.ts';
import { DETAIL_COMPONENTS } from '../wire/details.ts';
import { errorPayload } from '../wire/errors.ts';
import { machineEvent, mute } from '../wire/events.ts';
import { historyEvent, historyMark, processUse, processUses } from '../wire/history.ts';
import { UNIT_KEY } from '../wire/meaning.ts';
import { mediaCommand, mediaDetail, mediaResult, mediaStatus } from '../wire/media.ts';
import { powerCapabilities, powerPayload, powerResult } from '../wire/power.ts';
import {
  processDetailRow,
  processDetailsPayload,
  processFeedback,
  processGroup,
  processListPayload,
  processRow,
  processShare,
  processSummary,
} from '../wire/process.ts';
import { muteRequest, processKillRequest, processLaunchRequest, wakeRequest } from '../wire/requests.ts';
import {
  cpuDetail,
  cpuStats,
  diskDetail,
  diskStats,
  gpuDetail,
  gpuDevice,
  gpuStats,
  interfaceDetail,
  memoryDetail,
  memoryStats,
  networkDetail,
  networkStats,
} from '../wire/sample.ts';
import { system, systemDetail, systemInterface } from '../wire/system.ts';
import { usage, usageDetail } from '../wire/usage.ts';
import { wakeFeedback, wakeOnLan, wakeTarget } from '../wire/wake.ts';

/** A part of a document. */
export type Json = Readonly<Record<string, unknown>>;

export const COMPONENTS = {
  Error: errorPayload,
  Usage: usage,
  UsageDetail: usageDetail,
  Cpu: cpuStats,
  CpuDetail: cpuDetail,
  Memory: memoryStats,
  MemoryDetail: memoryDetail,
  Gpu: gpuStats,
  GpuDetail: gpuDetail,
  GpuDevice: gpuDevice,
  Disk: diskStats,
  DiskDetail: diskDetail,
  Network: networkStats,
  NetworkDetail: networkDetail,
  Interface: interfaceDetail,
  ...DETAIL_COMPONENTS,
  System: system,
  SystemDetail: systemDetail,
  SystemInterface: systemInterface,
  WakeOnLan: wakeOnLan,
  Capability: capability,
  HistoryMark: historyMark,
  HistoryEvent: historyEvent,
  ProcessUses: processUses,
  ProcessUse: processUse,
  Event: machineEvent,
  MuteRequest: muteRequest,
  Mute: mute,
  PowerCapabilities: powerCapabilities,
  Power: powerPayload,
  PowerResult: powerResult,
  Media: mediaStatus,
  MediaDetail: mediaDetail,
  MediaResult: mediaResult,
  MediaCommand: mediaCommand,
  ProcessShare: processShare,
  ProcessSummary: processSummary,
  ProcessGroup: processGroup,
  ProcessRow: processRow,
  ProcessDetailRow: processDetailRow,
  ProcessList: processListPayload,
  ProcessDetails: processDetailsPayload,
  ProcessKill: processKillRequest,
  ProcessFeedback: processFeedback,
  ProcessLaunch: processLaunchRequest,
  Wake: wakeRequest,
  WakeTarget: wakeTarget,
  WakeFeedback: wakeFeedback,
} as const;

/** Writes schemas as JSON Schema. */
export interface SchemaWriter {
  /** By reference where the schema has a name. */
  readonly write: (schema: v.GenericSchema) => Json;
  /** The named schemas that were written so far, and those that they refer to. */
  readonly used: () => Json;
}

const PREFIX = '#/components/schemas/';

/**
 * Returns `part` with each unit at the end of its description, because readers of JSON Schema know no key for units,
 * and with the length of each tuple as a maximum: some linters take `items: false` for a missing `items`.
 */
function forReaders(part: unknown): unknown {
  if (Array.isArray(part)) return part.map(forReaders);
  if (typeof part !== 'object' || part === null) return part;
  const { [UNIT_KEY]: unit, ...rest } = part as Json;
  const entries = Object.entries(rest).map(([key, value]): [string, unknown] => [key, forReaders(value)]);
  const written: Record<string, unknown> = Object.fromEntries(entries);
  const { prefixItems, items } = written;
  if (Array.isArray(prefixItems) && items === false)
    Object.assign(written, { items: prefixItems.at(-1), maxItems: prefixItems.length });
  if (typeof written['properties'] === 'object')
    written['properties'] = withoutDefaults(written['properties']);
  if (typeof unit !== 'string') return written;
  const { description } = rest;
  return { ...written, description: `${description === undefined ? '' : `${description} `}Unit: ${unit}.` };
}

/** Moves defaults into the description: client generators assume that a property with a default is always present. */
function withoutDefaults(properties: unknown): Json {
  return Object.fromEntries(
    // The properties of a schema are schemas.
    Object.entries(properties as Readonly<Record<string, Json>>).map(([name, property]) => {
      const { default: value, ...rest } = property;
      if (value === undefined) return [name, property];
      const description = `${String(rest['description'] ?? '')} Default: ${JSON.stringify(value)}.`.trim();
      return [name, { ...rest, description }];
    }),
  );
}

/** `keepsUnits`: as the key UNIT_KEY, for docs/api.md. */
export function schemaWriter(keepsUnits = false): SchemaWriter {
  const config = {
    target: 'draft-2020-12' as const,
    // Rules between fields, which JSON Schema expresses differently or not at all.
    ignoreActions: ['check', 'excludes', 'finite'],
    overrideRef: ({ referenceId }: { readonly referenceId: string }) => `${PREFIX}${referenceId}`,
  };
  // Both halves of the writer return objects, which remain objects.
  const finished = (part: Json) => (keepsUnits ? part : forReaders(part)) as Json;
  const named = finished(toJsonSchemaDefs(COMPONENTS, config));
  const used = new Set<string>();
  const note = (part: unknown): void => {
    for (const [, name = ''] of JSON.stringify(part).matchAll(/"\$ref":"#\/components\/schemas\/(\w+)"/g)) {
      if (used.has(name)) continue;
      used.add(name);
      note(named[name]);
    }
  };
  return {
    write(schema) {
      // The dialect appears once in the document, and the named schemas beside it.
      const {
        $schema: _,
        $defs: __,
        ...written
      } = toJsonSchema(schema, { ...config, definitions: COMPONENTS });
      note(written);
      return finished(written);
    },
    used: () => Object.fromEntries(Object.entries(named).filter(([name]) => used.has(name))),
  };
}
