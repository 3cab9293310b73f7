import { flushCompileCache } from 'node:module';
import { Redis } from 'ioredis';
import { main } from '../../../src/app.ts';
import type { Timing } from '../../../src/runtime/timing.ts';

/** The bot as a process of its own, with the durations that the test passes as JSON, and the time of its world. */
// As `.env` is read: when Node runs already.
Object.assign(process.env, JSON.parse(process.env.TEST_DOT_ENV ?? '{}'));
const timing: Partial<Timing> = JSON.parse(process.env.TEST_TIMING ?? '{}');
const aheadMs = Number(process.env.TEST_AHEAD_MS ?? Number.NaN);
const now = Number.isNaN(aheadMs) ? undefined : () => Date.now() + aheadMs;
await main(process.env, { timing, ...(now && { now }) });
if (process.env.TEST_KILL_AT) killAtCommand(process.env.TEST_KILL_AT);
const { TEST_KILL_BEFORE, TEST_FREEZE_BEFORE_WRITE } = process.env;
if (TEST_KILL_BEFORE)
  atFirst(
    (args) => args.includes(TEST_KILL_BEFORE),
    () => process.kill(process.pid, 'SIGKILL'),
  );
// Redis freezes between the answer to `TIME` and the write of the first run.
if (TEST_FREEZE_BEFORE_WRITE)
  atFirst(isWrite, () => process.kill(Number(TEST_FREEZE_BEFORE_WRITE), 'SIGSTOP'));
// The first run that a request writes is written, but the answer never comes.
if (process.env.TEST_LOSE_WRITE) atFirst(isWrite, () => {}, true);
// A process that is killed writes none of it.
flushCompileCache();

/**
 * Dies as by `kill -9` at the nth command that requests send to Redis from here on: `2 before` it is sent or
 * `2 after` it was answered. Only the connection for requests has a time limit for commands.
 */
function killAtCommand(moment: string) {
  const [at, phase] = moment.split(' ');
  const send = Redis.prototype.sendCommand;
  let count = 0;
  /** Redis did not know the script of the nth command. */
  let isUnknown = false;
  Redis.prototype.sendCommand = function (this: Redis, command, ...rest) {
    // INFO is the watch over Redis, and HELLO a connection that begins: both come at any time, as does a check.
    const { commandTimeout, lazyConnect } = this.options;
    if (commandTimeout === undefined || lazyConnect || ['info', 'hello'].includes(command.name))
      return send.call(this, command, ...rest);
    // A script that Redis does not know yet follows whole: both are one command.
    const isWhole = command.name === 'eval';
    if (!isWhole) count += 1;
    const now = isWhole ? isUnknown : count === Number(at);
    if (isWhole) isUnknown = false;
    if (now && phase === 'before') process.kill(process.pid, 'SIGKILL');
    const answer = send.call(this, command, ...rest);
    const answered = (error?: Error) => {
      if (error?.message.startsWith('NOSCRIPT')) isUnknown = now;
      else if (now) process.kill(process.pid, 'SIGKILL');
    };
    void Promise.resolve(answer).then(() => answered(), answered);
    return answer;
  };
}

/**
 * Whether a command writes a run, and comes from a request: only their connection has a time limit for commands. A write is
 * a script, so a key is not its first argument; a check may read the list at any time.
 */
function isWrite(args: string, redis: Redis) {
  const isScript = !args.startsWith('{docket}');
  return redis.options.commandTimeout !== undefined && isScript && args.includes('{docket}:runs:active');
}

/** Acts before the first such command is sent; with `isLost`, none of them is answered until one was done. */
function atFirst(isIt: (args: string, redis: Redis) => boolean, act: () => unknown, isLost = false) {
  const send = Redis.prototype.sendCommand;
  let isOver = false;
  Redis.prototype.sendCommand = function (this: Redis, command, ...rest) {
    if (isOver || !isIt(String(command.args), this)) return send.call(this, command, ...rest);
    act();
    isOver = !isLost;
    const answer = send.call(this, command, ...rest);
    if (!isLost) return answer;
    return Promise.resolve(answer).then(() => {
      isOver = true;
      return new Promise(() => {});
    });
  };
}
