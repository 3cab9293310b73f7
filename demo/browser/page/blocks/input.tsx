import { type ReactNode, useContext, useId } from 'react';
import type { Block } from '../../protocol.ts';
import { type Node, nodeOf, textOf } from './block.ts';
import { Choose } from './choose.tsx';
import { FormContext, useAround } from './context.ts';
import { initialOf } from './options.ts';

const TYPED: Record<string, string> = {
  plain_text_input: 'text',
  number_input: 'number',
  email_text_input: 'email',
  url_text_input: 'url',
  rich_text_input: 'text',
};

/** An input of a modal: its label, what it holds, its hint, and what is wrong with it. */
export function Input({ block }: { block: Block }): ReactNode {
  const around = useAround();
  const form = useContext(FormContext);
  const id = useId();
  const element = nodeOf(block.element) ?? {};
  const blockId = block.block_id ?? '';
  const value = form?.values[blockId] ?? initialOf(element, around);
  const error = form?.errors[blockId];
  const hint = textOf(block.hint);
  const describedBy = [error && `${id}-error`, hint && `${id}-hint`].filter(Boolean).join(' ') || undefined;
  const isTyped = TYPED[String(element.type)] !== undefined;
  const change = (given: string | string[]) => {
    form?.fill(blockId, given);
    if (block.dispatch_action === true && !isTyped) around.use(blockId, element, given);
  };
  const shared = { id, describedBy, invalid: error !== undefined, value, onChange: change };
  return (
    <div className={error ? 'field wrong' : 'field'} data-block={blockId}>
      <label htmlFor={id}>
        {textOf(block.label)}
        {block.optional === true && <span className="optional"> (optional)</span>}
      </label>
      <Element
        {...shared}
        element={element}
        label={textOf(block.label)}
        onEnter={() => block.dispatch_action === true && around.use(blockId, element, value)}
      />
      {error && (
        <p className="error" id={`${id}-error`} role="alert">
          {error}
        </p>
      )}
      {hint && (
        <p className="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
    </div>
  );
}

interface ElementProps {
  element: Node;
  id: string;
  label: string;
  describedBy: string | undefined;
  invalid: boolean;
  value: string | string[];
  onChange(value: string | string[]): void;
  onEnter(): void;
}

function Element({ element, label, onEnter, ...shared }: ElementProps): ReactNode {
  const type = TYPED[String(element.type)];
  const { id, describedBy, invalid, value, onChange } = shared;
  if (type === undefined) {
    if (element.type === 'file_input') return <p className="undrawn">Files cannot be chosen here.</p>;
    return <Choose {...shared} element={element} label={label} />;
  }
  const text = String(value);
  const named = {
    id,
    value: text,
    placeholder: textOf(element.placeholder) || undefined,
    maxLength: Number(element.max_length ?? 3000),
    'aria-describedby': describedBy,
    'aria-invalid': invalid || undefined,
    autoFocus: element.focus_on_load === true,
  };
  if (element.multiline === true || element.type === 'rich_text_input')
    return <textarea {...named} rows={5} onChange={(event) => onChange(event.target.value)} />;
  return (
    <input
      {...named}
      type={type}
      {...(type === 'number' && { step: element.is_decimal_allowed === true ? 'any' : 1 })}
      onChange={(event) => onChange(event.target.value)}
      onKeyDown={(event) => {
        if (event.key === 'Enter') onEnter();
      }}
    />
  );
}
