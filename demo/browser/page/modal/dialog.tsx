import { type ReactNode, useId, useLayoutEffect, useRef } from 'react';

interface DialogProps {
  title: string;
  small?: boolean;
  children: ReactNode;
  onClose(): void;
}

/** Returns what finds the element again that has the focus now, also if its message is drawn anew. */
function focused(): () => HTMLElement | null {
  const element = document.activeElement as HTMLElement;
  const ts = element.closest('[data-ts]')?.getAttribute('data-ts');
  const same = `[data-ts="${ts}"] [data-action="${CSS.escape(element.dataset.action ?? '')}"]`;
  return () => {
    if (element.isConnected && element !== document.body) return element;
    return document.querySelector<HTMLElement>(same) ?? document.querySelector('[data-composer="channel"]');
  };
}

/** A form on top of everything: the browser keeps the focus in it. In the end, the focus goes back where it was. */
export function Dialog({ title, small = false, children, onClose }: DialogProps): ReactNode {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useLayoutEffect(() => {
    const shown = dialog.current;
    const before = focused();
    shown?.showModal();
    // The browser would begin with the button that closes it.
    const first = shown?.querySelector<HTMLElement>(
      '.dialog-body :is(input, select, textarea), footer button',
    );
    first?.focus();
    return () => {
      shown?.close();
      // Once the page is drawn without it.
      queueMicrotask(() => before()?.focus());
    };
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
