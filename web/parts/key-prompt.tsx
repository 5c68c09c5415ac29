/** Asks for the service's key. */
import { useRef } from 'preact/hooks';
import type { Lock } from '../requests.ts';
import { TEXTS } from '../texts.ts';
import { giveKey } from '../visit.ts';
import { Dialog } from './dialog.tsx';

const T = TEXTS.key;

export function KeyPrompt({ why }: { readonly why: Lock }) {
  const isWrong = why !== 'missing';
  const field = useRef<HTMLInputElement>(null);
  const remember = useRef<HTMLInputElement>(null);
  const submit = (event: Event) => {
    event.preventDefault();
    const key = field.current?.value.trim() ?? '';
    if (key !== '') giveKey(key, remember.current?.checked === true);
  };
  return (
    <Dialog title={T.title}>
      <form onSubmit={submit}>
        <p>{T.text}</p>
        <label>
          {T.label}
          <input
            ref={field}
            type="password"
            name="key"
            autocomplete="off"
            required
            aria-invalid={isWrong}
            aria-describedby={isWrong ? 'wrong-key' : undefined}
          />
        </label>
        {why !== 'missing' && (
          <p class="problem" id="wrong-key" role="alert">
            {T[why]}
          </p>
        )}
        <label class="check">
          <input ref={remember} type="checkbox" name="remember" aria-describedby="remember-note" />{' '}
          {T.remember}
        </label>
        <p class="note" id="remember-note">
          {T.rememberNote}
        </p>
        <p class="buttons">
          <button type="submit" class="primary">
            {T.send}
          </button>
        </p>
      </form>
    </Dialog>
  );
}
