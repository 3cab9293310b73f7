import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const RECEIVER = fileURLToPath(new URL('../../examples/receiver.mjs', import.meta.url));
const CLOCK = new URL('./clock.ts', import.meta.url).href;

/** `examples/receiver.mjs` in a process of its own. */
export interface Receiver {
  readonly url: string;
  /** Sets its clock, as far ahead of this machine's; resolves when it goes by that. */
  moveClock(aheadMs: number): Promise<void>;
  stop(): Promise<void>;
}

/** Starts the receiver on any free port; rejects when it ends before it listens. `site`: the folder it works in. */
export async function startReceiver(parts: {
  site: string;
  secret: string;
  docketUrl: string;
  maxBytes?: number;
}): Promise<Receiver> {
  const child = fork(RECEIVER, {
    env: {
      PATH: process.env.PATH,
      SITE: parts.site,
      PORT: '0',
      DOCKET_URL: parts.docketUrl,
      DOCKET_WEBHOOK_SECRET: parts.secret,
      ...(parts.maxBytes && { MAX_BYTES: String(parts.maxBytes) }),
    },
    execArgv: ['--import', CLOCK],
    // In a group of its own, so that Ctrl-C reaches only us, and we end it in order.
    detached: true,
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  child.on('error', () => {});
  const url = await listening(child);
  return {
    url,
    async moveClock(aheadMs) {
      if (!child.connected) return;
      const moved = once(child, 'message');
      child.send({ aheadMs });
      await moved;
    },
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    },
  };
}

function listening(child: ChildProcess): Promise<string> {
  let printed = '';
  return new Promise((resolve, reject) => {
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      printed += text;
      const url = /Listening on (\S+)\n/.exec(printed)?.[1];
      if (url !== undefined) resolve(url);
    });
    child.once('exit', () => reject(new Error('The receiver ended before it listened.')));
  });
}
