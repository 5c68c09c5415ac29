/** The events of all machines that last, the most urgent first. */
import { Muting } from '../parts/muting.tsx';
import { useValue } from '../value.ts';
import { machines, readAlarms, turn } from './live.ts';
import { sinceOf } from './parts.tsx';
import type { Alarm } from './read.ts';
import { T } from './texts.ts';

/** Events above the list of machines; the others are folded. */
const MAX_SHOWN = 5;

function Row({ alarm: { id, severity, text, since, mute, rule } }: { readonly alarm: Alarm }) {
  const name = machines.at(id)?.name ?? id;
  return (
    <li>
      <span>
        <span class={`mark ${mute === undefined ? severity : 'off'}`}>
          <span class="unseen">{T.severities[severity]}: </span>
          <a href={`hosts/${id}/`}>{name}</a>
        </span>{' '}
        <span class="words">{text}</span> <small>{T.since(sinceOf(since))}</small>
      </span>
      <Muting
        text={`${name}, ${text}`}
        choices={[
          [id, T.mutes.machine(name)],
          [rule, T.mutes.rule(rule)],
        ]}
        mute={mute}
        onMuted={() => void readAlarms()}
      />
    </li>
  );
}

export function OpenEvents() {
  useValue(turn);
  const { alarms } = machines;
  if (alarms.length === 0) return null;
  const rows = alarms.map((alarm) => <Row key={`${alarm.id} ${alarm.text} ${alarm.since}`} alarm={alarm} />);
  return (
    <section class="card open-events" aria-label={T.open(alarms.length)}>
      <h2>{T.open(alarms.length)}</h2>
      <ul>{rows.slice(0, MAX_SHOWN)}</ul>
      {rows.length > MAX_SHOWN && (
        <details>
          <summary>{T.more(rows.length - MAX_SHOWN)}</summary>
          <ul>{rows.slice(MAX_SHOWN)}</ul>
        </details>
      )}
    </section>
  );
}
