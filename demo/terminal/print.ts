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
  tells(deed: Deed, label: string, lines: string[], place?: { inThread: boolean }): void;
  /** Lines that belong to what was told last. */
  adds(...lines: string[]): void;
  /** A line on its own; a heading before it stands out. */
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

  function fitted(line: string, before: number): string[] {
    const room = out.isTTY ? out.columns - before - MARGIN : Number.POSITIVE_INFINITY;
    return room < NARROWEST_TEXT ? [line] : wrapped(line, room);
  }

  function column(lines: string[], before: number): string[] {
    return lines.flatMap((line) => fitted(line, before)).map((line) => ' '.repeat(before) + line);
  }

  const textFrom = CLOCK_WIDTH + LABEL_WIDTH;
  return {
    startClock() {
      clockStartedMs = nowMs();
    },
    tells(deed, label, lines, place = { inThread: false }) {
      const indented = column(lines, textFrom + (place.inThread ? 2 : 0)).map((line) => line.slice(textFrom));
      if (place.inThread) indented[0] = `└ ${indented[0]?.slice(2)}`;
      const clock = `${((nowMs() - clockStartedMs) / 1000).toFixed(1)} s  `.padStart(CLOCK_WIDTH);
      const [first = '', ...rest] = indented;
      const head = paint('dim', clock) + paint(COLOURS[deed], label.padEnd(LABEL_WIDTH)) + first;
      write([head, ...rest.map((line) => ' '.repeat(textFrom) + line)]);
    },
    adds: (...lines) => write(column(lines, textFrom).map((line) => paint('dim', line))),
    says(text, heading = '') {
      const [first = '', ...rest] = column(text.split('\n'), heading.length);
      write([paint('bold', heading) + first.slice(heading.length), ...rest]);
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
