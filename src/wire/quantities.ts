/** What numbers on the wire are, and how a schema becomes a type. Payloads only: nothing of it runs in the service. */
import * as v from 'valibot';

type DeepReadonly<T> = T extends object ? { readonly [K in keyof T]: DeepReadonly<T[K]> } : T;

/** What a schema describes, for code that only reads it. */
export type Shape<S extends v.GenericSchema> = DeepReadonly<v.InferOutput<S>>;

const atLeastZero = v.pipe(v.number(), v.minValue(0));
export const whole = v.pipe(v.number(), v.integer(), v.minValue(0));

export const count = whole;
export const bytes = v.pipe(whole, v.description('Bytes.'));
export const bytesPerSecond = v.pipe(atLeastZero, v.description('Bytes a second.'));
export const mib = v.pipe(atLeastZero, v.description('MiB.'));
export const percent = v.pipe(v.number(), v.minValue(0), v.maxValue(100), v.description('Percent.'));
export const celsius = v.pipe(v.number(), v.description('Degrees Celsius.'));
export const gigahertz = v.pipe(atLeastZero, v.description('GHz.'));
export const megahertz = v.pipe(atLeastZero, v.description('MHz.'));
export const watts = v.pipe(atLeastZero, v.description('Watts.'));
export const seconds = v.pipe(atLeastZero, v.description('Seconds.'));
export const unixSeconds = v.pipe(whole, v.description('Unix seconds.'));

/** Of a detailed payload: null is what nobody could read. */
export const known = <S extends v.GenericSchema>(schema: S) => v.nullable(schema);
