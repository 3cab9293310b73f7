import { type KeyboardEvent, type ReactNode, useEffect, useId, useRef, useState } from 'react';
import { type Node, nodesOf, stringOf, textOf } from './block.ts';
import { Choose } from './choose.tsx';
import { useAround } from './context.ts';
import { Text } from './inline.tsx';
import { initialOf } from './options.ts';
import { threadOf } from './permalink.ts';

interface ControlProps {
  blockId: string;
  element: Node;
}

/** Anything that can be used in a message, in Home, or in a modal outside of its inputs. */
export function Control({ blockId, element }: ControlProps): ReactNode {
  switch (element.type) {
    case 'button':
    case 'workflow_button':
      return <Button blockId={blockId} element={element} />;
    case 'overflow':
      return <Overflow blockId={blockId} element={element} />;
    default:
      return <Select blockId={blockId} element={element} />;
  }
}

function Button({ blockId, element }: ControlProps): ReactNode {
  const { use, openThread, scene } = useAround();
  const url = stringOf(element.url);
  const thread = url === undefined ? undefined : threadOf(url);
  const leadsHere = thread && scene.conversations.some(({ id }) => id === thread.channel);
  const shown = {
    className: `button ${String(element.style ?? '')}`,
    'data-action': String(element.action_id),
    'aria-label': stringOf(element.accessibility_label),
  };
  const label = <Text of={element.text as Node} />;
  if (url !== undefined && !leadsHere && /^https?:/i.test(url))
    return (
      <a
        {...shown}
        href={url}
        target="_blank"
        rel="noopener noreferrer"
        onClick={() => use(blockId, element)}
      >
        {label}
      </a>
    );
  return (
    <button
      {...shown}
      type="button"
      onClick={() => {
        use(blockId, element);
        if (leadsHere) openThread(thread.channel, thread.root);
      }}
    >
      {label}
    </button>
  );
}

function Select({ blockId, element }: ControlProps): ReactNode {
  const around = useAround();
  const initial = initialOf(element, around);
  const [value, setValue] = useState(initial);
  // The app shows by the block what is chosen now.
  const asSent = JSON.stringify(initial);
  useEffect(() => setValue(JSON.parse(asSent)), [asSent]);
  const label = textOf(element.placeholder) || String(element.action_id);
  return (
    <Choose
      element={element}
      label={label}
      value={value}
      onChange={(chosen) => {
        setValue(chosen);
        around.use(blockId, element, chosen);
      }}
    />
  );
}

/** The menu behind the three dots. */
function Overflow({ blockId, element }: ControlProps): ReactNode {
  const { use } = useAround();
  const choose = (label: string) => use(blockId, element, label);
  const entries = nodesOf(element.options).map(({ text }) => textOf(text));
  return <Menu label="More actions" entries={entries} onChoose={choose} className="button" />;
}

interface MenuProps {
  label: string;
  entries: string[];
  className: string;
  onChoose(entry: string): void;
}

/** A button that opens a menu, with the keys that menus have. */
export function Menu({ label, entries, className, onChoose }: MenuProps): ReactNode {
  const [open, setOpen] = useState(false);
  const list = useRef<HTMLDivElement>(null);
  const opener = useRef<HTMLButtonElement>(null);
  const id = useId();
  useEffect(() => {
    if (!open) return;
    const within = list.current?.closest('.messages, .home, .dialog-body')?.getBoundingClientRect();
    const below = list.current?.getBoundingClientRect();
    // Where there is no room below, it opens upwards.
    if (within && below && below.bottom > within.bottom) list.current?.classList.add('up');
    list.current?.querySelector('button')?.focus();
    const outside = ({ target }: Event) => {
      if (!list.current?.contains(target as globalThis.Node)) setOpen(false);
    };
    document.addEventListener('pointerdown', outside);
    return () => document.removeEventListener('pointerdown', outside);
  }, [open]);
  const close = () => {
    setOpen(false);
    opener.current?.focus();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const buttons = [...(list.current?.querySelectorAll('button') ?? [])];
    const at = buttons.indexOf(document.activeElement as HTMLButtonElement);
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) {
      event.preventDefault();
      buttons[(at + step + buttons.length) % buttons.length]?.focus();
    }
    if (event.key === 'Escape') {
      event.stopPropagation();
      event.preventDefault();
      close();
    }
    if (event.key === 'Tab') setOpen(false);
  };
  return (
    <span className="menu-place">
      <button
        ref={opener}
        type="button"
        className={className}
        aria-label={label}
        title={label}
        aria-haspopup="menu"
        aria-expanded={open}
        aria-controls={open ? id : undefined}
        onClick={() => setOpen(!open)}
      >
        ⋯
      </button>
      {open && (
        <div className="menu" role="menu" id={id} ref={list} onKeyDown={onKeyDown} tabIndex={-1}>
          {entries.map((entry) => (
            <button
              key={entry}
              type="button"
              role="menuitem"
              onClick={() => {
                close();
                onChoose(entry);
              }}
            >
              {entry}
            </button>
          ))}
        </div>
      )}
    </span>
  );
}
