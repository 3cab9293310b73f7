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
if (process.env.TEST_KILL_BEFORE) killBefore(process.env.TEST_KILL_BEFORE);
if (process.env.TEST_LOSE_WRITE) loseFirstWrite();
if (process.env.TEST_FREEZE_BEFORE_WRITE)
  freezeBeforeFirstWrite(Number(process.env.TEST_FREEZE_BEFORE_WRITE));
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
  Redis.prototype.sendCommand = function (this: Redis, command, ...rest) {
    // INFO is the watch over Redis, and HELLO a connection that begins: both come at any time.
    if (this.options.commandTimeout === undefined || ['info', 'hello'].includes(command.name))
      return send.call(this, command, ...rest);
    count += 1;
    const now = count === Number(at);
    if (now && phase === 'before') process.kill(process.pid, 'SIGKILL');
    const answer = send.call(this, command, ...rest);
    const answered = (error?: Error) => {
      // The same script follows whole.
      if (error?.message.startsWith('NOSCRIPT')) count -= 1;
      else if (now) process.kill(process.pid, 'SIGKILL');
    };
    void Promise.resolve(answer).then(() => answered(), answered);
    return answer;
  };
}

/** Dies as by `kill -9` before the first command to Redis that has this text in it is sent. */
function killBefore(text: string) {
  const send = Redis.prototype.sendCommand;
  Redis.prototype.sendCommand = function (this: Redis, command, ...rest) {
    if (String(command.args).includes(text)) process.kill(process.pid, 'SIGKILL');
    return send.call(this, command, ...rest);
  };
}

/** The first run that a request writes is written, but the answer never comes. */
function loseFirstWrite() {
  const send = Redis.prototype.sendCommand;
  let lost = false;
  Redis.prototype.sendCommand = function (this: Redis, command, ...rest) {
    const answer = send.call(this, command, ...rest);
    const isWrite =
      this.options.commandTimeout !== undefined && String(command.args).includes('{docket}:runs:active');
    if (!isWrite || lost) return answer;
    return Promise.resolve(answer).then(() => {
      lost = true;
      return new Promise(() => {});
    });
  };
}

/** Redis freezes between the answer to `TIME` and the write of the first run that a request writes. */
function freezeBeforeFirstWrite(redisPid: number) {
  const send = Redis.prototype.sendCommand;
  let frozen = false;
  Redis.prototype.sendCommand = function (this: Redis, command, ...rest) {
    const isWrite =
      this.options.commandTimeout !== undefined && String(command.args).includes('{docket}:runs:active');
    if (isWrite && !frozen) {
      frozen = true;
      process.kill(redisPid, 'SIGSTOP');
    }
    return send.call(this, command, ...rest);
  };
}
