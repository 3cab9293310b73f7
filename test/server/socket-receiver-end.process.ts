import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { describe, expect, test } from 'vitest';
import { createStandInSlack } from '../../demo/slack/slack.ts';
import { clientOf } from '../../demo/test-support/bot.ts';
import { apiThatNames, connected, listening, quick } from '../support/server/socket.ts';

describe('the end', () => {
  test('waits for what is in work and takes nothing new', async () => {
    const finish = Promise.withResolvers<void>();
    let taken = 0;
    const { slack, ana, receiver } = await connected(async ({ ack }) => {
      taken += 1;
      await finish.promise;
      await ack();
    });
    const first = ana.types('#docs', '/docs-export');
    await expect.poll(() => taken).toBe(1);
    const stopped = receiver.stop();
    const second = ana.types('#docs', '/docs-export');
    await slack.until(() => slack.sockets.envelopes.length === 2);
    await clientOf(slack).auth.test();
    finish.resolve();
    expect(await first).toMatchObject({ ok: true });
    expect(await second).toMatchObject({ failed: 'dispatch_failed' });
    await stopped;
    expect(taken).toBe(1);
    await slack.until(() => slack.sockets.open === 0);
  });

  test('does not wait longer than 2 s for what never finishes', async () => {
    const working = Promise.withResolvers<void>();
    const { ana, receiver } = await connected(() => {
      working.resolve();
      return new Promise(() => {});
    });
    void ana.types('#docs', '/docs-export');
    await working.promise;
    const startMs = performance.now();
    await receiver.stop();
    expect(performance.now() - startMs).toBeLessThan(2000);
  });

  // In processes of their own, which end only when no timer and no socket is left.
  test.concurrent.for(['connected', 'renewing', 'no answer', 'no WebSocket', 'no hello', 'refused'])(
    'leaves nothing behind: %s',
    { timeout: 30_000 },
    async (moment, { expect, onTestFinished }) => {
      const slack = createStandInSlack({ transport: 'socket' });
      onTestFinished((await slack.listen()).close);
      let apiUrl = slack.apiUrl;
      if (moment === 'no answer')
        slack.wire.order('apps.connections.open', { kind: 'hang', when: 'before' }, 100);
      if (moment === 'refused')
        slack.wire.order('apps.connections.open', { kind: 'answer', status: 500 }, 100);
      if (moment === 'no hello') slack.sockets.order('no hello', 100);
      if (moment === 'no WebSocket') {
        const deaf = await listening(
          createServer().on('upgrade', () => {}),
          onTestFinished,
        );
        apiUrl = await apiThatNames(() => `${deaf.replace('http', 'ws')}/`, onTestFinished);
      }
      const source = `
        import { createLog } from './src/runtime/log.ts';
        import { createSocketReceiver } from './src/server/socket-receiver.ts';
        const timing = ${JSON.stringify({ ...quick, socketHelloMs: 60_000, slackCallMs: 60_000 })};
        const log = createLog('info', []);
        const random = () => 0.5;
        const receiver = createSocketReceiver({ appToken: 'xapp-stand-in-app-token', apiUrl: '${apiUrl}', timing, random, log });
        receiver.init({ use() {}, processEvent: ({ ack }) => ack() });
        await receiver.start();
        console.log('started');
        process.stdin.once('data', async () => {
          process.stdin.destroy();
          const startMs = performance.now();
          await receiver.stop();
          console.log('stopped', Math.round(performance.now() - startMs));
        });
      `;
      const child = spawn(process.execPath, ['--input-type=module', '--eval', source], {
        cwd: new URL('../..', import.meta.url).pathname,
      });
      onTestFinished(() => void child.kill('SIGKILL'));
      let output = '';
      for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
      await expect.poll(() => output, { timeout: 20_000 }).toContain('started');
      if (moment === 'renewing') slack.sockets.disconnect('warning');
      child.stdin.write('stop\n');
      await expect.poll(() => output, { timeout: 20_000 }).toContain('stopped');
      const exited = once(child, 'exit');
      if (child.exitCode === null) await exited;
      expect(child.exitCode).toBe(0);
      expect(Number(/stopped (\d+)/.exec(output)?.[1])).toBeLessThan(2000);
    },
  );
});
