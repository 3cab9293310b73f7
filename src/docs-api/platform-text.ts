/** Returns text of the platform as one line that may be shown to a person. */
export type CleanText = (text: string) => string;

/** Maximum length of stored text from the platform, in characters. */
const MAX_LENGTH = 300;

/**
 * Returns a cleaner for text that may contain one of our keys; `apiKeys` may grow later. It removes control and
 * invisible characters, folds white space, replaces the key and any bearer token by `…`, removes the user and the query
 * of links (a presigned link has its signature there), and cuts the rest. The key is replaced before every cut, so that
 * no part of it stays, and after every other change, since removing characters may join its parts.
 */
export function createTextCleaner(apiKeys: readonly string[]): CleanText {
  const hideKeys = (text: string) => apiKeys.reduce((rest, apiKey) => rest.replaceAll(apiKey, '…'), text);
  return (text) => {
    const line = hideKeys(text.replace(/\s+/gu, ' ').replace(/\p{C}/gu, ''))
      .slice(0, MAX_LENGTH * 20)
      .replace(/\b(https?:\/\/)[^\s/?#@]*@/giu, '$1')
      .replace(/\b(https?:\/\/[^\s?#"'<>]*)([?#][^\s"'<>]*)?/giu, (_, link, query) =>
        query ? `${link}?…` : link,
      )
      .replace(/\bbearer\s+\S+/giu, 'Bearer …');
    return cut(hideKeys(line).trim(), MAX_LENGTH);
  };
}

/** Returns at most `max` characters of a text, the last one an ellipsis if it was cut. */
export function cut(text: string, max: number): string {
  if (text.length <= max) return text;
  // One character more than allowed, at two units each: the rest of a long text is never read.
  const characters = [...text.slice(0, 2 * max + 1)];
  return characters.length <= max ? text : `${characters.slice(0, max - 1).join('')}…`;
}

/** Maximum number of an error's details that are read. */
const MAX_DETAILS = 3;

/**
 * Returns the text of an error response (`error`, else `message`, with the messages of its `details`), or of a failed
 * job's `error`.
 */
export function parseErrorText(value: unknown, clean: CleanText): string | undefined {
  const inner = fieldOf(value, 'error');
  const candidates = [value, inner, fieldOf(inner, 'message'), fieldOf(value, 'message')];
  const text = candidates.map((candidate) => parseText(candidate, clean)).find((one) => one !== undefined);
  const details = [fieldOf(inner, 'details') ?? fieldOf(value, 'details')]
    .flat()
    .slice(0, MAX_DETAILS)
    .flatMap((detail) => parseText(fieldOf(detail, 'message'), clean) ?? []);
  const rest = [...new Set(details)].filter((detail) => detail !== text).join('; ');
  return parseText([text, rest].filter(Boolean).join(': '), clean);
}

/** Returns an own field of a value; undefined if the value is not an object. */
export function fieldOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null
    ? Object.getOwnPropertyDescriptor(value, name)?.value
    : undefined;
}

/** Returns the value as displayable text, if it is text. */
export function parseText(value: unknown, clean: CleanText): string | undefined {
  return typeof value === 'string' ? clean(value) || undefined : undefined;
}
