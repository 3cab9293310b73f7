import { expect, test } from 'vitest';
import { until } from '../support/flows/reading.ts';
import { createWorld, type WorldOptions } from '../support/flows/world.ts';

interface Line {
  msg: string;
  ref?: string;
  run?: string;
  operation?: string;
}

const linesOf = (output: string): Line[] =>
  output.split('\n').flatMap((line) => (line.startsWith('{') ? [JSON.parse(line) as Line] : []));

/** Two processes: one takes requests, the other works. */
async function worldOfTwo(transport: WorldOptions['transport'] = 'http') {
  const world = await createWorld({ transport });
  const web = await world.startBot({ env: { DOCKET_ROLE: 'web' } });
  const worker = await world.startBot({ env: { DOCKET_ROLE: 'worker', HEALTH_PORT: '0' } });
  if (transport === 'socket') await world.slack.until(() => world.slack.sockets.open === 2);
  return { world, web, worker };
}

test.each(['http', 'socket'] as const)(
  'all lines of a request carry one reference, and so does the work that follows, in another process: %s',
  async (transport) => {
    const { world, web, worker } = await worldOfTwo(transport);
    world.slack.wire.order('chat.postMessage', { kind: 'answer', status: 503 });
    await world.slack.person('ana').types('#docs', '/docs-export docs.acme.com');
    await until(world, '#docs', ['42%']);
    world.platform.finish('docs.acme.com');
    await until(world, '#docs', [', took']);

    const accepted = linesOf(web.output()).filter(({ msg }) => msg === 'request');
    expect(accepted).toHaveLength(1);
    const [{ ref, run } = {}] = accepted;
    expect(ref).toMatch(/^[0-9a-f]{6}$/);
    const followed = linesOf(worker.output()).filter((line) => line.ref === ref);
    expect(new Set(followed.map((line) => line.operation).filter(Boolean))).toEqual(
      new Set(['startExport', 'getExport', 'createBundle']),
    );
    const states = followed.filter(({ msg }) => msg === 'a run has a new state');
    expect(states.length).toBeGreaterThan(1);
    expect(states.map((line) => line.run)).toEqual(states.map(() => run));
    // What the outbox says of the post that Slack did not take.
    expect(followed.map(({ msg }) => msg)).toContain('Slack call failed');

    await world.slack.person('ana').types('#docs', '/docs-export help');
    const refs = () => linesOf(web.output()).flatMap((line) => (line.msg === 'request' ? [line.ref] : []));
    await expect.poll(() => new Set(refs()).size).toBe(2);
    await world.close();
  },
);
