/** An entity of Home Assistant: a row of one of the tables, for a device that the machine has. */

export const PLATFORMS = [
  ...(['sensor', 'binary_sensor', 'button', 'select', 'number', 'switch', 'image', 'event'] as const),
];
export type Platform = (typeof PLATFORMS)[number];

/** The value in a message; null: not known at present. */
export type Value = string | number | boolean | null | Readonly<Record<string, unknown>>;

/** How Home Assistant shows it, in the words of its documents. */
export interface Options {
  readonly platform: Platform;
  readonly device_class?: string;
  readonly state_class?: 'measurement' | 'total_increasing';
  readonly unit_of_measurement?: string;
  readonly suggested_display_precision?: number;
  readonly entity_category?: 'diagnostic';
  readonly enabled_by_default?: false;
  /** Only where no device class has one. */
  readonly icon?: string;
  readonly options?: readonly string[];
  readonly [key: string]: unknown;
}

/** One kind of entity. */
export interface Row<Thing> {
  /** The end of the component's id. */
  readonly key: string;
  /** Follows the thing's own name. */
  readonly name: string;
  readonly value: (thing: Thing) => Value;
  /** Whether the machine has it; by default once the value has been known. */
  readonly isThere?: (thing: Thing) => boolean;
  /** The unit that people read, in units of the message. */
  readonly per?: number;
  readonly show: Options;
}

/** A row of which the name is the key, if it has no other. */
export const row = <Thing>(
  key: string,
  value: Row<Thing>['value'],
  show: Options,
  more: Partial<Pick<Row<Thing>, 'name' | 'isThere' | 'per'>> = {},
): Row<Thing> => ({ key, name: key.replaceAll('_', ' '), value, show, ...more });

/** For values that are unknown at times, of things that have them. */
export const ALWAYS = { isThere: () => true } as const;

/** A thing of the machine, with the names of it. */
export interface Named<Thing> {
  /** The part of the component id; empty where there is only one such thing. */
  readonly slug: string;
  readonly label: string;
  readonly thing: Thing;
}

/** An entity before it has topics. */
export interface Entity {
  /** The id of the component and the key in the message, of a-z, 0-9 and _. */
  readonly id: string;
  readonly name: string;
  readonly value: Value;
  readonly isThere: boolean;
  readonly per: number | undefined;
  readonly show: Options;
}

const joined = (separator: string, ...parts: readonly string[]) =>
  parts.filter((part) => part !== '').join(separator);

/** Every row of every thing. */
export function entitiesOf<Thing>(
  prefix: string,
  things: readonly Named<Thing>[],
  rows: readonly Row<Thing>[],
): readonly Entity[] {
  return things.flatMap(({ slug, label, thing }) =>
    rows.map((row) => {
      const value = row.value(thing);
      return {
        id: joined('_', prefix, slug, row.key),
        name: joined(' ', label, row.name),
        value,
        isThere: row.isThere?.(thing) ?? value !== null,
        per: row.per,
        show: row.show,
      };
    }),
  );
}

/** One thing that needs no name, or none. */
export const only = <Thing>(label: string, thing: Thing | null | undefined): readonly Named<Thing>[] =>
  thing == null ? [] : [{ slug: '', label, thing }];

/**
 * Reads `key` of a message. A key that is not there is None, which Home Assistant shows as unknown; an empty text would
 * leave the last value standing.
 */
export function templateOf(key: string, per?: number): string {
  const value = `value_json.get('${key}')`;
  return per === undefined
    ? `{{ ${value} }}`
    : `{% set v = ${value} %}{{ v if v is none else (v / ${per}) | round(2) }}`;
}

// Presets of rows.

export const OFF = { enabled_by_default: false } as const;
export const DIAGNOSTIC = { entity_category: 'diagnostic' } as const;

const measured = (unit: string, more: Partial<Options> = {}): Options => ({
  platform: 'sensor',
  state_class: 'measurement',
  unit_of_measurement: unit,
  ...more,
});

export const percent = (icon: string): Options => measured('%', { icon, suggested_display_precision: 0 });
export const plain = (icon: string, precision = 0): Options => ({
  platform: 'sensor',
  state_class: 'measurement',
  icon,
  suggested_display_precision: precision,
});
export const MEASURED = {
  celsius: measured('°C', { device_class: 'temperature', suggested_display_precision: 0 }),
  gigahertz: measured('GHz', { device_class: 'frequency', suggested_display_precision: 2 }),
  megahertz: measured('MHz', { device_class: 'frequency', suggested_display_precision: 0 }),
  watts: measured('W', { device_class: 'power', suggested_display_precision: 1 }),
  volts: measured('V', { device_class: 'voltage', suggested_display_precision: 2 }),
  rpm: measured('rpm', { icon: 'mdi:fan' }),
  mebibytes: measured('MiB', { device_class: 'data_size', suggested_display_precision: 0 }),
  gibibytes: measured('GiB', { device_class: 'data_size', suggested_display_precision: 1 }),
  megabits: measured('Mbit/s', { device_class: 'data_rate', suggested_display_precision: 1 }),
  megabytes: measured('MB/s', { device_class: 'data_rate', suggested_display_precision: 1 }),
  seconds: measured('s', { device_class: 'duration' }),
  hours: measured('h', { device_class: 'duration' }),
  battery: measured('%', { device_class: 'battery' }),
  dbm: measured('dBm', { device_class: 'signal_strength' }),
} as const;

export const GIB = 2 ** 30;
export const GIGABYTE = 1e9;
/** Bytes per second in a Mbit/s. */
export const MEGABIT = 125_000;
export const MEGABYTE = 1e6;
/** Since boot: grows until the next one. */
export const GROWING: Options = {
  platform: 'sensor',
  device_class: 'data_size',
  state_class: 'total_increasing',
  unit_of_measurement: 'GB',
  suggested_display_precision: 1,
};

/** True and False are what Home Assistant's templates make of true and false. */
export const yesNo = (deviceClass: string): Options => ({
  platform: 'binary_sensor',
  device_class: deviceClass,
  payload_on: 'True',
  payload_off: 'False',
});
