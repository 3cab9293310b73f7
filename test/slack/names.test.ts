import { beforeEach, describe, expect, test } from 'vitest';
import { SlackApiError, type SlackErrorKind } from '../../src/slack/errors.ts';
import { createNames, type NamesParts, NamesUnknown } from '../../src/slack/lookups.ts';
import type { Mentions } from '../../src/slack/markdown/inline.ts';

let asked: string[];
let nowMs: number;
beforeEach(() => {
  asked = [];
  nowMs = 0;
});

const refuses = (kind: SlackErrorKind) => async () => {
  throw new SlackApiError(kind, 'users.info', 'some_code');
};
const names = (changes: Partial<NamesParts> = {}) =>
  createNames({
    person: async (id) => {
      asked.push(id);
      return { name: id.toLowerCase() };
    },
    channelName: async (id) => {
      asked.push(id);
      return 'docs';
    },
    groups: async () => {
      asked.push('groups');
      return [{ id: 'S0DOCS', handle: 'docs-admins' }];
    },
    timeoutMs: 1000,
    cacheMs: 5000,
    now: () => nowMs,
    ...changes,
  });
const mentions = (some: Partial<Mentions> = {}): Mentions => ({
  users: [],
  channels: [],
  groups: [],
  everybody: false,
  ...some,
});
const all = mentions({ users: ['U0ANA', 'U0BEN'], channels: ['C0DOCS'], groups: ['S0DOCS', 'S0NONE'] });

test('everybody and everything that is mentioned, by id', async () => {
  expect(await names()(all)).toEqual({
    users: new Map([
      ['U0ANA', 'u0ana'],
      ['U0BEN', 'u0ben'],
    ]),
    channels: new Map([['C0DOCS', 'docs']]),
    groups: new Map([['S0DOCS', 'docs-admins']]),
  });
});

test('of very many who are mentioned only the first are looked up', async () => {
  const users = Array.from({ length: 600 }, (_, n) => `U0${n}`);
  const known = await names()(mentions({ users, channels: ['C0DOCS'] }));
  expect(asked).toEqual([...users.slice(0, 20), 'C0DOCS']);
  expect([known.users.get('U019'), known.users.get('U020')]).toEqual(['u019', undefined]);
});

test('Slack is asked for nothing that is not mentioned', async () => {
  await names()(mentions({ everybody: true }));
  await names()(mentions({ users: ['U0ANA'] }));
  expect(asked).toEqual(['U0ANA']);
});

test('names are believed for a while', async () => {
  const look = names();
  await look(all);
  nowMs = 4999;
  await look(all);
  expect(asked).toEqual(['U0ANA', 'U0BEN', 'C0DOCS', 'groups']);
  nowMs = 5000;
  await look(mentions({ users: ['U0BEN'] }));
  expect(asked).toEqual(['U0ANA', 'U0BEN', 'C0DOCS', 'groups', 'U0BEN']);
});

test('everything is asked for at once', async () => {
  let waiting = 0;
  const together = Promise.withResolvers<void>();
  const meet = async () => {
    waiting += 1;
    if (waiting === 4) together.resolve();
    await together.promise;
  };
  const look = names({
    person: async () => meet().then(() => ({ name: 'ana' })),
    channelName: async () => meet().then(() => 'docs'),
    groups: async () => meet().then(() => []),
  });
  await look(all);
  expect(waiting).toBe(4);
});

describe.each<keyof Pick<NamesParts, 'person' | 'channelName' | 'groups'>>([
  'person',
  'channelName',
  'groups',
])('what %s does not tell', (part) => {
  const map = { person: 'users', channelName: 'channels', groups: 'groups' } as const;

  test.each<SlackErrorKind>(['place', 'missing', 'refused', 'blocks'])(
    'for good (%s) is missing, and not asked for again soon',
    async (kind) => {
      let times = 0;
      const count = () => {
        times += 1;
        return refuses(kind)();
      };
      const look = names({ [part]: count });
      const some = mentions({ users: ['U0ANA'], channels: ['C0DOCS'], groups: ['S0DOCS'] });
      await look(some);
      const found = await look(some);
      expect(found[map[part]]).toEqual(new Map());
      expect(
        Object.values(found)
          .map((known) => known.size)
          .toSorted(),
      ).toEqual([0, 1, 1]);
      expect(times).toBe(1);
    },
  );

  test.each<SlackErrorKind>(['limited', 'unreachable', 'unclear', 'token'])(
    'just now (%s) is asked for again',
    async (kind) => {
      let broken = true;
      const told = {
        person: async () => ({ name: 'ana' }),
        channelName: async () => 'docs',
        groups: async () => [],
      };
      const look = names({ ...told, [part]: () => (broken ? refuses(kind)() : told[part]()) });
      await expect(look(all)).rejects.toBeInstanceOf(NamesUnknown);
      broken = false;
      await expect(look(all)).resolves.toBeDefined();
    },
  );
});

test('what takes too long is not waited for', async () => {
  const look = names({ person: () => new Promise(() => {}), timeoutMs: 10 });
  await expect(look(all)).rejects.toBeInstanceOf(NamesUnknown);
});
