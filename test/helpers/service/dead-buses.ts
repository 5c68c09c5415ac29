/**
 * Keeps this process and its children off the machine's buses: a power command can only reach a private bus of the test.
 * Every file that opens the machine imports this first.
 */
import process from 'node:process';

/** An address at which no bus can listen. */
export const DEAD_BUS = 'unix:path=/dev/null/no-bus';

export const DEAD_BUSES = {
  DBUS_SYSTEM_BUS_ADDRESS: DEAD_BUS,
  DBUS_SESSION_BUS_ADDRESS: DEAD_BUS,
} as const;

Object.assign(process.env, DEAD_BUSES);
