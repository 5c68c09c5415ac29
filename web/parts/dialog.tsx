/** A modal dialog; the browser keeps the focus in it and restores it afterwards. */
import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';

interface DialogProps {
  readonly title: string;
  readonly children: ComponentChildren;
  /** Called on Escape; undefined: the dialog cannot be left. */
  readonly onLeave?: () => void;
  readonly isWide?: boolean;
}

export function Dialog({ title, children, onLeave, isWide }: DialogProps) {
  const id = useId();
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const opener = document.activeElement;
    const shown = dialog.current;
    shown?.showModal();
    return () => {
      shown?.close();
      if (opener instanceof HTMLElement) opener.focus();
    };
  }, []);
  const cancel = (event: Event) => {
    event.preventDefault();
    onLeave?.();
  };
  return (
    <dialog ref={dialog} class={isWide ? 'broad' : undefined} aria-labelledby={id} onCancel={cancel}>
      <h2 id={id}>{title}</h2>
      {children}
    </dialog>
  );
}
