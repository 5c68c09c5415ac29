/** Numbers on the wire with their units, and a schema's type. The service loads no payload schemas. */
import * as v from 'valibot';
import { unit } from './meaning.ts';

type DeepReadonly<T> = T extends object ? { readonly [K in keyof T]: DeepReadonly<T[K]> } : T;

/** The described value of a schema, for code that only reads it. */
export type Shape<S extends v.GenericSchema> = DeepReadonly<v.InferOutput<S>>;

const atLeastZero = v.pipe(v.number(), v.minValue(0));
export const whole = v.pipe(v.number(), v.integer(), v.minValue(0));

export const count = whole;
export const bytes = v.pipe(whole, unit('bytes'));
export const bytesPerSecond = v.pipe(atLeastZero, unit('bytes/s'));
export const mib = v.pipe(atLeastZero, unit('MiB'));
export const wholeMib = v.pipe(whole, unit('MiB'));
export const percent = v.pipe(v.number(), v.minValue(0), v.maxValue(100), unit('%'));
/** May exceed 100. */
export const openPercent = v.pipe(atLeastZero, unit('%'));
export const celsius = v.pipe(v.number(), unit('°C'));
/** 1.5: the time of one and a half processors. */
export const processors = v.pipe(atLeastZero, unit('processors'));
export const gigahertz = v.pipe(atLeastZero, unit('GHz'));
export const megahertz = v.pipe(atLeastZero, unit('MHz'));
export const megabitsPerSecond = v.pipe(atLeastZero, unit('Mbit/s'));
export const watts = v.pipe(atLeastZero, unit('W'));
export const dbm = v.pipe(v.number(), unit('dBm'));
export const seconds = v.pipe(atLeastZero, unit('s'));
export const hours = v.pipe(atLeastZero, unit('h'));
export const wholeSeconds = v.pipe(whole, unit('s'));
/** Any number, as another program reports it. */
export const anySeconds = v.pipe(v.number(), unit('s'));
export const anyPercent = v.pipe(v.number(), unit('%'));
export const unixSeconds = v.pipe(whole, unit('Unix seconds'));
export const exactUnixSeconds = v.pipe(atLeastZero, unit('Unix seconds'));

/** A key of a detailed payload: null where the value cannot be read. */
export const known = <S extends v.GenericSchema>(schema: S) => v.nullable(schema);
