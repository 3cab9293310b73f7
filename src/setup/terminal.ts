import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';

/** The person pressed Ctrl-C or Ctrl-D. */
export class Interrupted extends Error {
  override name = 'Interrupted';
}

export type Terminal = ReturnType<typeof createTerminal>;

/** Asks questions over this process' terminal. */
export function createTerminal() {
  const { stdin: input, stdout } = process;
  // Also between questions: text pasted before its question may be a secret.
  let hidden = true;
  const output = new Writable({
    write(part, _encoding, done) {
      if (!hidden) stdout.write(part);
      done();
    },
  });
  const lines = createInterface({ input, output, terminal: true, historySize: 0 });
  return {
    say: (text: string) => void stdout.write(`${text}\n`),
    /** Returns the typed text, trimmed. A secret is not shown. Rejects with `Interrupted`. */
    async ask(question: string, isSecret: boolean): Promise<string> {
      hidden = false;
      const answer = lines.question(`${question}: `).catch(() => {
        throw new Interrupted();
      });
      hidden = isSecret;
      try {
        return (await answer).trim();
      } finally {
        hidden = true;
        if (isSecret) stdout.write('\n');
      }
    },
    close: () => lines.close(),
  };
}
