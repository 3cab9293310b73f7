import { styleText } from 'node:util';

/** Kinds of events that the demo prints. */
export type EventKind = 'types' | 'clicks' | 'posts' | 'edits' | 'private' | 'trouble';

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
const THREAD_INDENT = 2;
/** Emoji are wider than they count, and a line that fills the last column wraps once more in some terminals. */
const MARGIN = 3;
/** A narrower terminal wraps by itself, which reads better than a column of single words. */
const NARROWEST_TEXT = 30;

/** A terminal that does not tell its width. */
const USUAL_WIDTH = 100;

export interface Screen {
  /** How many characters a line of an event has room for, in a thread as well. */
  readonly room: number;
  /** Sets the time of events to 0. */
  startClock(): void;
  /** Prints an event: when, who did it, and its lines, indented in a thread. */
  printEvent(kind: EventKind, label: string, lines: string[], inThread?: boolean): void;
  /** Prints further lines of the last event. */
  printMore(...lines: string[]): void;
  /** Prints lines on their own, after a heading that stands out. */
  print(text: string, heading?: string): void;
}

/** Returns a screen that prints lines, wrapped to the terminal's width, and in colour when `out` has colours. */
export function createScreen(out: NodeJS.WriteStream, nowMs: () => number): Screen {
  let clockStartedMs = nowMs();
  const paint = (format: Parameters<typeof styleText>[0], text: string) =>
    styleText(format, text, { stream: out });

  function write(lines: string[]): void {
    out.write(lines.map((line) => `${line.trimEnd()}\n`).join(''));
  }

  /** Returns the lines wrapped to fit after an indent. Only terminals have columns, and not all report them. */
  function fitted(lines: string[], indent: number): string[] {
    const room = (out.columns || Number.POSITIVE_INFINITY) - indent - MARGIN;
    return room < NARROWEST_TEXT ? lines : lines.flatMap((line) => wrapped(line, room));
  }

  const textFrom = CLOCK_WIDTH + LABEL_WIDTH;
  const indent = ' '.repeat(textFrom);
  return {
    room: (out.columns || USUAL_WIDTH) - textFrom - THREAD_INDENT - MARGIN,
    startClock() {
      clockStartedMs = nowMs();
    },
    printEvent(kind, label, lines, inThread = false) {
      const text = inThread
        ? fitted(lines, textFrom + THREAD_INDENT).map((line, index) =>
            index === 0 ? `└ ${line}` : `  ${line}`,
          )
        : fitted(lines, textFrom);
      const [first = '', ...rest] = text;
      const clock = `${((nowMs() - clockStartedMs) / 1000).toFixed(1)} s  `.padStart(CLOCK_WIDTH);
      const head = paint('dim', clock) + paint(COLOURS[kind], label.padEnd(LABEL_WIDTH));
      write([head + first, ...rest.map((line) => indent + line)]);
    },
    printMore: (...lines) => write(fitted(lines, textFrom).map((line) => paint('dim', indent + line))),
    print(text, heading = '') {
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
