import { codeSpan } from './format.ts';
import { channelName, noNames } from './names.ts';
import { cleanText, type Span } from './spans.ts';

const STYLES = ['bold', 'italic', 'strike'] as const;
type Style = (typeof STYLES)[number];

/** Part of one line. A `gap` is white space between two parts; no style mark may be next to it. */
interface Piece {
  kind: 'plain' | 'link' | 'code' | 'gap' | 'end';
  text: string;
  styles: readonly Style[];
}

/**
 * Returns styled text as Markdown: `**bold**`, `_italic_`, `~~strike~~`, code, links, bullets typed as `•` as `-`.
 *
 * Other text stays as typed, since people who type Markdown in Slack mean it. Only characters that would break our own
 * marks are escaped: `*`, `_`, `~` in text of that style, brackets in the text of a link, and unpaired backticks if
 * there is code. Text that looks like one of Slack's tokens loses its brackets.
 */
export function renderInline(spans: readonly Span[]): string {
  const pieces = mergeSpans(spans).flatMap(piecesOf);
  if (pieces.some(({ kind }) => kind === 'code')) escapeLoneTicks(pieces);
  replaceBullets(pieces);
  styleGaps(pieces);
  return renderPieces(pieces);
}

/** Joins adjacent spans of plain text in one style, since a character's neighbours decide whether it is a mark. */
function mergeSpans(spans: readonly Span[]): Span[] {
  const result: Span[] = [];
  for (const span of spans) {
    const last = result.at(-1);
    const plain = last && !last.code && !span.code && last.url === undefined && span.url === undefined;
    if (plain && STYLES.every((style) => Boolean(last[style]) === Boolean(span[style]))) {
      last.text += span.text;
    } else result.push({ ...span });
  }
  return result;
}

function piecesOf(span: Span): Piece[] {
  const styles = STYLES.filter((style) => span[style]);
  if (span.url !== undefined) return linkPieces(span, span.url, styles);
  return cleanText(span.text)
    .split('\n')
    .flatMap((line, index): Piece[] => {
      const end: Piece[] = index > 0 ? [{ kind: 'end', text: '\n', styles: [] }] : [];
      return [...end, ...(span.code ? codePieces(line, styles) : plainPieces(line, styles))];
    });
}

function codePieces(line: string, styles: Style[]): Piece[] {
  if (line.trim() === '') return line === '' ? [] : [{ kind: 'gap', text: line, styles: [] }];
  return [{ kind: 'code', text: codeSpan(line), styles }];
}

function plainPieces(line: string, styles: Style[]): Piece[] {
  const core = line.trim();
  const start = line.indexOf(core);
  const gap = (text: string): Piece[] => (text === '' ? [] : [{ kind: 'gap', text, styles: [] }]);
  if (core === '') return gap(line);
  return [
    ...gap(line.slice(0, start)),
    { kind: 'plain', text: core, styles },
    ...gap(line.slice(start + core.length)),
  ];
}

function linkPieces({ text, code }: Span, url: string, styles: Style[]): Piece[] {
  const target = encodeUrl(url);
  const label = cleanText(text).replace(/\s+/g, ' ').trim();
  if (target === '') return plainPieces(label, styles);
  const bare = cleanText(url)
    .trim()
    .replace(/[\s<>]/g, encodeURIComponent);
  const shown = label === '' ? bare : label;
  if (isSameUrl(shown, bare)) {
    return code ? codePieces(shown, styles) : [{ kind: 'link', text: shown, styles }];
  }
  const named = code ? codeSpan(shown) : shown.replace(/[[\]]/g, '\\$&');
  return [{ kind: 'link', text: `[${named}](${target})`, styles }];
}

/** Returns whether the shown text is the address, so that one copy is enough. */
function isSameUrl(shown: string, url: string): boolean {
  return ['', 'https://', 'http://', 'mailto:', 'tel:'].some(
    (scheme) => url === scheme + shown || url === `${scheme}${shown}/`,
  );
}

const ENCODED = new Map([
  ['(', '%28'],
  [')', '%29'],
]);

/** Returns an address encoded so that it can neither end a Markdown link nor begin a token. */
function encodeUrl(url: string): string {
  return cleanText(url)
    .trim()
    .replace(/[\s<>()]/g, (char) => ENCODED.get(char) ?? encodeURIComponent(char));
}

function escapeLoneTicks(pieces: Piece[]) {
  const plain = pieces.filter(({ kind }) => kind === 'plain');
  const counts = new Map<string, number>();
  for (const { text } of plain)
    for (const [ticks] of text.matchAll(/`+/g)) counts.set(ticks, (counts.get(ticks) ?? 0) + 1);
  for (const piece of plain) {
    piece.text = piece.text.replace(/`+/g, (ticks) =>
      (counts.get(ticks) ?? 0) % 2 === 0 ? ticks : ticks.replaceAll('`', '\\`'),
    );
  }
}

/** Replaces Slack's bullets, which its clients put into `text` and people paste, by those of Markdown. */
function replaceBullets(pieces: Piece[]) {
  let atStart = true;
  for (const piece of pieces) {
    if (piece.kind === 'gap') continue;
    if (atStart && piece.kind === 'plain') piece.text = piece.text.replace(/^[•◦▪‣]\uFE0E?(?=\s|$)/u, '-');
    atStart = piece.kind === 'end';
  }
}

/** Gives each gap the styles that continue after it. */
function styleGaps(pieces: Piece[]) {
  let before: readonly Style[] = [];
  pieces.forEach((piece, index) => {
    if (piece.kind === 'gap') {
      const after = pieces[index + 1]?.styles ?? [];
      piece.styles = before.filter((style) => after.includes(style));
    } else before = piece.styles;
  });
}

function renderPieces(pieces: readonly Piece[]): string {
  const open: { style: Style; mark: string }[] = [];
  const out: { text: string; code: boolean }[] = [];
  const put = (text: string, code = false) => {
    const last = out.at(-1);
    if (last && !last.code && !code) last.text += text;
    else out.push({ text, code });
  };
  const closeDownTo = (depth: number) => {
    while (open.length > depth) put(open.pop()?.mark ?? '');
  };

  pieces.forEach((piece, index) => {
    const ending = open.findIndex(({ style }) => !piece.styles.includes(style));
    if (ending >= 0) closeDownTo(ending);
    if (piece.kind !== 'gap') {
      const missing = piece.styles
        .filter((style) => !open.some((one) => one.style === style))
        .map((style) => ({ style, until: runEnd(pieces, index, style) }))
        .sort((a, b) => b.until - a.until);
      for (const { style, until } of missing) {
        const neighbours = `${pieces[index - 1]?.text.at(-1) ?? ''}${pieces[until]?.text.at(0) ?? ''}`;
        const mark = markOf(style, neighbours);
        open.push({ style, mark });
        put(mark);
      }
    }
    put(piece.kind === 'plain' ? escapePiece(piece) : piece.text, piece.kind === 'code');
  });
  closeDownTo(0);
  return out.map(({ text, code }) => (code ? text : disarm(text))).join('');
}

/** Returns the index of the first piece after `from` without the style. */
function runEnd(pieces: readonly Piece[], from: number, style: Style): number {
  let until = from + 1;
  while (pieces[until]?.styles.includes(style)) until += 1;
  return until;
}

/** Returns the mark of a style; inside a word, `_` would be no mark. */
function markOf(style: Style, neighbours: string): string {
  if (style === 'bold') return '**';
  if (style === 'strike') return '~~';
  return /[\p{L}\p{N}_]/u.test(neighbours) ? '*' : '_';
}

function escapePiece({ text, styles }: Piece): string {
  let result = text;
  if (styles.includes('bold') || styles.includes('italic')) result = result.replaceAll('*', '\\*');
  if (styles.includes('italic')) result = result.replace(/(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/gu, '\\_');
  if (styles.includes('strike')) result = result.replaceAll('~', '\\~');
  return result;
}

/** A channel's token with a name for it, which not everybody may know. */
const labelledChannel = /^#[CDG][A-Z0-9]{8,}\|.*$/;

/** Returns text with the brackets removed around apparent tokens (`<@U…>`, `<#C…>`, `<!here>`): a person typed them. */
export function disarm(text: string): string {
  return text.replace(
    /(?<!<)<+(?=[@#][A-Z0-9]|!(?:here|channel|everyone|subteam|date|group)\b)([^<>\n]*)(>?)/g,
    (_, token: string) => token.replace(labelledChannel, channelName(noNames, '')),
  );
}
