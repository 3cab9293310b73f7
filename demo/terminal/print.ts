import { styleText } from 'node:util';

/** Who does what, in the few ways that the demo tells apart. */
export type Deed = 'types' | 'clicks' | 'posts' | 'edits' | 'private' | 'trouble';

const COLOURS = {
  types: 'cyan',
  clicks: 'cyan',
  posts: 'green',
  edits: 'yellow',
  private: 'magenta',
  trouble: 'red',
} as const;

const CLOCK_WIDTH = 9;
const LABEL_WIDTH = 16;
/** Emoji are wider than they count, and a line that fills the last column wraps once more in some terminals. */
const MARGIN = 3;
/** A narrower terminal wraps by itself, which reads better than a column of single words. */
const NARROWEST_TEXT = 30;

export interface Screen {
  /** From here on times count. */
  startClock(): void;
  /** Something happened: when, who did it, and what there is to read. Lines of a thread are indented. */
  tells(deed: Deed, label: string, lines: string[], inThread?: boolean): void;
  /** Lines that belong to what was told last. */
  adds(...lines: string[]): void;
  /** Lines on their own; a heading before them stands out. */
  says(text: string, heading?: string): void;
}

/** Prints plain lines, in colour where `out` is a terminal that has some, and wrapped to its width. */
export function createScreen(out: NodeJS.WriteStream, nowMs: () => number): Screen {
  let clockStartedMs = nowMs();
  const paint = (format: Parameters<typeof styleText>[0], text: string) =>
    styleText(format, text, { stream: out });

  function write(lines: string[]): void {
    out.write(lines.map((line) => `${line.trimEnd()}\n`).join(''));
  }

  /** The lines broken so that they fit behind an indent. Only a terminal has columns, and not every one tells them. */
  function fitted(lines: string[], indent: number): string[] {
    const room = (out.columns || Number.POSITIVE_INFINITY) - indent - MARGIN;
    return room < NARROWEST_TEXT ? lines : lines.flatMap((line) => wrapped(line, room));
  }

  const textFrom = CLOCK_WIDTH + LABEL_WIDTH;
  const indent = ' '.repeat(textFrom);
  return {
    startClock() {
      clockStartedMs = nowMs();
    },
    tells(deed, label, lines, inThread = false) {
      const text = inThread
        ? fitted(lines, textFrom + 2).map((line, index) => (index === 0 ? `└ ${line}` : `  ${line}`))
        : fitted(lines, textFrom);
      const [first = '', ...rest] = text;
      const clock = `${((nowMs() - clockStartedMs) / 1000).toFixed(1)} s  `.padStart(CLOCK_WIDTH);
      const head = paint('dim', clock) + paint(COLOURS[deed], label.padEnd(LABEL_WIDTH));
      write([head + first, ...rest.map((line) => indent + line)]);
    },
    adds: (...lines) => write(fitted(lines, textFrom).map((line) => paint('dim', indent + line))),
    says(text, heading = '') {
      const [first = '', ...rest] = fitted(text.split('\n'), heading.length);
      write([paint('bold', heading) + first, ...rest.map((line) => ' '.repeat(heading.length) + line)]);
    },
  };
}

function wrapped(line: string, room: number): string[] {
  const lines: string[] = [];
  for (const word of line.split(' ')) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= room)
      lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}
