/** Turns the platform's words into one line that a person may be shown. */
export type CleanText = (text: string) => string;

/** Longest text of the platform that is kept, in characters. */
const MAX_LENGTH = 300;

/**
 * Returns a cleaner that knows our key: control and invisible characters go, white space becomes one space, the key
 * and any bearer token become `…`, links lose their user and their query (where a presigned link keeps its
 * signature), and the rest is cut. The key is looked for before every cut, so that no part of it stays, and after
 * every other change, so that none puts it together again.
 */
export function createTextCleaner(apiKey: string): CleanText {
  return (text) => {
    const line = text
      .replace(/\s+/gu, ' ')
      .replace(/\p{C}/gu, '')
      .replaceAll(apiKey, '…')
      .slice(0, MAX_LENGTH * 20)
      .replace(/\b(https?:\/\/)[^\s/?#@]*@/giu, '$1')
      .replace(/\b(https?:\/\/[^\s?#"'<>]*)([?#][^\s"'<>]*)?/giu, (_, link, query) =>
        query ? `${link}?…` : link,
      )
      .replace(/\bbearer\s+\S+/giu, 'Bearer …')
      .replaceAll(apiKey, '…')
      .trim();
    return cut(line, MAX_LENGTH);
  };
}

/** Returns at most `max` characters of a text, the last one an ellipsis when something was left out. */
export function cut(text: string, max: number): string {
  const characters = [...text];
  return characters.length <= max ? text : `${characters.slice(0, max - 1).join('')}…`;
}
