import { createInterface, type Interface } from 'node:readline';
import { Writable } from 'node:stream';

/** Somebody ended it, by Ctrl-C or Ctrl-D. */
export class Interrupted extends Error {
  override name = 'Interrupted';
}

export interface Terminal {
  say(text: string): void;
  /** Returns what is typed from now on, without spaces around it. A secret is not shown. Rejects with `Interrupted`. */
  ask(question: string, options?: { secret?: boolean }): Promise<string>;
  close(): void;
}

/** Returns questions and answers over a terminal, or over streams that behave like one. */
export function createTerminal(input: NodeJS.ReadableStream, output: NodeJS.WritableStream): Terminal {
  // Also while nothing is asked: what is pasted before its question may be a secret.
  let hidden = true;
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
  let hasEnded = false;
  for (const event of ['SIGINT', 'close'] as const)
    lines.on(event, () => {
      hasEnded = true;
      ended.reject(new Interrupted());
    });
  return {
    say: (text) => void output.write(`${text}\n`),
    async ask(question, { secret = false } = {}) {
      if (hasEnded) throw new Interrupted();
      // What was typed before the question is dropped.
      lines.write(null, { ctrl: true, name: 'e' });
      lines.write(null, { ctrl: true, name: 'u' });
      hidden = false;
      const answer = new Promise<string>((resolve) => lines.question(`${question}: `, resolve));
      hidden = secret;
      try {
        return (await Promise.race([answer, ended.promise])).trim();
      } finally {
        hidden = true;
        if (secret) output.write('\n');
      }
    },
    close: () => lines.close(),
  };
}
