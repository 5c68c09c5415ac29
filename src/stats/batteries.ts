/** The batteries of a detailed sample: how full, what flows, how long it lasts, what is left of them. */
import type { BatteryCounters } from '../host/host.ts';
import type { BatteryDetail } from '../wire/usage.ts';
import { oneDecimal, percentOf } from './round.ts';

/** Longer than any computer runs on a battery: what flows is next to nothing, and the quotient says nothing. */
const MOST_SECONDS = 7 * 86_400;

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
  // A machine that runs from its battery takes something: 0 is what firmware says that has not measured yet.
  return watts === 0 && state === 'discharging' ? null : watts;
}

/** What is left to go, in the units of what flows: Wh and W, or Ah and A. */
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
  return seconds === null || seconds > MOST_SECONDS ? null : Math.round(seconds);
}

export function deriveBatteries(batteries: readonly BatteryCounters[] | undefined): readonly BatteryDetail[] {
  return (batteries ?? []).map((battery) => {
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
  });
}
