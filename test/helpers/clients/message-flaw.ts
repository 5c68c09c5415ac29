/** Judges messages of /api/ws by the schemas of src/wire. */
import * as v from 'valibot';
import { HUB_EVENTS } from '#src/wire/hub-events.js';
import { messageId } from '#src/wire/socket.js';
import { EVENTS } from '#src/wire/socket-events.js';
import type { Told } from './talk.ts';

const FRAME = { type: v.string(), id: v.exactOptional(messageId) };
const HUB_FRAME = { ...FRAME, host: v.exactOptional(v.string()) };

const schemasOf = (events: object) => new Map<string, v.GenericSchema>(Object.entries(events));
const OF_SERVICE = schemasOf(EVENTS);
const OF_HUB = schemasOf(HUB_EVENTS);

/** Returns what is wrong with a message of a service, or of a hub. */
export function flawOf({ text, type }: Told, isOfHub = false): string | undefined {
  const data = (isOfHub ? OF_HUB : OF_SERVICE).get(type);
  if (data === undefined) return `${type} is no event`;
  const frame = v.strictObject({ ...(isOfHub ? HUB_FRAME : FRAME), data });
  const { issues } = v.safeParse(frame, JSON.parse(text));
  return issues === undefined ? undefined : `${text.slice(0, 300)}: ${v.summarize(issues)}`;
}
