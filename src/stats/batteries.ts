/** The batteries of a detailed sample: charge, power, time left, health. */
import type { BatteryCounters } from '../host/details.ts';
import type { BatteryDetail } from '../wire/details.ts';
import type { DetailRow } from './detail-row.ts';
import { oneDecimal, percentOf } from './round.ts';

/** Longer than any computer runs on a battery: the power is then close to 0 and the quotient means nothing. */
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
  const watts =
    powerWatts ?? (currentAmps === null || voltageVolts === null ? null : currentAmps * voltageVolts);
  // A machine that runs on its battery uses some power: firmware reports 0 before it has measured.
  return watts === 0 && state === 'discharging' ? null : watts;
}

/** Hours until empty or full, from Wh and W, or from Ah and A. */
function hoursLeft(level: number | null, full: number | null, flow: number | null, isFilling: boolean) {
  if (level === null || flow === null || flow <= 0) return null;
  if (!isFilling) return level / flow;
  return full === null ? null : Math.max(0, full - level) / flow;
}

function secondsLeft(battery: BatteryCounters, watts: number | null): number | null {
  const { state, energyWh, energyFullWh, chargeAh, chargeFullAh, currentAmps } = battery;
  if (state !== 'charging' && state !== 'discharging') return null;
  const isFilling = state === 'charging';
  const hours =
    hoursLeft(energyWh, energyFullWh, watts, isFilling) ??
    hoursLeft(chargeAh, chargeFullAh, currentAmps, isFilling);
  const seconds =
    hours === null ? (isFilling ? battery.secondsToFull : battery.secondsToEmpty) : hours * 3600;
  return seconds === null || seconds > MAX_SECONDS_LEFT ? null : Math.round(seconds);
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
