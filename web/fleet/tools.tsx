/** Search, filters, order and view. */
import { useMemo } from 'preact/hooks';
import { TEXTS } from '../texts.ts';
import { useValue } from '../value.ts';
import { type Choice, nameOf, SORTS, VIEWS } from './choice.ts';
import { machines, turn } from './live.ts';
import type { ListProps } from './parts.tsx';
import { STATES } from './read.ts';
import { T } from './texts.ts';

interface PickProps<Name extends string> {
  readonly label: string;
  readonly value: Name | undefined;
  readonly options: readonly (readonly [value: Name, text: string])[];
  /** Whether the choice may be empty. */
  readonly hasAll?: boolean;
  /** The text of an empty choice. */
  readonly all?: string;
  readonly onPick: (value: Name | undefined) => void;
}

function Pick<Name extends string>({ label, value, options, hasAll, all = T.all, onPick }: PickProps<Name>) {
  return (
    <label class="pick">
      {label}
      <select
        value={value ?? ''}
        onChange={({ currentTarget }) => onPick(options.find(([name]) => name === currentTarget.value)?.[0])}
      >
        {hasAll && <option value="">{all}</option>}
        {options.map(([name, text]) => (
          <option key={name} value={name}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
}

function Order({ choice, onChoose }: Omit<ListProps, 'rows'>) {
  return (
    <>
      <Pick
        label={T.sort}
        value={choice.sort}
        options={SORTS.map((sort) => [sort, T.columns[sort]] as const)}
        onPick={(sort = 'state') => onChoose({ sort, isReversed: false })}
      />
      <button
        type="button"
        aria-label={T.reverse}
        aria-pressed={choice.isReversed}
        onClick={() => onChoose({ isReversed: !choice.isReversed })}
      >
        <span aria-hidden="true">⇅</span>
      </button>
    </>
  );
}

function Views({ choice, onChoose }: Omit<ListProps, 'rows'>) {
  return (
    <fieldset class="ranges">
      <legend class="unseen">{T.view}</legend>
      {VIEWS.map((view) => (
        <label key={view}>
          <input
            type="radio"
            name="view"
            checked={choice.view === view}
            onChange={() => onChoose({ view })}
          />
          <span class="pill">{T.views[view]}</span>
        </label>
      ))}
    </fieldset>
  );
}

export function Tools({ choice, onChoose }: Omit<ListProps, 'rows'>) {
  useValue(turn);
  const pick =
    <Key extends keyof Choice>(key: Key) =>
    (value: Choice[Key]) =>
      onChoose({ [key]: value });
  // There may be thousands, and they seldom change.
  const labels = useMemo(() => {
    const options = machines.labels
      .filter((label) => !choice.labels.includes(label))
      .map((label) => [label, label] as const);
    const names = [...new Set(machines.labels.map(nameOf))].map((name) => [name, name] as const);
    if (names.length === 0 && choice.labels.length === 0) return null;
    return (
      <>
        <Pick
          label={T.label}
          value={undefined}
          options={options}
          hasAll
          onPick={(label) => label !== undefined && onChoose({ labels: [...choice.labels, label] })}
        />
        {choice.labels.map((label) => (
          <button
            type="button"
            class="chip"
            key={label}
            aria-label={T.removeLabel(label)}
            onClick={() => onChoose({ labels: choice.labels.filter((other) => other !== label) })}
          >
            {label} <span aria-hidden="true">×</span>
          </button>
        ))}
        {choice.view === 'table' && (
          <Pick
            label={T.group}
            value={choice.group}
            options={names}
            all={T.noGroup}
            hasAll
            onPick={pick('group')}
          />
        )}
      </>
    );
  }, [machines.labels, choice]);
  if (choice.view === 'compare')
    return (
      <div class="tools">
        <Views choice={choice} onChoose={onChoose} />
      </div>
    );
  return (
    <search class="tools">
      <label class="search">
        {T.search}
        <input
          type="search"
          value={choice.search}
          onInput={({ currentTarget }) => onChoose({ search: currentTarget.value })}
        />
      </label>
      <Pick
        label={T.state}
        value={choice.state}
        options={STATES.map((name) => [name, TEXTS.states[name]] as const)}
        hasAll
        onPick={pick('state')}
      />
      {labels}
      {choice.view === 'tiles' && <Order choice={choice} onChoose={onChoose} />}
      <Views choice={choice} onChoose={onChoose} />
    </search>
  );
}
