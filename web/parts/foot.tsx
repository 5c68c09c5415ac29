/** The end of a page: what the key may do, and the button that forgets it. */
import type { ComponentChildren } from 'preact';
import { access, limitsOf } from '../access.ts';
import { isKeyRemembered, readKey } from '../requests.ts';
import { TEXTS } from '../texts.ts';
import { useValue } from '../value.ts';
import { connection, dropKey, isLinkWrong } from '../visit.ts';

export function Foot({ children }: { readonly children?: ComponentChildren }) {
  const known = useValue(access);
  // With a key that allows nothing here, another one is wanted.
  const isStuck = ['refused', 'limited'].includes(useValue(connection)) && readKey() !== undefined;
  const limits = known && limitsOf(known);
  return (
    <footer class="note">
      {children}
      {limits !== undefined && <p>{limits}</p>}
      {useValue(isLinkWrong) && <p class="problem">{TEXTS.link.wrong}</p>}
      {(isKeyRemembered() || isStuck) && (
        <button type="button" class="quiet" onClick={dropKey}>
          {TEXTS.key.forget}
        </button>
      )}
    </footer>
  );
}
