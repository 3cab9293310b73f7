import { type ReactNode, useEffect, useId, useRef } from 'react';

interface DialogProps {
  title: string;
  small?: boolean;
  children: ReactNode;
  onClose(): void;
}

/** A dialog on top of everything: the browser keeps the focus in it, and gives it back. */
export function Dialog({ title, small = false, children, onClose }: DialogProps): ReactNode {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const shown = dialog.current;
    shown?.showModal();
    // The browser would begin with the button that closes it.
    const first = shown?.querySelector<HTMLElement>(
      '.dialog-body :is(input, select, textarea), footer button',
    );
    first?.focus();
    return () => shown?.close();
  }, []);
  return (
    <dialog
      ref={dialog}
      className={small ? 'dialog small' : 'dialog'}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
    >
      <header>
        <h2 id={id}>{title}</h2>
        <button type="button" className="close" aria-label="Close" onClick={onClose}>
          ✕
        </button>
      </header>
      {children}
    </dialog>
  );
}
