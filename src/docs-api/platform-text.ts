/** Turns the platform's words into one line that a person may be shown. */
export type CleanText = (text: string) => string;

/** Longest text of the platform that is kept, in characters. */
const MAX_LENGTH = 300;

/**
 * A cleaner that knows our key: control and invisible characters go, white space becomes one space, the key and
 * any bearer token become `…`, links lose their user and their query (where a presigned link keeps its signature),
 * and the rest is cut. The key is looked for before every cut, so that no part of it stays, and after every other
 * change, so that none puts it together again.
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
    return cut(line);
  };
}

function cut(line: string): string {
  const characters = [...line];
  return characters.length <= MAX_LENGTH ? line : `${characters.slice(0, MAX_LENGTH - 1).join('')}…`;
}
