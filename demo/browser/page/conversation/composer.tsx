import { type KeyboardEvent, type ReactNode, useId, useLayoutEffect, useRef, useState } from 'react';
import { draftKey, usePage } from '../shell/page-context.ts';
import { Problem } from '../shell/problem.tsx';
import { commandHints, nameHints, type Suggestion, taken } from './complete.ts';

interface ComposerProps {
  channel: string;
  threadTs?: string;
  placeholder: string;
  /** The visitor wants to change what they wrote last. */
  onEditLast(): void;
}

export function Composer({ channel, threadTs, placeholder, onEditLast }: ComposerProps): ReactNode {
  const page = usePage();
  const { scene } = page;
  const key = draftKey(channel, threadTs);
  const typed = page.drafts[key] ?? '';
  const [cursor, setCursor] = useState(0);
  const [picked, setPicked] = useState(0);
  const [hidden, setHidden] = useState(false);
  const [alsoToChannel, setAlso] = useState(false);
  const field = useRef<HTMLTextAreaElement>(null);
  const nextCursor = useRef<number>(undefined);
  const id = useId();

  const names = nameHints(typed, Math.min(cursor, typed.length), scene.people.values(), scene.conversations);
  const commands = threadTs === undefined ? commandHints(typed, scene.workspace?.commands ?? []) : [];
  const hints = hidden ? [] : names.length > 0 ? names : commands;
  const canPick = names.length > 0 || !typed.includes(' ');
  const at = Math.min(picked, hints.length - 1);

  useLayoutEffect(() => {
    const area = field.current;
    if (!area) return;
    area.style.height = 'auto';
    area.style.height = `${area.scrollHeight}px`;
    if (nextCursor.current === undefined || area.value !== typed) return;
    area.setSelectionRange(nextCursor.current, nextCursor.current);
    nextCursor.current = undefined;
  }, [typed]);

  function change(text: string, to: number): void {
    page.write(key, text);
    setCursor(to);
    setPicked(0);
    setHidden(false);
  }
  function take(hint: Suggestion): void {
    const text = taken(typed, cursor, hint);
    nextCursor.current = hint.from + hint.text.length;
    change(text, nextCursor.current);
    field.current?.focus();
  }
  async function send(): Promise<void> {
    const text = typed.trim();
    if (text === '') return;
    page.write(key, '');
    setAlso(false);
    const thread = threadTs === undefined ? {} : { threadTs, alsoToChannel };
    const { ok } = await page.act({ do: 'write', channel, text, ...thread });
    if (!ok) page.write(key, text);
  }
  function onKeyDown(event: KeyboardEvent): void {
    if (event.nativeEvent.isComposing) return;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const hint = hints[at];
    if (hint && canPick) {
      if (step !== undefined) setPicked((at + step + hints.length) % hints.length);
      else if (event.key === 'Tab' && !event.shiftKey) take(hint);
      else if (event.key === 'Enter' && !event.shiftKey && hint.text.trim() !== typed.slice(hint.from).trim())
        take(hint);
      else if (event.key === 'Escape') setHidden(true);
      if (step !== undefined || event.key === 'Tab' || event.key === 'Escape') {
        event.preventDefault();
        return;
      }
    }
    if (event.key === 'Enter' && !event.shiftKey) {
      event.preventDefault();
      if (!hint || !canPick || hint.text.trim() === typed.slice(hint.from).trim()) send();
    }
    if (event.key === 'ArrowUp' && typed === '') {
      event.preventDefault();
      onEditLast();
    }
  }

  return (
    <div className="composer">
      <Problem at={threadTs ?? 'channel'} />
      {hints.length > 0 && (
        <div className="hints" role="listbox" id={id} aria-label="Suggestions">
          {hints.map((hint, index) => (
            <div
              key={hint.label}
              id={`${id}-${index}`}
              role="option"
              tabIndex={-1}
              aria-selected={canPick && index === at}
              onPointerDown={(event) => {
                event.preventDefault();
                take(hint);
              }}
            >
              <b>{hint.label}</b>
              <span>{hint.about}</span>
            </div>
          ))}
        </div>
      )}
      <div className="compose-box">
        <textarea
          ref={field}
          rows={1}
          value={typed}
          placeholder={placeholder}
          aria-label={placeholder}
          role="combobox"
          aria-autocomplete="list"
          aria-expanded={hints.length > 0}
          aria-controls={hints.length > 0 ? id : undefined}
          aria-activedescendant={hints.length > 0 && canPick ? `${id}-${at}` : undefined}
          data-composer={threadTs === undefined ? 'channel' : 'thread'}
          onChange={({ target }) => change(target.value, target.selectionStart)}
          onSelect={({ currentTarget }) => setCursor(currentTarget.selectionStart)}
          onKeyDown={onKeyDown}
        />
        <div className="compose-foot">
          {threadTs === undefined ? (
            <span className="keys">
              <kbd>/</kbd> commands · <kbd>@</kbd> people · <kbd>Shift</kbd> <kbd>Enter</kbd> new line
            </span>
          ) : (
            <label className="also">
              <input
                type="checkbox"
                checked={alsoToChannel}
                onChange={({ target }) => setAlso(target.checked)}
              />
              Also send to channel
            </label>
          )}
          <button type="button" className="send" disabled={typed.trim() === ''} onClick={send}>
            Send
          </button>
        </div>
      </div>
    </div>
  );
}
