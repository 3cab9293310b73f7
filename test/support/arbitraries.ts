import fc from 'fast-check';

/** What people and platforms may write where we print a line of theirs. */
export const hostileText: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom(
    ...['', ' ', '\n', '\u202E', '\u0000', '<!channel>', '<!here|x>', '<@U123>', '<@U0BEN>', '@here'],
    ...['<!subteam^S0DOCS>', '<!date^1^{ago}|x>', '<https://evil.example|docs>', 'https://evil.example/?a=1'],
    ...['*bold*', '`code`', '```', '&lt;!channel&gt;', '&', '>', '\\', '"', '_x_', '~x~', ':tada:'],
    ...['a\nb', 'a\r\n\r\nb', '\u202Egpj.exe', '\u2066x', '👩‍👩‍👧‍👦', '\uD83D', '\uDE00', 'é'.repeat(400)],
    ...['x'.repeat(10_000), '<!channel>'.repeat(1000), '&'.repeat(10_000), '😀'.repeat(5000), '42%'],
    ...['\u0001'.repeat(512), '"'.repeat(512), '\uD800'.repeat(512), 'docket-link:x', '{"v":1}', '\u2028'],
  ),
  fc.string({ unit: 'binary', maxLength: 200 }),
  fc
    .array(fc.constantFrom('<', '>', '&', '@', '!', '|', 'U', '\n', '\u202E', '😀', '\uD83D', '"', '`'), {
      maxLength: 600,
    })
    .map((parts) => parts.join('')),
);

export const slackId = (prefix: string) =>
  fc.stringMatching(/^[A-Z0-9]{8,10}$/).map((rest) => `${prefix}${rest}`);
export const time = fc.integer({ min: 0, max: Date.UTC(2200, 0) });
export const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });
/** Returns what is there of a record: one that was read from Redis has no undefined fields. */
export const present = <T extends object>(record: T) =>
  Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]: T[K];
  };

/** Slack's own word for an error; `slack/errors.ts` lets nothing else through. */
export const slackCode = fc.stringMatching(/^[a-z0-9_]{1,80}$/);
