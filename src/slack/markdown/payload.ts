/** Fields of a Slack payload: each may be missing or of another type. */
export type Fields = Readonly<Record<string, unknown>>;

/** Returns the fields of an object; of anything else, an empty object. */
export function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {};
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Returns a string that is not empty; undefined for anything else. */
export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** Deeper than anything that people can write, and far from a stack overflow. */
export const MAX_DEPTH = 40;

const TEXT_FIELDS = new Set([
  'text',
  'label',
  'title',
  'subtitle',
  'body',
  'caption',
  'name',
  'value',
  'fallback',
  'alt_text',
  'description',
  'url',
]);

/** Types of interactive elements, from Slack's reference of Block Kit. */
const CONTROL = /button|select|overflow|checkboxes|picker|input|feedback/;

/** Visible texts of an interactive element. Its values, addresses and confirmations are not visible. */
const CONTROL_TEXT_FIELDS = new Set(['text', 'options', 'description']);

/**
 * Returns every visible text in a value of unknown type, in order and each once. Ids, styles and values that only an
 * app sees are left out.
 */
export function textsIn(value: unknown): string[] {
  const found = new Set<string>();
  const collect = (part: unknown, key: string | undefined, depth: number, ofControl: boolean) => {
    if (depth > MAX_DEPTH) return;
    if (typeof part === 'string') {
      if (part.trim() !== '' && (key === undefined || TEXT_FIELDS.has(key))) found.add(part);
    } else if (typeof part === 'number') {
      if (key === 'value') found.add(String(part));
    } else if (Array.isArray(part)) {
      for (const one of part) collect(one, key, depth + 1, ofControl);
    } else {
      const fields = fieldsOf(part);
      const isControl = ofControl || 'action_id' in fields || CONTROL.test(textOf(fields.type) ?? '');
      for (const [name, one] of Object.entries(fields))
        if (!isControl || CONTROL_TEXT_FIELDS.has(name)) collect(one, name, depth + 1, isControl);
    }
  };
  collect(value, undefined, 0, false);
  return [...found];
}
