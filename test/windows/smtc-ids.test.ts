/** The names of Windows' media interfaces, derived again from their parts. Needs no Windows. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';

const root = path.resolve(import.meta.dirname, '../../../..');
const header = readFileSync(path.join(root, 'native/windows/media/smtc_ids.h'), 'utf8');

/** `constexpr GUID NAME{0x…, …, {…}}` as text in the usual form. */
function idOf(name: string): string {
  const body = new RegExp(`GUID ${name}\\{([^;]*)\\};`).exec(header)?.[1] ?? '';
  const parts = [...body.matchAll(/0x[0-9a-f]+|\b0\b/g)].map(([text]) => Number(text));
  const hex = parts.map((part, i) => part.toString(16).padStart(i === 0 ? 8 : i < 3 ? 4 : 2, '0'));
  return [hex[0], hex[1], hex[2], hex.slice(3, 5).join(''), hex.slice(5).join('')].join('-');
}

/** Namespace of the names of parametrized types (Windows Runtime type system, "Parameterized type instance IDs"). */
const NAMESPACE = Buffer.from('11f47ad57b7342c0abae878b1e16adee', 'hex');

function derive(signature: string): string {
  const hash = createHash('sha1').update(NAMESPACE).update(signature).digest();
  hash[6] = ((hash[6] ?? 0) & 0x0f) | 0x50;
  hash[8] = ((hash[8] ?? 0) & 0x3f) | 0x80;
  const hex = hash.toString('hex', 0, 16);
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}

const CONTROL = 'Windows.Media.Control.GlobalSystemMediaTransportControlsSession';
const classOf = (name: string, id: string) => `rc(${CONTROL}${name};{${id}})`;
const MANAGER = classOf('Manager', 'cace8eac-e86e-504a-ab31-5ff8ff1bce49');
const SESSION = classOf('', '7148c835-9b14-5ae2-ab85-dc9b1c14e1a8');
const PROPERTIES = classOf('MediaProperties', '68856cf6-adb4-54b2-ac16-05837907acb6');
const COMPLETED = 'fcdcf02c-e5d8-4478-915a-4d90b74b83a5';
const EVENT = '9de1c534-6ae1-11e0-84e1-18a905bcc53f';

const completed = (result: string) => derive(`pinterface({${COMPLETED}};${result})`);
const event = (sender: string, args: string) => derive(`pinterface({${EVENT}};${sender};${args})`);
const changed = (name: string, id: string) => `rc(Windows.Media.Control.${name}EventArgs;{${id}})`;

t.test('[6.windows] the names of handlers are those that Windows derives', async (t) => {
  const wanted = {
    kManagerCompleted: completed(MANAGER),
    kMediaPropertiesCompleted: completed(PROPERTIES),
    kBooleanCompleted: completed('b1'),
    kSessionsChanged: event(MANAGER, changed('SessionsChanged', 'bbf0cd32-42c4-5a58-b317-f34bbfbd26e0')),
    kTimelinePropertiesChanged: event(
      SESSION,
      changed('TimelinePropertiesChanged', '29033a2f-c923-5a77-bcaf-055ff415ad32'),
    ),
    kPlaybackInfoChanged: event(
      SESSION,
      changed('PlaybackInfoChanged', '786756c2-bc0d-50a5-8807-054291fef139'),
    ),
    kMediaPropertiesChanged: event(
      SESSION,
      changed('MediaPropertiesChanged', '7d3741cb-adf0-5cef-91ba-cfabcdd77678'),
    ),
  };
  for (const [name, id] of Object.entries(wanted)) t.equal(idOf(name), id, name);
  t.equal(idOf('kManagerStatics'), '2050c4ee-11a0-57de-aed7-c97c70338245');
  t.equal(idOf('kUnknown'), '00000000-0000-0000-c000-000000000046');
});
