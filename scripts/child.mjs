import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { Interrupted, SetupError } from './shell.mjs';

/** Runs a command in our place: with our streams and our signals; then this process ends as the command did. */
export function runInOurPlace(command, args, env) {
  const child = spawn(command, args, { stdio: 'inherit', env });
  const forward = (signal) => {
    // Ctrl-C in a terminal reaches the whole group: passed on, it would count twice.
    if (signal !== 'SIGINT' || !process.stdin.isTTY) child.kill(signal);
  };
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'];
  for (const signal of signals) process.on(signal, forward);

  child.once('error', (error) => {
    const missing = error.code === 'ENOENT';
    process.stderr.write(missing ? `There is no command "${command}".\n` : `${command}: ${error.message}\n`);
    process.exit(missing ? 127 : 126);
  });
  child.once('exit', (code, signal) => {
    for (const name of signals) process.off(name, forward);
    if (signal === null) process.exit(code);
    endBySignal(signal);
  });
}

/** Ends this process by a signal, as a shell expects; when the signal is ignored, with the matching code. */
function endBySignal(signal) {
  process.kill(process.pid, signal);
  setTimeout(() => process.exit(128 + constants.signals[signal]), 500);
}

/** Ends this process after a setup that failed: by the signal that interrupted it, or with its problem. */
export function endWithProblem(error) {
  if (error instanceof Interrupted) endBySignal(error.signal);
  else if (!(error instanceof SetupError)) throw error;
  else {
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 1;
  }
}
