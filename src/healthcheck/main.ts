// The image's health check: exits with 0 if the Docket of this environment answers that it is alive, else with 1.
import { healthAddressOf } from '../config/env-file.ts';

/** With an import, Node would also load its own `fetch`: 15 MB. */
const { get } = process.getBuiltinModule('node:http');

const TIME_LIMIT_MS = 4000;

function main(env: NodeJS.ProcessEnv): void {
  const address = `http://${healthAddressOf(env)}/healthz`;
  /** Prints the result, which the engine shows with the container's state, and exits. */
  const end = (result: string, code: number) =>
    process.stdout.write(`${address}: ${result}\n`, () => process.exit(code));
  get(address, { timeout: TIME_LIMIT_MS }, ({ statusCode }) =>
    end(String(statusCode), statusCode === 200 ? 0 : 1),
  )
    .on('timeout', () => end('no answer in time', 1))
    .on('error', ({ message }) => end(message, 1));
}

if (import.meta.main) main(process.env);
