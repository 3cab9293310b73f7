import { createInterface, type Interface } from 'node:readline';
import { Writable } from 'node:stream';

/** Somebody ended it, by Ctrl-C or Ctrl-D. */
export class Interrupted extends Error {
  override name = 'Interrupted';
}

export interface Terminal {
  say(text: string): void;
  /** Returns what is typed, without spaces around it. A secret is not shown. Rejects with `Interrupted`. */
  ask(question: string, options?: { secret?: boolean }): Promise<string>;
  close(): void;
}

/** Returns questions and answers over a terminal, or over streams that behave like one. */
export function createTerminal(input: NodeJS.ReadableStream, output: NodeJS.WritableStream): Terminal {
  let hidden = false;
  // In a terminal, readline echoes itself.
  const shown = new Writable({
    write(part, _encoding, done) {
      if (!hidden) output.write(part);
      done();
    },
  });
  const lines: Interface = createInterface({ input, output: shown, terminal: true, historySize: 0 });
  const ended = Promise.withResolvers<never>();
  ended.promise.catch(() => {});
  for (const event of ['SIGINT', 'close'] as const) lines.on(event, () => ended.reject(new Interrupted()));
  return {
    say: (text) => void output.write(`${text}\n`),
    async ask(question, { secret = false } = {}) {
      const answer = new Promise<string>((resolve) => lines.question(`${question}: `, resolve));
      hidden = secret;
      try {
        return (await Promise.race([answer, ended.promise])).trim();
      } finally {
        hidden = false;
        if (secret) output.write('\n');
      }
    },
    close: () => lines.close(),
  };
}
