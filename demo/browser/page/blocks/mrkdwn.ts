/** What a line of mrkdwn consists of. */
export type Inline =
  | { is: 'text'; text: string }
  | { is: 'bold' | 'italic' | 'strike'; inside: Inline[] }
  | { is: 'code'; text: string }
  | { is: 'link'; url: string; text: string }
  | { is: 'user' | 'channel' | 'group'; id: string; name?: string }
  | { is: 'broadcast'; range: string }
  | { is: 'date'; seconds: number; format: string; fallback: string; url?: string }
  | { is: 'emoji'; name: string };

export type Part = { is: 'lines' | 'quote'; inside: Inline[] } | { is: 'preformatted'; text: string };

const MARKS = { '*': 'bold', _: 'italic', '~': 'strike' } as const;

const unescaped = (text: string): string =>
  text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');

/** Returns mrkdwn as its parts: preformatted text, quotes, and the lines between them. */
export function parsed(mrkdwn: string): Part[] {
  return mrkdwn.split(/```\n?([\s\S]*?)\n?```\n?/).flatMap((piece, index): Part[] => {
    if (index % 2 === 1) return [{ is: 'preformatted', text: unescaped(piece) }];
    return piece === '' ? [] : linesAndQuotes(piece);
  });
}

function linesAndQuotes(text: string): Part[] {
  const groups: { quoted: boolean; lines: string[] }[] = [];
  for (const line of text.split('\n')) {
    const quoted = /^&gt;|^>/.test(line);
    const last = groups.at(-1);
    const shown = quoted ? line.replace(/^(&gt;|>) ?/, '') : line;
    if (last?.quoted === quoted) last.lines.push(shown);
    else groups.push({ quoted, lines: [shown] });
  }
  return groups
    .map(({ quoted, lines }) => ({ quoted, text: lines.join('\n') }))
    .filter((group, index) => index > 0 || group.text !== '')
    .map((group) => ({ is: group.quoted ? 'quote' : 'lines', inside: inlines(group.text) }));
}

const TOKEN = /`([^`\n]+)`|<([^<>\n]+)>|:([a-z0-9_+-]+):|([*_~])/g;

/** Returns the pieces of text without preformatted parts and quotes. */
function inlines(text: string): Inline[] {
  const found: Inline[] = [];
  let from = 0;
  const upTo = (end: number) => {
    if (end > from) found.push({ is: 'text', text: unescaped(text.slice(from, end)) });
  };
  TOKEN.lastIndex = 0;
  for (let match = TOKEN.exec(text); match !== null; match = TOKEN.exec(text)) {
    const piece = pieceOf(match, text);
    if (piece === undefined) continue;
    upTo(match.index);
    found.push(piece.inline);
    from = piece.end;
    TOKEN.lastIndex = from;
  }
  upTo(text.length);
  return found;
}

function pieceOf(match: RegExpExecArray, text: string): { inline: Inline; end: number } | undefined {
  const [whole, code, angle, emoji, mark] = match;
  const end = match.index + whole.length;
  if (code !== undefined) return { inline: { is: 'code', text: unescaped(code) }, end };
  if (angle !== undefined) return { inline: angled(angle), end };
  if (emoji !== undefined) return { inline: { is: 'emoji', name: emoji }, end };
  if (mark === undefined || /\w/.test(text[match.index - 1] ?? '')) return undefined;
  const closes = closing(text, match.index, mark);
  if (closes === undefined) return undefined;
  // The recursion has a regular expression with a position of its own only while nobody else uses it.
  const inside = nested(text.slice(match.index + 1, closes));
  return { inline: { is: MARKS[mark as keyof typeof MARKS], inside }, end: closes + 1 };
}

function nested(text: string): Inline[] {
  const at = TOKEN.lastIndex;
  const inside = inlines(text);
  TOKEN.lastIndex = at;
  return inside;
}

/** A mark closes after a letter and before none, on the same line. */
function closing(text: string, opens: number, mark: string): number | undefined {
  if (/\s/.test(text[opens + 1] ?? ' ')) return undefined;
  for (let at = opens + 2; at < text.length && text[at] !== '\n'; at += 1) {
    const isEnd = text[at] === mark && !/\s/.test(text[at - 1] ?? ' ') && !/\w/.test(text[at + 1] ?? '');
    if (isEnd) return at;
  }
  return undefined;
}

function angled(inside: string): Inline {
  const [target = '', ...labels] = inside.split('|');
  const label = labels.join('|');
  const named = label === '' ? {} : { name: unescaped(label) };
  const date = /^!date\^(\d+)\^([^^]*)(?:\^(.*))?$/.exec(target);
  if (date) {
    const [, seconds, format = '', url] = date;
    const shown = { is: 'date', seconds: Number(seconds), format, fallback: unescaped(label) } as const;
    return url ? { ...shown, url: unescaped(url) } : shown;
  }
  if (/^@[UW]/.test(target)) return { is: 'user', id: target.slice(1), ...named };
  if (/^#[CGD]/.test(target)) return { is: 'channel', id: target.slice(1), ...named };
  const group = /^!subteam\^(\w+)/.exec(target);
  if (group) return { is: 'group', id: group[1] ?? '', ...named };
  if (/^!(here|channel|everyone)$/.test(target)) return { is: 'broadcast', range: target.slice(1) };
  const url = unescaped(target);
  if (target.startsWith('!')) return { is: 'text', text: named.name ?? target };
  return { is: 'link', url, text: named.name ?? url.replace(/^mailto:/, '') };
}
