import { type ReactNode, useId } from 'react';
import { type Node, nodesOf, textOf } from './block.ts';
import { useAround } from './context.ts';
import { Text } from './inline.tsx';
import { type ChoiceGroup, choicesOf, takesMany } from './options.ts';

interface ChooseProps {
  element: Node;
  /** Says what it is for, where no label is bound to it. */
  label?: string | undefined;
  id?: string | undefined;
  describedBy?: string | undefined;
  invalid?: boolean;
  value: string | string[];
  onChange(value: string | string[]): void;
}

/** Selects, lists and pickers, in messages as in modals. */
export function Choose(props: ChooseProps): ReactNode {
  const { element, label, id, describedBy, invalid, value, onChange } = props;
  const around = useAround();
  const type = String(element.type);
  const named = {
    id,
    'aria-label': label,
    'aria-describedby': describedBy,
    'aria-invalid': invalid || undefined,
  };
  const one = Array.isArray(value) ? (value[0] ?? '') : value;
  const kind = { datepicker: 'date', timepicker: 'time', datetimepicker: 'datetime-local' }[type];
  if (kind === 'datetime-local')
    return (
      <input
        {...named}
        type={kind}
        value={localTime(one)}
        onChange={({ target }) => onChange(String(new Date(target.value).getTime() / 1000))}
      />
    );
  if (kind)
    return <input {...named} type={kind} value={one} onChange={(event) => onChange(event.target.value)} />;
  if (type === 'radio_buttons' || takesMany(element))
    return <Marks {...props} groups={choicesOf(element, around)} />;
  return (
    <select {...named} value={one} onChange={(event) => onChange(event.target.value)}>
      {one === '' && <option value="">{textOf(element.placeholder) || 'Choose…'}</option>}
      {choicesOf(element, around).map(({ label: group, choices }) => {
        const options = choices.map((choice) => (
          <option key={choice.value} value={choice.value}>
            {choice.label}
          </option>
        ));
        return group ? (
          <optgroup key={group} label={group}>
            {options}
          </optgroup>
        ) : (
          options
        );
      })}
    </select>
  );
}

/** Returns seconds since 1970 as such a field has them: in this browser's zone. */
const localTime = (seconds: string): string =>
  seconds === ''
    ? ''
    : new Date(Number(seconds) * 1000).toLocaleString('sv-SE').slice(0, 16).replace(' ', 'T');

/** Radio buttons, checkboxes, and selects of several, which are a list of checkboxes here. */
function Marks({
  element,
  label,
  id,
  describedBy,
  value,
  onChange,
  groups,
}: ChooseProps & { groups: ChoiceGroup[] }): ReactNode {
  const name = useId();
  const many = takesMany(element);
  const chosen = [value].flat();
  const toggle = (text: string) => {
    if (!many) return onChange(text);
    onChange(chosen.includes(text) ? chosen.filter((other) => other !== text) : [...chosen, text]);
  };
  const options = nodesOf(element.options);
  return (
    <fieldset
      className={String(element.type).endsWith('select') ? 'marks list' : 'marks'}
      id={id}
      aria-label={label}
      aria-describedby={describedBy}
    >
      {groups.map((group) => (
        <div key={group.label ?? ''}>
          {group.label && <b>{group.label}</b>}
          {group.choices.map((choice, index) => {
            const option = options[index];
            const description = option?.description as Node | undefined;
            return (
              <label key={choice.value}>
                <input
                  type={many ? 'checkbox' : 'radio'}
                  name={name}
                  checked={chosen.includes(choice.value)}
                  onChange={() => toggle(choice.value)}
                />
                <span>
                  {option?.text ? <Text of={option.text as Node} /> : choice.label}
                  {description && (
                    <small>
                      <Text of={description} />
                    </small>
                  )}
                </span>
              </label>
            );
          })}
        </div>
      ))}
    </fieldset>
  );
}
