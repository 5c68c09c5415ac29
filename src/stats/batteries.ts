/** The batteries of a detailed sample: charge, power, time left, health. */
import type { BatteryCounters } from '../host/details.ts';
import type { BatteryDetail } from '../wire/details.ts';
import type { DetailRow } from './detail-row.ts';
import { oneDecimal, percentOf } from './round.ts';

/** Maximum: no computer runs longer on a battery; a power close to 0 makes the quotient meaningless. */
const MAX_SECONDS_LEFT = 7 * 86_400;

const shareOf = (part: number | null, whole: number | null) =>
  part === null || whole === null ? null : percentOf(part, whole);

function percentFull(battery: BatteryCounters): number | null {
  return (
    battery.percent ??
    shareOf(battery.energyWh, battery.energyFullWh) ??
    shareOf(battery.chargeAh, battery.chargeFullAh)
  );
}

function wattsOf(battery: BatteryCounters): number | null {
  const { powerWatts, currentAmps, voltageVolts, state } = battery;
  const product = currentAmps === null || voltageVolts === null ? null : currentAmps * voltageVolts;
  // A machine that runs on its battery uses some power: firmware reports 0 before it has measured.
  const isMeasured = (watts: number | null) => watts !== null && !(watts === 0 && state === 'discharging');
  return [powerWatts, product].find(isMeasured) ?? null;
}

/**
 * Returns seconds until empty or full, from Wh and W, or from Ah and A. A level above full is one that the firmware
 * counts wrongly: no battery lasts longer than a full one, and the time until full is then unknown.
 */
function secondsBy(level: number | null, full: number | null, flow: number | null, isFilling: boolean) {
  if (level === null || flow === null || flow <= 0) return null;
  if (!isFilling) return (Math.min(level, full ?? level) / flow) * 3600;
  return full === null || level > full ? null : ((full - level) / flow) * 3600;
}

const plausible = (seconds: number | null) =>
  seconds === null || seconds > MAX_SECONDS_LEFT ? null : Math.round(seconds);

/** Prefers the kernel's own time, which the battery's electronics count, if it has one. */
function secondsLeft(battery: BatteryCounters, watts: number | null): number | null {
  const { state, energyWh, energyFullWh, chargeAh, chargeFullAh, currentAmps } = battery;
  if (state !== 'charging' && state !== 'discharging') return null;
  const isFilling = state === 'charging';
  return (
    plausible(isFilling ? battery.secondsToFull : battery.secondsToEmpty) ??
    plausible(secondsBy(energyWh, energyFullWh, watts, isFilling)) ??
    plausible(secondsBy(chargeAh, chargeFullAh, currentAmps, isFilling))
  );
}

function deriveBattery(battery: BatteryCounters): BatteryDetail {
  const watts = wattsOf(battery);
  return {
    name: battery.name,
    percent: percentFull(battery),
    state: battery.state ?? 'unknown',
    power_watts: watts === null ? null : oneDecimal(watts),
    seconds_left: secondsLeft(battery, watts),
    health_percent:
      shareOf(battery.energyFullWh, battery.energyDesignWh) ??
      shareOf(battery.chargeFullAh, battery.chargeDesignAh),
  };
}

export const BATTERIES: DetailRow<'batteries'> = {
  derive: ({ batteries }) => (batteries ?? []).map(deriveBattery),
  failures: ({ batteries }) => (batteries ?? []).map(({ name, failure }) => [`battery ${name}`, failure]),
  series: (batteries) =>
    batteries.flatMap(({ name, percent, power_watts, seconds_left, health_percent }) => [
      { name: 'battery_charge', unit: 'percent', of: name, value: percent },
      { name: 'battery_power', unit: 'watts', of: name, value: power_watts },
      { name: 'battery_time_left', unit: 'seconds', of: name, value: seconds_left },
      { name: 'battery_health', unit: 'percent', of: name, value: health_percent },
    ]),
};
